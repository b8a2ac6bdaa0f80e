"""Delete and Update."""

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.proto import transaction_pb2 as pb
from lanceref.table.row_ids import (
    decode_row_ids,
    decode_versions,
    encode_ids,
    encode_runs,
    encode_versions,
)
from lanceref.transactions.fragment_operations import updated_offsets
from pyroaring import BitMap

from tests.table import manifests
from tests.transactions import versions

CTX = Context("m")


def _deleted(number, count):
    entry = {"file_type": 0, "read_version": 1, "id": 5, "num_deleted_rows": count}
    return manifests.fragment(number, versions.files(0, 1, 2), deletion_file=entry)


def test_a_delete_marks_rows_and_takes_fragments_out():
    """Fragment 0 gets a deletion file, 1 goes; the highest id stays."""
    made = versions.after(
        versions.table(3),
        delete={"updated_fragments": [_deleted(0, 4)], "deleted_fragment_ids": [1]},
    )

    assert [0, 2] == versions.ids(made)
    assert [4, 0] == [one.num_deleted for one in made.fragments]
    assert (2, 1) == (made.message.max_fragment_id, made.message.reader_feature_flags)


def test_an_update_moves_rows_to_a_new_fragment():
    """The rows that were moved keep their ids and when they were made; others are new."""
    moved = manifests.fragment(
        0,
        versions.files(0, 1, 2, path="n.lance"),
        inline_row_ids=encode_ids(np.array([13, 2], "u8")),
    )
    moved["physical_rows"] = 3
    made = versions.after(
        versions.stable(),
        past=_Rows(),
        update={"new_fragments": [moved], "updated_fragments": [_stable_deleted()]},
    )
    new, place = made.message.fragments[-1], made.place

    assert [0, 1, 2] == versions.ids(made)
    ids = decode_row_ids(new.inline_row_ids, 3, CTX, place)
    assert [13, 2, 20] == ids.at(np.arange(3)).tolist()
    created = decode_versions(new.inline_created_at_versions, 3, CTX, place)
    assert [1, 1, 2] == created.at(np.arange(3)).tolist()
    updated = decode_versions(new.inline_last_updated_at_versions, 3, CTX, place)
    assert [2, 2, 2] == updated.at(np.arange(3)).tolist()
    assert 21 == made.message.next_row_id


class _Rows(versions.SizedPast):
    """Ten rows of version 1 in each fragment, ids from ten times its number on."""

    def lineage(self, before, fragment, name):
        return (
            np.arange(10, dtype="u8") + 10 * fragment.id if name == "_rowid" else np.ones(10, "u8")
        )

    def deleted(self, before, fragment):
        return np.empty(0, np.int64)


def _stable_deleted():
    fragment = versions.stable().message.fragments[0]
    fragment.deletion_file.num_deleted_rows = 1
    return fragment


def test_columns_written_anew_are_not_covered_any_more():
    """An index over b loses fragment 0, one over a keeps it."""
    before = versions.indexed(
        versions.table(), versions.index("on_a", 0, [0, 1], 1), versions.index("on_b", 1, [0, 1], 2)
    )
    columns = manifests.fragment(0, versions.files(0, -2, 2), versions.files(1, path="b.lance"))
    made = versions.after(
        before,
        update={"updated_fragments": [columns], "fields_modified": [1], "update_mode": 1},
    )

    assert {"on_a": [0, 1], "on_b": [1]} == versions.covers(made)


def test_columns_written_anew_for_some_rows_update_those():
    """Rows 3 and 4 of fragment 0 are of version 2 now, the others of version 1."""
    offsets = {0: BitMap([3, 4]).serialize()}
    fragment = versions.stable().message.fragments[0]
    made = versions.after(
        versions.stable(),
        past=_Rows(),
        update={
            "updated_fragments": [fragment],
            "fields_modified": [1],
            "update_mode": 1,
            "updated_fragment_offset_bitmaps": offsets,
        },
    )
    data = made.message.fragments[0].inline_last_updated_at_versions
    updated = decode_versions(data, 10, CTX, made.place)

    assert [1, 1, 1, 2, 2, 1, 1, 1, 1, 1] == updated.at(np.arange(10)).tolist()


def test_offsets_come_as_a_list_or_as_a_bitmap():
    """A bitmap that cannot be read is refused."""
    listed = {0: pb.Transaction.Update.FragmentOffsets(values=[1, 5])}
    both = pb.Transaction.Update(
        updated_fragment_offsets=listed,
        updated_fragment_offset_bitmaps={1: BitMap([2]).serialize()},
    )

    assert {0: [1, 5], 1: [2]} == {n: o.tolist() for n, o in updated_offsets(both).items()}
    with pytest.raises(FormatError):
        updated_offsets(pb.Transaction.Update(updated_fragment_offset_bitmaps={1: b"xx"}))


def test_a_delete_leaves_what_overlays_changed_since():
    """They stay, and their rows are still those of the version that put them there."""
    file = manifests.data_file(path="o.lance", fields=[2], column_indices=[0])
    over = {"data_file": file, "shared_offset_bitmap": BitMap([1, 5]).serialize()}
    changed = encode_runs(np.array([1, 2, 1, 1, 1, 2, 1, 1, 1, 1], np.uint64))
    told = _deleted(0, 4)
    told |= {"inline_last_updated_at_versions": encode_versions(10, 1)}
    held = {**told, "inline_last_updated_at_versions": changed}
    held |= {"overlays": [{**over, "committed_version": 2}], "deletion_file": None}
    before = versions.table(1, fragments=[held], reader_feature_flags=64, writer_feature_flags=64)
    made = versions.after(before, delete={"updated_fragments": [told]})

    (one,) = made.message.fragments
    assert [2] == [overlay.committed_version for overlay in one.overlays]
    assert changed == one.inline_last_updated_at_versions
    assert 4 == one.deletion_file.num_deleted_rows
