"""Rows taken out of fragments."""

import numpy as np
import pylanceref
from lanceref.operations.update import remove, select_rows
from lanceref.proto import table_pb2
from lanceref.storage.protocol import Draft
from pylanceref.sql.columns import condition

from tests.operations.tables import table


def test_all_rows_or_those_that_pass_are_chosen(tmp_path):
    """A fragment without any is left out, unless there is no condition."""
    snapshot = table(tmp_path)._snapshot

    every = select_rows(snapshot, None)
    some = select_rows(snapshot, condition(snapshot, "a > 7"))
    assert [(0, 4), (1, 5)] == [(rows.fragment.id, len(chosen)) for rows, chosen in every]
    assert [(1, [3, 4])] == [(rows.fragment.id, chosen.tolist()) for rows, chosen in some]


def test_a_fragment_keeps_rows_or_goes(tmp_path):
    """Old and new deletions lie in one file; offsets count the rows that were deleted."""
    snapshot = table(tmp_path)._snapshot
    first, second = snapshot.fragments
    removal = remove(snapshot, [(first, np.array([1, 2])), (second, np.arange(5))], Draft())
    (updated,) = removal.updated

    assert (0, 3) == (updated.id, updated.deletion_file.num_deleted_rows)
    assert ([1], 7) == (removal.removed, removal.num_rows)
    assert [[2, 3], [0, 1, 2, 3, 4]] == [held.tolist() for held in removal.affected.values()]


def test_a_bitmap_stays_one(tmp_path):
    """What takes the place of a rebased deletion is no Arrow file, however short."""
    table(tmp_path)
    first, second = (pylanceref.dataset(tmp_path) for _ in range(2))
    first.delete("a = 4")
    second.delete("a = 2")
    second.delete("a = 3")
    (kept, *_) = pylanceref.dataset(tmp_path)._snapshot.fragments

    assert table_pb2.DeletionFile.BITMAP == kept.fragment.message.deletion_file.file_type


def test_a_fragment_of_which_no_row_goes_stays_as_it_is(tmp_path):
    """No file is written."""
    table(tmp_path)
    (first, *_) = pylanceref.dataset(tmp_path).get_fragments()
    removal = remove(first._snapshot, [(first._rows, np.array([], np.int64))], Draft())

    assert [first._rows.fragment.message] == removal.updated
    assert first.metadata == first.delete("a > 1000")
