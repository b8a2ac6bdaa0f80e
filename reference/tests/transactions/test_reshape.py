"""Merge, Project and DataReplacement."""

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import OperationRefused
from lanceref.proto import table_pb2
from lanceref.table.row_ids import decode_versions
from lanceref.transactions.fragment_operations import put_file

from tests.table import manifests
from tests.transactions import versions


def test_a_merge_replaces_fragments_and_schema():
    """An index on a field that went goes too; the other stays."""
    before = versions.indexed(
        versions.table(), versions.index("a", 0, [0], 1), versions.index("c", 2, [0], 2)
    )
    fragments = [manifests.fragment(n, versions.files(0, path=f"{n}")) for n in (0, 1)]
    given = {"fragments": fragments, "schema": versions.FIELDS[:1]}
    made = versions.after(before, merge=given)

    assert ["a"] == [field.name for field in made.schema.fields]
    assert {"a": [0]} == versions.covers(made)


def test_a_merge_updates_rows_of_changed_fragments():
    """With stable row ids: fragment 0 got another file, 1 did not."""
    before = versions.stable()
    changed = list(before.message.fragments)
    changed[0].files.append(type(changed[0].files[0])(**versions.files(3, path="d.lance")))
    fields = [*versions.FIELDS, {**versions.FIELDS[0], "name": "d", "id": 3}]
    made = versions.after(versions.stable(), merge={"fragments": changed, "schema": fields})
    held = [one.inline_last_updated_at_versions for one in made.message.fragments]
    decoded = [decode_versions(data, 10, Context("m"), made.place) for data in held]

    assert [2, 1] == [int(one.at(np.array([0]))[0]) for one in decoded]


def test_a_project_drops_files_without_a_field():
    """Others keep the ids of dropped fields."""
    fragment = manifests.fragment(0, versions.files(0, 1), versions.files(2, path="c.lance"))
    before = versions.table(fragments=[fragment], max_fragment_id=0)
    made = versions.after(before, project={"schema": versions.FIELDS[:1]})

    assert [[0, 1]] == [list(file.fields) for file in made.message.fragments[0].files]


def test_data_is_replaced_in_place_or_beside():
    """A file of the same fields is replaced, a column of another file becomes a tombstone."""
    same = versions.files(0, 1, 2, path="n.lance")
    one = {**versions.files(1, path="b.lance"), "file_size_bytes": 7}
    for new, wanted in ((same, [[0, 1, 2]]), (one, [[0, -2, 2], [1]])):
        new["file_size_bytes"] = 7
        given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
        made = versions.after(versions.table(), data_replacement=given)

        assert wanted == [list(file.fields) for file in made.message.fragments[0].files]
        assert 7 == made.message.fragments[0].files[-1].file_size_bytes


@pytest.mark.parametrize("targets", [[(9, 0)], [(0, 0), (1, 1)]])
def test_data_that_fits_nowhere_is_refused(targets):
    """A fragment that is not there; files of different fields."""
    replacements = [
        {"fragment_id": number, "new_file": {**versions.files(field), "file_size_bytes": 1}}
        for number, field in targets
    ]
    with pytest.raises(OperationRefused):
        versions.after(versions.table(), data_replacement={"replacements": replacements})


def test_replaced_data_is_no_longer_indexed():
    """An index over b loses fragment 0, one over a keeps it."""
    before = versions.indexed(
        versions.table(), versions.index("on_a", 0, [0, 1], 1), versions.index("on_b", 1, [0, 1], 2)
    )
    new = {**versions.files(1, path="n.lance"), "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    made = versions.after(before, data_replacement=given)

    assert {"on_a": [0, 1], "on_b": [1]} == versions.covers(made)


def test_a_merge_that_leaves_a_fragment_out_is_refused():
    """Its rows would be lost."""
    fragments = [manifests.fragment(0, versions.files(0))]
    with pytest.raises(OperationRefused, match=r"fragments \[1\]"):
        versions.after(versions.table(), merge={"fragments": fragments, "schema": versions.FIELDS})


def test_a_merge_raises_the_highest_fragment():
    """A fragment that comes with it counts."""
    fragments = [manifests.fragment(n, versions.files(0, path=f"{n}")) for n in (0, 1, 7)]
    made = versions.after(
        versions.table(), merge={"fragments": fragments, "schema": versions.FIELDS[:1]}
    )

    assert 7 == made.message.max_fragment_id


def test_replaced_data_updates_all_rows():
    """With stable row ids: fragment 0 is of version 2 now."""
    new = {**versions.files(0, 1, 2, path="n.lance"), "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    made = versions.after(versions.stable(), data_replacement=given)
    held = [one.inline_last_updated_at_versions for one in made.message.fragments]
    decoded = [decode_versions(data, 10, Context("m"), made.place) for data in held]

    assert [2, 1] == [int(one.at(np.array([0]))[0]) for one in decoded]


def test_a_file_that_holds_nothing_any_more_goes():
    """Its other column was dropped before: only the new file is left."""
    fragment = manifests.fragment(0, versions.files(0, 1))
    before = versions.table(fragments=[fragment], max_fragment_id=0, fields=versions.FIELDS[:1])
    new = {**versions.files(0, path="n.lance"), "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    made = versions.after(before, data_replacement=given)

    assert [[0]] == [list(file.fields) for file in made.message.fragments[0].files]


def test_data_of_0_1_replaces_whole_files_only():
    """Another file keeps its columns, so there would be two."""
    legacy = {"file_major_version": 0, "file_minor_version": 2, "column_indices": []}
    new = {**versions.files(1), **legacy, "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    with pytest.raises(OperationRefused, match="no changes were made"):
        versions.after(versions.table(), data_replacement=given)


def test_files_of_0_1_have_no_columns():
    """What a caller says of them is not kept."""
    old = table_pb2.DataFile(path="a", fields=[0], file_minor_version=2)
    new = table_pb2.DataFile(path="b", fields=[0], column_indices=[0], file_minor_version=2)
    fragment = table_pb2.DataFragment(files=[old])
    put_file(fragment, new)

    assert ("b", []) == (fragment.files[0].path, list(fragment.files[0].column_indices))


def test_indices_do_not_cover_replaced_values():
    """Of the index on the field fragment 0 is taken out; the other one stays as it was."""
    before = versions.indexed(
        versions.table(), versions.index("a", 0, [0, 1], 1), versions.index("c", 2, [0, 1], 2)
    )
    new = {**versions.files(0, 1, path="n.lance"), "file_size_bytes": 7}
    given = {"replacements": [{"fragment_id": 0, "new_file": new}]}
    made = versions.after(before, data_replacement=given)

    assert {"a": [1], "c": [0, 1]} == versions.covers(made)
