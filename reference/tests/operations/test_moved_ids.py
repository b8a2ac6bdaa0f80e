"""Ids of updated rows, by segments."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.operations.update import moved_segments, select_rows
from pylanceref.sql.columns import condition

NARROW = {"s": pa.array([{"x": 1}] * 9, pa.struct([("x", pa.int32())]))}
WIDE = {
    "text": pa.array(["a"] * 9),
    "truth": pa.array([True] * 9),
    "list": pa.array([[1]] * 9, pa.list_(pa.int8())),
    "vector": pa.array([[1.0] * 3] * 9, pa.list_(pa.float32(), 3)),
}


def _segments(path, columns, where, version="2.1"):
    made = pylanceref.write_dataset(
        pa.table({"k": range(9), **columns}),
        path,
        max_rows_per_file=3,
        data_storage_version=version,
    )
    snapshot = made._snapshot
    wanted = None if where is None else condition(snapshot, where)
    chosen = select_rows(snapshot, wanted)
    ids = [np.concatenate([positions for _, positions in chosen]).astype(np.uint64)]
    return [part.tolist() for part in moved_segments(snapshot, chosen, ids, wanted)]


def test_each_fragment_is_a_segment(tmp_path):
    """Narrow columns are read with those of the filter; without a filter all are read at once."""
    apart = [[], [0, 2], [0, 2], [0, 2]]
    every = [[], [0, 1, 2], [0, 1, 2], [0, 1, 2]]

    assert apart == _segments(tmp_path / "narrow", NARROW, "k % 3 != 1")
    assert apart == _segments(tmp_path / "legacy", {"s": WIDE["text"]}, "k % 3 != 1", "0.1")
    assert apart == _segments(tmp_path / "own", {"s": WIDE["text"]}, "s = 'a' and k % 3 != 1")
    assert every == _segments(tmp_path / "all", {"s": WIDE["text"]}, None)


@pytest.mark.parametrize("name", WIDE)
def test_rows_come_together_where_columns_are_read_late(tmp_path, name):
    """Columns of ten bytes and more, or of no width."""
    assert [[0, 2, 0, 2, 0, 2]] == _segments(tmp_path, {"s": WIDE[name]}, "k % 3 != 1")


@pytest.mark.oracle
@pytest.mark.parametrize("columns", [NARROW, *({"s": one} for one in WIDE.values())])
@pytest.mark.parametrize("where", ["k % 3 != 1", "true", None])
def test_the_oracle_cuts_alike(tmp_path, columns, where):
    """The sequences of an update have the same bytes."""
    import lance

    held = []
    for module in (lance, pylanceref):
        path = str(tmp_path / module.__name__)
        made = module.write_dataset(
            pa.table({"k": range(9), **columns}),
            path,
            max_rows_per_file=3,
            enable_stable_row_ids=True,
        )
        made.delete("k % 3 = 1 and k > 3")
        made.update({"k": "k + 1"}, where)
        fragments = pylanceref.dataset(path)._snapshot.manifest.message.fragments
        held.append([one.inline_row_ids for one in fragments])

    assert held[0] == held[1]
