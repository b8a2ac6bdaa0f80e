"""Merge, Project, DataReplacement and migration: other columns for the same rows.

A Merge lists all fragments and the whole schema anew; a Project only the schema; a DataReplacement
the files that hold some columns of some fragments. Early releases left out what later ones count
on, or had it wrong: the rows of a fragment, how many of them are deleted, the size of a data file,
the storage format. Readers look it up in the files; every commit states it in the next version.
Where two files of a fragment hold a field, it gets another id.

Clauses: L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement, L.txn.op.index-fields,
L.table.row-versions.updated, L.table.datafile.tombstone, L.txn.op.migration,
L.table.datafile.once-early
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.core.errors import OperationRefused
from lanceref.core.file_versions import FROM_WORDS, V0_1
from lanceref.file.schema import HIDDEN_IDS
from lanceref.proto import table_pb2
from lanceref.table.file_entries import FIELD_TWICE, TOMBSTONE, fields_held_twice, is_before
from lanceref.table.fragments import Fragment, parse_fragments
from lanceref.table.manifest import Manifest
from lanceref.transactions.index_entries import drop_dead, take_from_bitmaps
from lanceref.transactions.manifest_builder import Builder, assign, copy_of, storage_version_of
from lanceref.transactions.row_lineage import drop_idle_overlays, set_updated, take_fields

RENEWING = ("overwrite", "restore")
"""Operations that bring a storage format along with their fragments."""


def merge(builder: Builder) -> None:
    """Put the fragments and the schema of a Merge in place of the old ones.

    Raises OperationRefused when it leaves a fragment out.
    """
    given, old = builder.transaction.merge, builder.old_fragments()
    missing = old.keys() - {one.id for one in given.fragments}
    if missing:  # L.txn.op.merge
        raise OperationRefused(f"Merge leaves out fragments {sorted(missing)}")
    assign(builder.message.fragments, given.fragments)
    builder.set_schema(given.schema)
    for fragment in builder.message.fragments:
        builder.note_id(fragment.id)
        before = old.get(fragment.id)
        other = before is not None and list(before.message.files) != list(fragment.files)
        if builder.stable and other:
            set_updated(builder, fragment, None)
    drop_dead(builder)


def project(builder: Builder) -> None:
    """Put the schema of a Project in place of the old one; files without a field of it go."""
    builder.set_schema(builder.transaction.project.schema)
    live = builder.field_ids
    for fragment in builder.message.fragments:
        drop_idle_files(fragment, live)
    drop_dead(builder)


def drop_idle_files(fragment: table_pb2.DataFragment, live: set[int]) -> None:
    """Remove files and overlays that hold no field of the schema."""
    drop_idle_overlays(fragment, live)
    wanted = live | set(HIDDEN_IDS)
    kept = [one for one in fragment.files if not wanted.isdisjoint(one.fields)]
    if len(kept) != len(fragment.files):
        assign(fragment.files, kept)


def replace_data(builder: Builder) -> None:
    """Put new files in place of the columns they hold. Raises OperationRefused."""
    given = builder.transaction.data_replacement
    if len({tuple(one.new_file.fields) for one in given.replacements}) > 1:
        raise OperationRefused("All new data files must have the same fields")
    for one in given.replacements:
        fragment = builder.fragment(one.fragment_id)
        if fragment is None:
            raise OperationRefused("Fragment being replaced not found in existing fragments")
        new = copy_of(one.new_file)
        if not new.file_size_bytes and builder.before is not None:
            new.file_size_bytes = builder.stored.file_size(builder.before, new)
        same = any(list(file.fields) == list(new.fields) for file in fragment.files)
        if _is_legacy(new) and not same:
            raise OperationRefused(
                "Expected to modify the fragment but no changes were made. This means the new data "
                "files does not align with any exiting datafiles."
            )
        put_file(fragment, new)
        take_fields(fragment, new.fields, builder.transaction.read_version)
        drop_idle_files(fragment, builder.field_ids)
        take_from_bitmaps(builder, new.fields, [fragment.id])
        if builder.stable:
            set_updated(builder, fragment, None)


def _is_legacy(file: table_pb2.DataFile) -> bool:
    return FROM_WORDS.get((file.file_major_version, file.file_minor_version)) == V0_1


def put_file(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment: in place of one of the same, or beside others."""
    for file in fragment.files:
        if list(file.fields) == list(new.fields):
            file.CopyFrom(new)
            if _is_legacy(new):
                del file.column_indices[:]
            return
    put_beside(fragment, new)


def put_beside(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment, after the others, which hold them no more.

    One that holds no other goes.
    """
    for file in fragment.files:
        file.fields[:] = [TOMBSTONE if one in new.fields else one for one in file.fields]
    kept = [file for file in fragment.files if set(file.fields) != {TOMBSTONE}]
    assign(fragment.files, [*kept, new])


def migrate(builder: Builder) -> None:
    """Complete the fragments and the storage format. Raises FormatError for a file that lacks."""
    before, message = builder.before, builder.message
    if before is None:
        return
    renews = builder.transaction.WhichOneof("operation") in RENEWING
    actual = str(storage_version_of(message if renews else before.message))
    if not message.HasField("data_format") or message.data_format.version == str(V0_1):
        message.data_format.file_format = "lance"
        message.data_format.version = actual
    if is_before(before.message, FIELD_TWICE):
        _renumber(builder, fields_held_twice(before.message.fragments))
    for fragment in message.fragments:
        _complete(builder, before, fragment)


def _renumber(builder: Builder, twice: Sequence[int]) -> None:
    """Give fields that two files of a fragment hold ids of their own; the last file holds them.

    Of a field that is no more the other files no longer list the id.
    """
    message = builder.message
    known = builder.field_ids
    listed = {n for one in message.fragments for file in one.files for n in file.fields}
    fresh = max({0} | listed | known) + 1
    for old in twice:
        for fragment in message.fragments:
            holders = [file for file in fragment.files if old in file.fields]
            for file in holders[-1:] if old in known else holders[:-1]:
                new = fresh if old in known else TOMBSTONE
                file.fields[:] = [new if number == old else number for number in file.fields]
        if old not in known:
            continue
        for field in message.fields:
            field.id = fresh if field.id == old else field.id
            field.parent_id = fresh if field.parent_id == old else field.parent_id
        for index in builder.indices:
            index.fields[:] = [fresh if number == old else number for number in index.fields]
        fresh += 1
    for fragment in message.fragments:
        drop_idle_files(fragment, builder.field_ids)


def is_complete(fragment: table_pb2.DataFragment, *, named: bool) -> bool:
    """Whether a fragment states what later releases count on; `named`: its writer is known."""
    if not fragment.HasField("deletion_file"):
        return bool(fragment.physical_rows or not fragment.files)
    return named and bool(fragment.physical_rows and fragment.deletion_file.num_deleted_rows)


def _complete(builder: Builder, before: Manifest, fragment: table_pb2.DataFragment) -> None:
    for file in fragment.files:
        if not file.file_size_bytes:
            file.file_size_bytes = builder.stored.file_size(before, file)
    deleted, named = fragment.HasField("deletion_file"), before.message.HasField("writer_version")
    if fragment.files and (not fragment.physical_rows or (deleted and not named)):
        parsed = _parsed(builder, before, fragment)
        fragment.physical_rows = builder.stored.num_rows(before, parsed)
    if deleted and not fragment.deletion_file.num_deleted_rows:
        offsets = builder.stored.deleted(before, _parsed(builder, before, fragment))
        fragment.deletion_file.num_deleted_rows = len(offsets)


def _parsed(builder: Builder, before: Manifest, fragment: table_pb2.DataFragment) -> Fragment:
    """Return a fragment of the next version as a reader sees it."""
    alone = table_pb2.Manifest(fragments=[fragment], base_paths=builder.message.base_paths)
    (parsed,) = parse_fragments(alone, before.schema, builder.stored.ctx, before.place)
    return parsed
