"""Indices of a dataset, made and dropped."""

from __future__ import annotations

import sys

import lanceref
import pyarrow as pa
import pytest
from lanceref.errors import IndexNotFound, IndexRefused

TABLE = pa.table({"i": range(100), "s": [f"{n}" for n in range(100)]})


@pytest.fixture
def dataset(tmp_path):
    """A table of four fragments."""
    return lanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=25)


def names(dataset) -> list[tuple[str, str]]:
    """Return name and type of every segment."""
    return [(one["name"], one["type"]) for one in dataset.list_indices()]


def test_names_are_those_of_the_column(dataset):
    """A second type gets a number, the same type takes the place of the first."""
    for kind in ("BTREE", "BITMAP", "BTREE"):
        dataset.create_scalar_index("i", kind)
    assert sorted(names(dataset)) == [("i_idx", "BTree"), ("i_idx_2", "Bitmap")]
    assert dataset.has_index


def test_taken_names(dataset):
    """Replaced, unless the caller says not to or the column is another."""
    dataset.create_scalar_index("i", "BTREE", name="x")
    first = dataset.list_indices()[0]["uuid"]
    dataset.create_scalar_index("i", "BTREE", name="x")
    assert dataset.list_indices()[0]["uuid"] != first
    with pytest.raises(IndexRefused):
        dataset.create_scalar_index("i", "BTREE", name="x", replace=False)
    with pytest.raises(IndexRefused):
        dataset.create_scalar_index("s", "BTREE", name="x")


def test_dropped_and_unknown_ones(dataset):
    """The index is gone from the next version on."""
    dataset.create_scalar_index("i", "BTREE")
    dataset.prewarm_index("i_idx")
    dataset.drop_index("i_idx")
    assert names(dataset) == []
    for call in (dataset.drop_index, dataset.prewarm_index):
        with pytest.raises(IndexNotFound):
            call("i_idx")


def test_segments_are_built_apart_and_committed_together(dataset):
    """Two of them merged, one as it is; coverage must not overlap."""
    parts = [
        dataset.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[n]) for n in range(3)
    ]
    assert names(dataset) == []
    merged = dataset.merge_existing_index_segments(parts[:2])
    assert set(merged.fragment_ids) == {0, 1}
    with pytest.raises(IndexRefused):
        dataset.commit_existing_index_segments("x", "i", [merged, parts[0]])
    dataset.commit_existing_index_segments("x", "i", [merged, parts[2]])
    assert names(dataset) == [("x", "BTree")] * 2
    assert dataset.to_table(filter="i in (3, 30, 60, 99)")["i"].to_pylist() == [3, 30, 60, 99]
    with pytest.raises(ValueError, match="fragment_ids"):
        dataset.create_index_uncommitted("i", "BTREE")


@pytest.mark.oracle
def test_the_oracle_commits_and_merges_our_segments(dataset):
    """And we commit the oracle's."""
    import lance

    theirs_of = sys.modules["lance.dataset"]  # a function hides it
    part = dataset.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[0, 1])
    theirs = lance.dataset(str(dataset.uri))
    own = theirs.create_index_uncommitted("i", "BTREE", name="x", fragment_ids=[2, 3])
    given = {name: getattr(part, name) for name in ("uuid", "name", "fields", "dataset_version")}
    other = theirs_of.Index(
        **given,
        fragment_ids={0, 1},
        index_version=part.index_version,
        created_at=part.created_at,
        files=[theirs_of.IndexFile(one.path, one.size_bytes) for one in part.files],
        index_details=part.index_details,
    )
    merged = theirs.merge_existing_index_segments([other, own])
    theirs.commit_existing_index_segments("x", "i", [merged])
    opened = lanceref.dataset(dataset.uri)
    assert opened.to_table(filter="i in (3, 99)")["i"].to_pylist() == [3, 99]


def test_segments_over_some_fragments_have_a_call_of_their_own(dataset):
    """But for those of full text, which are not committed either."""
    with pytest.raises(ValueError, match="create_index_uncommitted"):
        dataset.create_scalar_index("i", "BTREE", fragment_ids=[0])
    dataset.create_scalar_index("s", "INVERTED", fragment_ids=[0])
    assert names(dataset) == []
