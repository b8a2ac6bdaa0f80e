"""Segments of a table, built and rewritten."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound, OperationRefused
from lanceref.index.registry import BY_NAME
from lanceref.index.scalar.btree import read_entries
from lanceref.operations.index_build import build_segment, indexed_field, rewrite_segments

TABLE = pa.table({"i": range(10), "l": [[1]] * 10})


@pytest.fixture
def dataset(tmp_path):
    """A table of two fragments."""
    return pylanceref.write_dataset(TABLE, tmp_path / "t", max_rows_per_file=5)


def test_an_entry_says_what_was_built(dataset):
    """Fields, version, coverage, details, files."""
    snapshot = dataset._snapshot
    entry = build_segment(snapshot, BY_NAME["BTREE"], "I", {}, snapshot.fragments[1:], "x")
    assert (list(entry.fields), entry.name, entry.dataset_version) == ([0], "x", 1)
    assert entry.index_details.type_url == "/lance.table.BTreeIndexDetails"
    assert [file.path for file in entry.files] == ["page_data.lance", "page_lookup.lance"]
    (segment,) = snapshot.indices.of([entry]).segments
    assert list(segment.covers) == [1]
    assert read_entries(segment)[1].tolist() == [1 << 32 | n for n in range(5)]


def test_unknown_columns_and_types_are_refused(dataset):
    """Before anything is written."""
    snapshot = dataset._snapshot
    with pytest.raises(NotFound):
        indexed_field(snapshot.manifest.schema, "zz")
    with pytest.raises(OperationRefused):
        build_segment(snapshot, BY_NAME["BTREE"], "l", {}, snapshot.fragments, "x")
    assert not (snapshot.store.exists("_indices"))


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
def test_segments_become_one(dataset, kind):
    """Rows of both and of new fragments; those of fragments that are gone are left out."""
    dataset.create_scalar_index("i", kind)
    dataset.insert(TABLE.slice(0, 3))
    dataset.delete("i < 5 and _rowaddr < 5")
    opened = pylanceref.dataset(dataset.uri)
    snapshot = opened._snapshot
    (index,) = snapshot.indices.known
    entry = rewrite_segments(
        opened._snapshot, index, index.segments, opened._snapshot.fragments[1:]
    )
    (segment,) = opened._snapshot.indices.of([entry]).segments
    assert list(segment.covers) == [1, 2]
    (merged,) = snapshot.indices.of([entry]).known
    for rows in snapshot.fragments:
        assert len(merged.positions(BY_NAME[kind].exact[0](), rows)) == 0
    assert entry.dataset_version == 1
