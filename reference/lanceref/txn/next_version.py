"""Next version: the manifest that a transaction makes out of the one before.

Fragments get their ids here, and in tables with stable row ids their rows theirs: what a
transaction lists has neither, so that it can follow any version.

Clauses: L.table.fragments.ids, L.table.fragments.order, L.table.fragments.max-id,
L.table.fragments.max-id-present, L.table.row-ids.next, L.table.naming.version,
L.table.format.version, L.table.flags.content
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from lanceref.errors import AppendRefused
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_write import schema_message
from lanceref.file.versions import FROM_WORDS, V0_1, V2_0, FileVersion
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.flags import (
    MIXED_DATA_FILE_VERSIONS,
    STABLE_ROW_IDS,
    STICKY,
    USE_V2_FORMAT,
    WITH_INDICES,
    set_flags,
)
from lanceref.table.manifest import STORAGE_VERSIONS, Manifest
from lanceref.table.manifest_write import encode_manifest, stamp
from lanceref.table.row_ids import encode_row_ids, encode_versions
from lanceref.txn.transaction import transaction_name

WRITER = table_pb2.Manifest.WriterVersion(library="lanceref", version="0.1.0")
"""What a manifest says has written it."""


@dataclass(frozen=True, slots=True)
class Staged:
    """An Append or Overwrite that waits for its commit.

    `schema` (with its metadata) and `storage_version` are those an Overwrite gives the table;
    `dictionaries` are the values by field id of a table of 0.1.
    """

    transaction: Transaction
    schema: LanceSchema
    storage_version: FileVersion
    stable_row_ids: bool = False
    dictionaries: Mapping[int, pa.Array] = field(default_factory=dict)


def storage_version_of(manifest: Manifest) -> FileVersion:
    """Return the version that new files of a table have; very old manifests say it by a flag."""
    named = STORAGE_VERSIONS.get(manifest.storage_version)
    if named is not None:
        return named
    return V2_0 if manifest.message.reader_feature_flags & USE_V2_FORMAT else V0_1


def encode_next(before: Manifest | None, staged: Staged) -> bytes:
    """Return the manifest file of the version after `before`, of version 1 without one.

    Raises AppendRefused for files of 0.1 in a table of 2.x and the other way round.
    """
    if staged.transaction.HasField("append"):
        assert before is not None
        message, indices = _append(before, staged.transaction), before.indices
        dictionaries = {**before.dictionaries, **staged.dictionaries}
    else:
        message, indices = _overwrite(before, staged), ()
        dictionaries = dict(staged.dictionaries)
    message.transaction_file = transaction_name(staged.transaction)
    message.writer_version.CopyFrom(WRITER)
    message.ClearField("tag")
    stamp(message)
    return encode_manifest(message, staged.transaction, indices, dictionaries)


def _append(before: Manifest, transaction: Transaction) -> table_pb2.Manifest:
    message = table_pb2.Manifest()
    message.CopyFrom(before.message)
    message.version = before.version + 1
    kept = before.message.reader_feature_flags & (STABLE_ROW_IDS | STICKY | WITH_INDICES)
    kept |= _mixed(transaction.append.fragments, storage_version_of(before))
    _add_fragments(message, transaction.append.fragments, bool(kept & STABLE_ROW_IDS))
    set_flags(message, kept)
    return message


def _mixed(fragments: Iterable[table_pb2.DataFragment], own: FileVersion) -> int:
    """Return the flag for files of several versions if it is needed. Raises AppendRefused."""
    flag = 0
    for file in (file for fragment in fragments for file in fragment.files):
        version = FROM_WORDS.get((file.file_major_version, file.file_minor_version))
        if version is None or (version == V0_1) != (own == V0_1):
            raise AppendRefused(
                f"cannot append data files in version {version} to a dataset with default "
                f"version {own}: V1 and V2 storage versions cannot be mixed"
            )
        if version != own:
            flag = MIXED_DATA_FILE_VERSIONS
    return flag


def _overwrite(before: Manifest | None, staged: Staged) -> table_pb2.Manifest:
    message = table_pb2.Manifest(version=1)
    kept = STABLE_ROW_IDS if staged.stable_row_ids and before is None else 0
    if before is not None:
        message.CopyFrom(before.message)
        message.version = before.version + 1
        _note_max_fragment(message)
        kept = before.message.reader_feature_flags & (STABLE_ROW_IDS | STICKY)
    for name in ("fields", "fragments", "schema_metadata"):
        message.ClearField(name)
    schema = schema_message(staged.schema)
    message.fields.extend(schema.fields)
    for key, value in schema.metadata.items():
        message.schema_metadata[key] = value
    message.data_format.file_format = "lance"
    message.data_format.version = str(staged.storage_version)
    for key, text in staged.transaction.overwrite.config_upsert_values.items():
        message.config[key] = text
    kept |= _mixed(staged.transaction.overwrite.fragments, staged.storage_version)
    _add_fragments(message, staged.transaction.overwrite.fragments, bool(kept & STABLE_ROW_IDS))
    set_flags(message, kept)
    return message


def _note_max_fragment(message: table_pb2.Manifest) -> None:
    """Write down the highest fragment id where an older writer did not."""
    highest = max((fragment.id for fragment in message.fragments), default=None)
    if highest is not None and highest >= message.max_fragment_id:
        message.max_fragment_id = highest


def _add_fragments(
    message: table_pb2.Manifest, new: Iterable[table_pb2.DataFragment], stable: bool
) -> None:
    """Add fragments under new ids; in a stable table their rows get ids and versions."""
    _note_max_fragment(message)
    has_max = message.HasField("max_fragment_id")
    next_id = message.max_fragment_id + 1 if has_max else 0
    for fragment in new:
        added = message.fragments.add()
        added.CopyFrom(fragment)
        added.id, next_id = next_id, next_id + 1
        message.max_fragment_id = added.id
        if stable:
            end = message.next_row_id + fragment.physical_rows
            added.inline_row_ids = encode_row_ids(message.next_row_id, end)
            versions = encode_versions(fragment.physical_rows, message.version)
            added.inline_created_at_versions = versions
            added.inline_last_updated_at_versions = versions
            message.next_row_id = end
