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
from lanceref.transactions.manifest_builder import Making, storage_version_of
from lanceref.transactions.row_lineage import drop_idle_overlays, set_updated, take_fields


def merge(making: Making) -> None:
    """Put the fragments and the schema of a Merge in place of the old ones.

    Raises OperationRefused when it leaves a fragment out.
    """
    given, staged = making.transaction.merge, making.staged
    missing = making.old_fragments().keys() - {one.id for one in given.fragments}
    if missing:  # L.txn.op.merge
        raise OperationRefused(f"Merge leaves out fragments {sorted(missing)}")
    making.replace_fragments(given.fragments)
    for fragment in given.fragments:
        making.note_id(fragment.id)
    if staged.schema is not None:
        making.set_schema(staged.schema)
    else:
        del making.message.fields[:]
        making.message.fields.extend(given.schema)
    if making.stable:
        old = making.old_fragments()
        for fragment in making.message.fragments:
            before = old.get(fragment.id)
            if before is not None and list(before.message.files) != list(fragment.files):
                set_updated(making, fragment, None)
    drop_dead(making)


def project(making: Making) -> None:
    """Put the schema of a Project in place of the old one; files without a field of it go."""
    given, staged = making.transaction.project, making.staged
    if staged.schema is not None:
        making.set_schema(staged.schema)
    else:
        del making.message.fields[:]
        making.message.fields.extend(given.schema)
    live = making.field_ids
    for fragment in making.message.fragments:
        drop_idle_files(fragment, live)
    drop_dead(making)


def drop_idle_files(fragment: table_pb2.DataFragment, live: set[int]) -> None:
    """Take files and overlays out that hold no field of the schema."""
    drop_idle_overlays(fragment, live)
    wanted = live | set(HIDDEN_IDS)
    kept = [one for one in fragment.files if not wanted.isdisjoint(one.fields)]
    if len(kept) != len(fragment.files):
        del fragment.files[:]
        fragment.files.extend(kept)


def replace_data(making: Making) -> None:
    """Put new files in place of the columns they hold. Raises OperationRefused."""
    given = making.transaction.data_replacement
    if len({tuple(one.new_file.fields) for one in given.replacements}) > 1:
        raise OperationRefused("All new data files must have the same fields")
    for one in given.replacements:
        fragment = making.fragment(one.fragment_id)
        if fragment is None:
            raise OperationRefused("Fragment being replaced not found in existing fragments")
        new = table_pb2.DataFile()
        new.CopyFrom(one.new_file)
        if not new.file_size_bytes and making.before is not None:
            new.file_size_bytes = making.past.file_size(making.before, new)
        _check_place(fragment, new)
        put_file(fragment, new)
        take_fields(fragment, new.fields, making.transaction.read_version)
        drop_idle_files(fragment, making.field_ids)
        take_from_bitmaps(making, new.fields, [fragment.id])
        if making.stable:
            set_updated(making, fragment, None)


def _check_place(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Raise OperationRefused for a file of 0.1 that replaces no whole file."""
    legacy = FROM_WORDS.get((new.file_major_version, new.file_minor_version)) == V0_1
    if legacy and all(list(file.fields) != list(new.fields) for file in fragment.files):
        raise OperationRefused(
            "Expected to modify the fragment but no changes were made. This means the new data "
            "files does not align with any exiting datafiles."
        )


def put_file(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment: in place of one of the same, or beside others."""
    for file in fragment.files:
        if list(file.fields) == list(new.fields):
            file.CopyFrom(new)
            if FROM_WORDS.get((new.file_major_version, new.file_minor_version)) == V0_1:
                del file.column_indices[:]
            return
    put_beside(fragment, new)


def put_beside(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment, behind the others, which hold them no more.

    One that holds no other goes.
    """
    for file in fragment.files:
        for number, field_id in enumerate(file.fields):
            if field_id in new.fields:
                file.fields[number] = TOMBSTONE
    kept = [file for file in fragment.files if set(file.fields) != {TOMBSTONE}]
    del fragment.files[:]
    fragment.files.extend([*kept, new])


RENEWING = ("overwrite", "restore")
"""Operations that bring a storage format along with their fragments."""


def migrate(making: Making) -> None:
    """Complete the fragments and the storage format. Raises FormatError for a file that lacks."""
    if making.before is None:
        return
    message = making.message
    renews = making.transaction.WhichOneof("operation") in RENEWING
    actual = str(storage_version_of(message if renews else making.before.message))
    if not message.HasField("data_format") or message.data_format.version == str(V0_1):
        message.data_format.file_format = "lance"
        message.data_format.version = actual
    if is_before(making.before.message, FIELD_TWICE):
        _renumber(making, fields_held_twice(making.before.message.fragments))
    for fragment in message.fragments:
        _complete(making, making.before, fragment)


def _renumber(making: Making, twice: Sequence[int]) -> None:
    """Give fields that two files of a fragment hold ids of their own; the last file holds them."""
    message = making.message
    known = {one.id for one in message.fields}
    last = max(
        (number for one in message.fragments for file in one.files for number in file.fields),
        default=0,
    )
    fresh = max(last, *known) + 1
    for old in twice:
        if old not in known:
            _tombstone(making, old)
            continue
        for field in message.fields:
            field.id = fresh if field.id == old else field.id
            field.parent_id = fresh if field.parent_id == old else field.parent_id
        for fragment in message.fragments:
            holders = [file for file in fragment.files if old in file.fields]
            for number, held in enumerate(holders[-1].fields if holders else ()):
                holders[-1].fields[number] = fresh if held == old else held
        for index in making.indices:
            index.fields[:] = [fresh if number == old else number for number in index.fields]
        fresh += 1
    for fragment in message.fragments:
        drop_idle_files(fragment, making.field_ids)


def _tombstone(making: Making, gone: int) -> None:
    """Let only the last of the files that hold a field which is no more list it."""
    for fragment in making.message.fragments:
        for file in [file for file in fragment.files if gone in file.fields][:-1]:
            file.fields[:] = [TOMBSTONE if number == gone else number for number in file.fields]


def is_complete(fragment: table_pb2.DataFragment, *, named: bool) -> bool:
    """Whether a fragment states what later releases count on; `named`: its writer is known."""
    if not fragment.HasField("deletion_file"):
        return bool(fragment.physical_rows or not fragment.files)
    return named and bool(fragment.physical_rows and fragment.deletion_file.num_deleted_rows)


def _complete(making: Making, before: Manifest, fragment: table_pb2.DataFragment) -> None:
    for file in fragment.files:
        if not file.file_size_bytes:
            file.file_size_bytes = making.past.file_size(before, file)
    deletion = fragment.deletion_file
    named = before.message.HasField("writer_version")
    left = fragment.HasField("deletion_file") and not named
    if (left or not fragment.physical_rows) and fragment.files:
        fragment.physical_rows = making.past.num_rows(before, _parsed(making, before, fragment))
    if fragment.HasField("deletion_file") and not deletion.num_deleted_rows:
        gone = making.past.deleted(before, _parsed(making, before, fragment))
        deletion.num_deleted_rows = len(gone)


def _parsed(making: Making, before: Manifest, fragment: table_pb2.DataFragment) -> Fragment:
    """Return a fragment of the version in the making as a reader sees it."""
    alone = table_pb2.Manifest(fragments=[fragment], base_paths=making.message.base_paths)
    (parsed,) = parse_fragments(alone, before.schema, making.past.ctx, before.place)
    return parsed
