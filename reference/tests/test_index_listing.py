"""What a dataset says of its indices."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pytest
from lanceref.errors import IndexMissing

TABLE = pa.table({"i": pa.array([5, 3, None, 3, 9], pa.int32()), "s": list("abcab")})


@pytest.fixture
def dataset(tmp_path):
    """A table with two indices and rows that they do not cover."""
    written = lanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=3)
    written.create_scalar_index("i", "BTREE")
    written.create_scalar_index("s", "BITMAP")
    written.insert(TABLE.slice(0, 2))
    return written


def test_statistics_count_rows(dataset):
    """Those that are covered and the others."""
    found = dataset.index_statistics("i_idx")
    assert found["indices"] == [{"min": "NULL", "max": "9", "num_pages": 1}]
    assert (found["num_indexed_rows"], found["num_unindexed_rows"]) == (5, 2)
    with pytest.raises(IndexMissing):
        dataset.index_statistics("zz")


def test_descriptions_are_by_name(dataset):
    """With sizes of the files."""
    described = dataset.describe_indices()
    assert [one.name for one in described] == ["i_idx", "s_idx"]
    assert described[0].field_names == ["i"]
    assert described[0].num_rows_indexed == 5
    assert described[0].total_size_bytes == described[0].segments[0].size_bytes > 0


@pytest.mark.oracle
def test_the_oracle_says_the_same(dataset):
    """Lists, statistics and descriptions."""
    import lance

    theirs = lance.dataset(str(dataset.uri))

    def plain(listed):
        return [{**one, "fragment_ids": sorted(one["fragment_ids"])} for one in listed]

    assert plain(dataset.list_indices()) == plain(theirs.list_indices())
    dataset.create_scalar_index("i", "ZONEMAP", name="z")
    dataset.create_scalar_index("i", "BLOOMFILTER", name="b")
    theirs = lance.dataset(str(dataset.uri))
    for name in ("i_idx", "s_idx", "z", "b"):
        assert dataset.index_statistics(name) == theirs.stats.index_stats(name)
    for own, other in zip(dataset.describe_indices(), theirs.describe_indices(), strict=True):
        for attribute in ("name", "type_url", "index_type", "num_rows_indexed", "fields"):
            assert getattr(own, attribute) == getattr(other, attribute)
        assert own.total_size_bytes == other.total_size_bytes
