"""Migration: what a commit completes in the manifest it starts from.

Early releases left out what later ones count on, or had it wrong: the rows of a fragment, how many
of them are deleted, the size of a data file, the storage format. Readers then look it up in the
files; the next version states it. Where two files of a fragment hold a field, it gets another id.

Clauses: L.txn.op.migration, L.table.datafile.once-early
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.core.file_versions import V0_1
from lanceref.proto import table_pb2
from lanceref.table.file_entries import TOMBSTONE
from lanceref.table.fragments import Fragment, parse_fragments
from lanceref.table.manifest import Manifest
from lanceref.table.writer_quirks import FIELD_TWICE, fields_held_twice, is_before
from lanceref.transactions.manifest_builder import Making, storage_version_of
from lanceref.transactions.schema_operations import drop_idle_files

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
