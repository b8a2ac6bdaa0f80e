"""The next version: what each operation makes of fragments, schema, flags and row ids."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.core.file_versions import V0_1, V2_1, V2_2
from lanceref.proto import rowids_pb2, table_pb2
from lanceref.proto import transaction_pb2 as pb
from lanceref.storage import LocalStore
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.lineage import decode_versions, encode_runs, encode_versions
from lanceref.table.manifest import open_named
from lanceref.transactions.apply import check_succession
from lanceref.transactions.fragment_operations import put_file, updated_offsets
from lanceref.transactions.manifest_builder import storage_version_of
from pyroaring import BitMap

from tests.table import manifests
from tests.transactions import versions


@pytest.mark.parametrize(
    ("flags", "held", "version"), [(0, (), V0_1), (4, (), V2_2), (0, (2, 1), V2_1)]
)
def test_a_manifest_without_a_name_says_its_version_by_a_flag(flags, held, version):
    """Without stated format the writer flag tells 0.1 from 2.0, and the oldest file before it."""
    message = manifests.minimal(data_format=None, writer_feature_flags=flags)
    for minor in held:
        file = {"file_major_version": 2, "file_minor_version": minor}
        message.fragments.add().files.append(table_pb2.DataFile(**file))

    assert version == storage_version_of(message)


def _deleted(number, count):
    entry = {"file_type": 0, "read_version": 1, "id": 5, "num_deleted_rows": count}
    return manifests.fragment(number, versions.files(0, 1, 2), deletion_file=entry)


def test_offsets_come_as_a_list_or_as_a_bitmap():
    """Updated offsets are a list or a bitmap, and a broken bitmap is refused."""
    listed = {0: pb.Transaction.Update.FragmentOffsets(values=[1, 5])}
    both = pb.Transaction.Update(
        updated_fragment_offsets=listed,
        updated_fragment_offset_bitmaps={1: BitMap([2]).serialize()},
    )

    assert {0: [1, 5], 1: [2]} == {n: o.tolist() for n, o in updated_offsets(both).items()}
    for broken in (b"xx", BitMap([2]).serialize() + b"x"):
        with pytest.raises(FormatError):
            updated_offsets(pb.Transaction.Update(updated_fragment_offset_bitmaps={1: broken}))


def test_a_delete_leaves_what_overlays_changed_since():
    """A delete keeps later overlays and the versions of their rows."""
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


def test_an_index_leaves_groups_with_newer_values_in_an_overlay():
    """What is written anew has values of its field that its files do not know."""
    file = manifests.data_file(path="o.lance", fields=[1], column_indices=[0])
    over = {"data_file": file, "shared_offset_bitmap": BitMap([1]).serialize()}
    held = [manifests.fragment(n, versions.files(0, 1, 2, path=f"{n}.lance")) for n in range(3)]
    held[0]["overlays"] = held[2]["overlays"] = [{**over, "committed_version": 2}]
    flags = {"reader_feature_flags": 64, "writer_feature_flags": 64}
    before = versions.table(3, fragments=held, **flags)
    known = [versions.index(name, field, [0, 1, 2], field) for name, field in (("a", 0), ("b", 1))]
    groups = [versions.group([n], [3 + n]) for n in range(3)]
    made = versions.after(versions.indexed(before, *known), rewrite={"groups": groups})

    assert {"a": [0, 1, 2], "b": [1]} == versions.covers(made)


def test_moved_rows_keep_the_version_that_made_them(tmp_path):
    """Those of the last id too."""
    made = pylanceref.write_dataset(
        pa.table({"k": range(3)}), tmp_path / "t", enable_stable_row_ids=True
    )
    made.insert(pa.table({"k": [3, 4]}))
    made.update({"k": "k + 1"})
    rows = made.to_table(columns=["k", "_row_created_at_version"]).sort_by("k")

    assert [1, 1, 1, 2, 2] == rows["_row_created_at_version"].to_pylist()


def test_a_project_drops_files_without_a_field():
    """Files without a remaining field are dropped, and others keep dropped ids."""
    fragment = manifests.fragment(0, versions.files(0, 1), versions.files(2, path="c.lance"))
    before = versions.table(fragments=[fragment], max_fragment_id=0)
    made = versions.after(before, project={"schema": versions.FIELDS[:1]})

    assert [[0, 1]] == [list(file.fields) for file in made.message.fragments[0].files]


def test_data_is_replaced_in_place_or_beside():
    """A file of the same fields is replaced; another column leaves a tombstone."""
    same = versions.files(0, 1, 2, path="n.lance")
    one = {**versions.files(1, path="b.lance"), "file_size_bytes": 7}
    for new, wanted in ((same, [[0, 1, 2]]), (one, [[0, -2, 2], [1]])):
        new["file_size_bytes"] = 7
        given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
        made = versions.after(versions.table(), data_replacement=given)

        assert wanted == [list(file.fields) for file in made.message.fragments[0].files]
        assert 7 == made.message.fragments[0].files[-1].file_size_bytes


def test_replaced_data_updates_all_rows():
    """With stable ids all rows of a replaced fragment are updated."""
    new = {**versions.files(0, 1, 2, path="n.lance"), "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    made = versions.after(versions.stable(), data_replacement=given)
    held = [one.inline_last_updated_at_versions for one in made.message.fragments]
    decoded = [decode_versions(data, 10, Context("m"), made.place) for data in held]

    assert [2, 1] == [int(one.at(np.array([0]))[0]) for one in decoded]


def test_files_of_0_1_have_no_columns():
    """Column indices that a caller gives for a file of 0.1 are dropped."""
    old = table_pb2.DataFile(path="a", fields=[0], file_minor_version=2)
    new = table_pb2.DataFile(path="b", fields=[0], column_indices=[0], file_minor_version=2)
    fragment = table_pb2.DataFragment(files=[old])
    put_file(fragment, new)

    assert ("b", []) == (fragment.files[0].path, list(fragment.files[0].column_indices))


def test_indices_by_row_id_cover_the_new_fragments_as_they_are():
    """With stable ids entries cover new fragments without a rewrite."""
    before = versions.indexed(versions.stable(3), versions.index("x", 0, [0, 1], 1))
    group = versions.group([0, 1], [3])
    ids = versions.stable().message.fragments[0].inline_row_ids
    group["new_fragments"][0]["inline_row_ids"] = ids
    made = versions.after(before, rewrite={"groups": [group]})

    assert {"x": [3]} == versions.covers(made)


@pytest.mark.parametrize("rows", [None, 2**45])
@pytest.mark.parametrize("ids", [2**45, 2**64 - 1])
def test_more_moved_ids_than_rows_are_a_finding(tmp_path, ids, rows):
    """An Update that lists more ids, or more rows, than its files have is not made once more."""
    three = pa.table({"a": [1, 2, 3]})
    made = pylanceref.write_dataset(three, tmp_path, enable_stable_row_ids=True)
    made.update({"a": "a + 1"}, "a > 1")
    store, ctx = LocalStore(str(tmp_path)), Context("m", findings=[])
    manifest = open_named(store, find_version(store, Context("m"), None), Context("m"))
    (new,) = manifest.transaction.update.new_fragments
    segment = rowids_pb2.U64Segment(range={"start": 0, "end": ids})
    new.inline_row_ids = rowids_pb2.RowIdSequence(segments=[segment]).SerializeToString()
    new.physical_rows = rows or new.physical_rows
    check_succession(store, manifest, ctx)

    assert ["L.txn.op.update"] == [finding.clause for finding in ctx.findings]
