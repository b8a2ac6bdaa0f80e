"""Indices of rows that a compaction moved."""

from __future__ import annotations

from types import SimpleNamespace

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lanceref.edit.index_move import moved_rows

TABLE = pa.table({"i": range(40)})


def test_a_worked_example(tmp_path):
    """Live rows of fragments 1 and 2 become fragment 7; rows of fragment 0 stay."""
    dataset = lanceref.write_dataset(TABLE.slice(0, 9), tmp_path / "t", max_rows_per_file=3)
    dataset.delete("i in (4, 6)")
    old = dataset._snapshot.fragments[1:]
    moved = moved_rows([(old, [SimpleNamespace(id=7, physical_rows=4)])])
    keys = [0, 2, 1 << 32, 1 << 32 | 1, 1 << 32 | 2, 2 << 32, 2 << 32 | 1, 9 << 32]
    kept, now = moved(np.array(keys, np.uint64))
    assert kept.tolist() == [True, True, True, False, True, False, True, True]
    assert now.tolist() == [0, 2, 7 << 32, 7 << 32 | 1, 7 << 32 | 2, 9 << 32]


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
def test_segments_cover_the_new_fragments(tmp_path, kind, stable):
    """By address they are written anew, by row id only their entry changes."""
    dataset = lanceref.write_dataset(
        TABLE, tmp_path / "t", max_rows_per_file=10, enable_stable_row_ids=stable
    )
    dataset.create_scalar_index("i", kind)
    before = dataset.list_indices()[0]["uuid"]
    dataset.delete("i in (3, 33)")
    dataset.optimize.compact_files()
    (after,) = dataset.list_indices()
    assert list(after["fragment_ids"]) == [4]
    assert (after["uuid"] == before) is (stable and kind == "BITMAP")
    opened = lanceref.dataset(dataset.uri)
    for value in (3, 4, 32, 33):
        found = opened.to_table(filter=f"i = {value}")["i"].to_pylist()
        assert found == ([] if value in (3, 33) else [value])
