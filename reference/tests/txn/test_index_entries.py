"""Index entries of a commit."""

import pytest
from lanceref.errors import OperationRefused
from lanceref.txn.index_entries import moved
from pyroaring import BitMap

from tests.txn import versions


def test_new_entries_go_behind_and_removed_ones_go():
    """Removed entries are found by uuid."""
    before = versions.indexed(
        versions.table(), versions.index("x", 0, [0], 1), versions.index("y", 1, [0], 2)
    )
    given = {
        "new_indices": [versions.index("x", 0, [0, 1], 3)],
        "removed_indices": [versions.index("x", 0, [], 1)],
    }

    assert {"y": [0], "x": [0, 1]} == versions.covers(versions.after(before, create_index=given))


def test_an_index_on_no_column_is_refused():
    """L.txn.op.index-fields."""
    with pytest.raises(OperationRefused, match="no column"):
        versions.after(
            versions.table(), create_index={"new_indices": [versions.index("x", 9, [0])]}
        )


def test_of_several_segments_the_dead_ones_go():
    """A segment of no live fragment goes, unless it is the only one or the first of dead ones."""
    segments = [versions.index("x", 0, [0], 1), versions.index("x", 0, [1], 2)]
    alone = versions.index("y", 0, [0], 3)
    before = versions.indexed(versions.table(), *segments, alone)

    one = versions.after(before, delete={"deleted_fragment_ids": [0]})
    none = versions.after(before, delete={"deleted_fragment_ids": [0, 1]})

    assert [2, 3] == [int.from_bytes(entry.uuid.uuid, "big") for entry in one.indices]
    assert [1, 3] == [int.from_bytes(entry.uuid.uuid, "big") for entry in none.indices]


def test_new_fragments_take_the_place_of_old_ones():
    """All of a group or none of it is covered; half a group is refused."""
    assert BitMap([0, 5]) == moved(BitMap([0, 1, 2]), [([1, 2], [5])])
    assert BitMap([0]) == moved(BitMap([0]), [([1, 2], [5])])
    with pytest.raises(OperationRefused, match="split"):
        moved(BitMap([1]), [([1, 2], [5])])
