"""Index entries of a commit."""

import pytest
from lanceref.core.errors import OperationRefused
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails
from lanceref.transactions.index_entries import bring_forward, covered, moved, moved_fragments
from lanceref.transactions.manifest_builder import REUSE_INDEX
from pyroaring import BitMap

from tests.transactions import versions


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


def led_on(*covers: list[int]) -> list[list[int]]:
    """Return what entries cover after 6 became 9, and 7 and 8 became 10; the last says so."""
    details = FragmentReuseIndexDetails()
    version = details.inline.versions.add(dataset_version=3)
    for old, new in (([6], [9]), ([7, 8], [10])):
        group = version.groups.add()
        for number in old:
            group.old_fragments.add(id=number)
        for number in new:
            group.new_fragments.add(id=number)
    *plain, last = covers
    indices = [versions.index(f"x{one}", 0, one) for one in plain]
    indices.append(versions.index(REUSE_INDEX, 0, last))
    indices[-1].index_details.value = details.SerializeToString()
    bring_forward(indices)
    return [list(covered(one) or ()) for one in indices]


def test_an_entry_follows_whole_groups_and_the_one_that_says_so_every_group():
    """Half a group covers no new fragment, unless the entry itself names it."""
    assert [[9, 10], [2, 9], [7], [9, 10]] == led_on([6, 7, 8], [2, 6], [7], [6, 7, 9, 10])


def test_fragments_that_moved_are_told():
    """By the entry that leads on, and by no other."""
    entry = versions.index(REUSE_INDEX, 0, [9])
    details = FragmentReuseIndexDetails()
    details.inline.versions.add().groups.add().old_fragments.add(id=6)
    entry.index_details.value = details.SerializeToString()

    assert BitMap([6]) == moved_fragments([versions.index("x", 0, [6]), entry])
    assert BitMap() == moved_fragments([versions.index("x", 0, [6])])
