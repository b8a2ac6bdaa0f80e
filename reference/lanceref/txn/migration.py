"""Migration: what a commit completes in the manifest it starts from.

Early releases left out what later ones count on, or had it wrong: the rows of a fragment, how many
of them are deleted, the size of a data file, the storage format. Readers then look it up in the
files; the next version states it.

Clauses: L.txn.op.migration
"""

from __future__ import annotations

from lanceref.file.versions import V0_1
from lanceref.proto import table_pb2
from lanceref.table.fragments import Fragment, parse_fragments
from lanceref.table.manifest import Manifest
from lanceref.txn.making import Making, storage_version_of


def migrate(making: Making) -> None:
    """Complete the fragments and the storage format. Raises FormatError for a file that lacks."""
    if making.before is None:
        return
    message = making.message
    actual = str(storage_version_of(making.before.message))
    if not message.HasField("data_format") or message.data_format.version == str(V0_1):
        message.data_format.file_format = "lance"
        message.data_format.version = actual
    for fragment in message.fragments:
        _complete(making, making.before, fragment)


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
