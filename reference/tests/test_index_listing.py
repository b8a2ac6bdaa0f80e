"""What a dataset says of its indices."""

from __future__ import annotations

import importlib
import uuid

import pyarrow as pa
import pylanceref
import pytest
from lanceref.proto import table_pb2
from lanceref.transactions.manifest_builder import Staged
from pylanceref.errors import IndexMissing
from pylanceref.index_listing import IndexInformation, describe_index

TABLE = pa.table({"i": pa.array([5, 3, None, 3, 9], pa.int32()), "s": list("abcab")})


@pytest.fixture
def dataset(tmp_path):
    """A table with two indices and rows that they do not cover."""
    written = pylanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=3)
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

    with pytest.warns(DeprecationWarning):
        listed = dataset.list_indices()
        assert plain(listed) == plain(theirs.list_indices())
    described = importlib.import_module("lance.dataset").IndexInformation
    assert set(IndexInformation.__annotations__) == set(described.__annotations__)
    assert set(IndexInformation.__annotations__) == set(listed[0])
    dataset.create_scalar_index("i", "ZONEMAP", name="z")
    dataset.create_scalar_index("i", "BLOOMFILTER", name="b")
    theirs = lance.dataset(str(dataset.uri))
    for name in ("i_idx", "s_idx", "z", "b"):
        assert dataset.index_statistics(name) == theirs.stats.index_stats(name)
    for own, other in zip(dataset.describe_indices(), theirs.describe_indices(), strict=True):
        for attribute in ("name", "type_url", "index_type", "num_rows_indexed", "fields"):
            assert getattr(own, attribute) == getattr(other, attribute)
        assert own.total_size_bytes == other.total_size_bytes


def test_types_and_versions_that_are_not_known_are_passed_over(tmp_path):
    """They are not shown, asked or brought up to date; they stay until they are dropped."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1, 2]}), tmp_path / "t")
    dataset.create_scalar_index("i", "BTREE")
    for change in ({"index_details": {"type_url": "/com.acme.Other"}}, {"index_version": 9}):
        entry = table_pb2.IndexMetadata(**change, name="other", fields=[0])
        entry.uuid.uuid = uuid.uuid4().bytes
        entry.fragment_bitmap = dataset._snapshot.manifest.indices[0].fragment_bitmap
        if not entry.index_details.type_url:
            entry.index_details.type_url = "/lance.table.BTreeIndexDetails"
        transaction = dataset._new_transaction()
        transaction.create_index.new_indices.append(entry)
        dataset._commit(Staged(transaction))
    assert [one["name"] for one in dataset.list_indices()] == ["i_idx"]
    assert [one.name for one in dataset.describe_indices()] == ["i_idx"]
    with pytest.raises(IndexMissing):
        dataset.index_statistics("other")
    dataset.insert(pa.table({"i": [3]}))
    dataset.optimize.optimize_indices()
    dataset.optimize.compact_files()
    names = [one.name for one in dataset._snapshot.manifest.indices]
    assert sorted(names) == ["i_idx", "other", "other"]
    assert dataset.to_table(filter="i = 3").num_rows == 1
    dataset.drop_index("other")
    assert [one.name for one in dataset._snapshot.manifest.indices] == ["i_idx"]


def test_an_early_index_of_vectors_is_known_by_its_file(tmp_path):
    """Its entry has no details, and lists the file."""
    dataset = pylanceref.write_dataset(pa.table({"i": [1, 2]}), tmp_path / "t")
    for name, path in (("v", "index.idx"), ("w", "other")):
        entry = table_pb2.IndexMetadata(name=name, fields=[0])
        entry.uuid.uuid = uuid.uuid4().bytes
        entry.files.add(path=path, size_bytes=0)
        transaction = dataset._new_transaction()
        transaction.create_index.new_indices.append(entry)
        dataset._commit(Staged(transaction))
    shown = {one.name: one.index_type for one in dataset.describe_indices()}
    assert {"v": "Vector", "w": "Unknown"} == shown


def test_rows_that_several_segments_cover_are_counted_for_each(tmp_path):
    """As pylance counts them: such segments are of early releases."""
    made = pylanceref.write_dataset(pa.table({"a": range(6)}), tmp_path / "t", max_rows_per_file=3)
    made.create_scalar_index("a", "BTREE")
    (entry,) = made._snapshot.manifest.indices
    (described,) = [describe_index(made, "a_idx", [entry, entry])]
    assert described.num_rows_indexed == 12
