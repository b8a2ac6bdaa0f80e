"""Next version: the manifest that a transaction makes of the one before.

Append and Overwrite add new fragments, an Overwrite in place of all old ones. A Rewrite puts the
same rows into other fragments; a compaction first reserves their ids by a version of its own, so
that it can write row addresses into indices before it commits. A Restore takes fragments, schema,
indices, settings and bases of an older version; the highest fragment id, the next row id and the
sticky flags never go back. UpdateConfig and UpdateBases keep rows and columns: each of four maps
(config, table metadata, schema metadata, metadata of a field) is edited by keys, those without a
value are removed, and `replace` empties the map first.

Clauses: L.table.naming.version, L.txn.op.known, L.txn.op.restore, L.table.fragments.max-id,
L.table.row-ids.next, L.table.flags.sticky, L.table.fragments.ids, L.table.row-versions.new,
L.table.format.version, L.txn.op.overwrite, L.txn.op.reserve, L.txn.op.rewrite,
L.txn.op.rewrite-index, L.table.fragments.order, L.txn.op.update-config, L.txn.op.update-bases,
L.txn.op.update-mem-wal, L.table.base.unique
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping

from lanceref.core.errors import CommitConflict, NotFound, OperationRefused
from lanceref.core.file_versions import V0_1
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.data_files import check_whole
from lanceref.table.manifest import Manifest
from lanceref.transactions.change_rows import delete, update, update_mem_wal
from lanceref.transactions.index_entries import (
    bring_forward,
    create_index,
    move_bitmaps,
    swap_rewritten,
    take_overlaid,
)
from lanceref.transactions.manifest_builder import (
    REUSE_INDEX,
    Builder,
    Staged,
    StoredVersions,
    assign,
    begin,
    copy_of,
    finish,
    storage_version_of,
)
from lanceref.transactions.row_lineage import identify, overlay, set_born
from lanceref.transactions.schema_operations import merge, migrate, project, replace_data


def append(builder: Builder) -> None:
    """Add the fragments of an Append. Raises AppendRefused for files of 0.1 without all fields."""
    given = builder.transaction.append.fragments
    if storage_version_of(builder.message) == V0_1:
        for fragment in given:
            held = {one for file in fragment.files for one in file.fields}
            check_whole(builder.field_ids, held)
    _add(builder, given)


def overwrite(builder: Builder) -> None:
    """Put the fragments, schema and storage version of an Overwrite in place of the old ones."""
    staged, message = builder.staged, builder.message
    given = builder.transaction.overwrite
    builder.indices.clear()
    builder.dictionaries = dict(staged.dictionaries)
    del message.fragments[:]
    if staged.schema is not None:
        builder.set_schema()
    message.data_format.file_format = "lance"
    message.data_format.version = str(staged.storage_version)
    message.config.update(given.config_upsert_values)
    message.base_paths.extend(given.initial_bases)
    _add(builder, given.fragments)


def _add(builder: Builder, fragments: Iterable[table_pb2.DataFragment]) -> None:
    """Add fragments under new ids; in a stable table their rows get ids and versions."""
    added = builder.new_ids(fragments)
    if builder.stable:
        for fragment in added:
            identify(builder, fragment)
            set_born(builder, fragment)
    builder.message.fragments.extend(added)


def restore(builder: Builder) -> None:
    """Put the content of an older version in place. Raises VersionNotFound."""
    old = builder.stored.manifest(builder.transaction.restore.version)
    latest, message = builder.message, copy_of(old.message)
    message.version = latest.version
    message.next_row_id = max(message.next_row_id, latest.next_row_id)
    if latest.HasField("branch"):
        message.branch = latest.branch
    builder.message = message
    builder.indices = list(old.indices)
    builder.dictionaries = dict(old.dictionaries)
    if latest.HasField("max_fragment_id"):
        builder.note_id(latest.max_fragment_id)


def reserve_fragments(builder: Builder) -> None:
    """Raise the highest fragment id by a number."""
    count, message = builder.transaction.reserve_fragments.num_fragments, builder.message
    highest = message.max_fragment_id if message.HasField("max_fragment_id") else -1
    if highest + count >= 0:
        message.max_fragment_id = highest + count


def rewrite(builder: Builder) -> None:
    """Put the new fragments of each group in place of its old ones.

    Raises CommitConflict when an old one is gone, OperationRefused for new ones without row ids in
    a table that has them, or for a group that an index covers in part.
    """
    given, groups = builder.transaction.rewrite, []
    take_overlaid(builder)
    live = {one.id for one in builder.message.fragments}
    for group in given.groups:
        old = [one.id for one in group.old_fragments]
        if not live.issuperset(old):
            version = builder.message.version - 1
            raise CommitConflict("rewrite", "one without its fragments", version, retryable=False)
        new = builder.new_ids(group.new_fragments)
        if builder.stable and any(one.WhichOneof("row_id_sequence") is None for one in new):
            raise OperationRefused("rewritten fragments of a table with stable row ids have none")
        kept = [one for one in builder.message.fragments if one.id not in old]
        assign(builder.message.fragments, [*kept, *new])
        groups.append((old, [one.id for one in new]))
    if builder.stable:
        move_bitmaps(builder, groups, {one.old_id.uuid for one in given.rewritten_indices})
    swap_rewritten(builder, given.rewritten_indices, groups)
    reuse = builder.staged.reuse_index
    if reuse is not None:
        others = [one for one in builder.indices if one.name != REUSE_INDEX]
        builder.indices[:] = [*others, reuse]


def update_config(builder: Builder) -> None:
    """Edit the maps of an UpdateConfig. Raises OperationRefused for a field that does not exist."""
    given, message = builder.transaction.update_config, builder.message
    if given.HasField("config_updates"):
        _edit(message.config, given.config_updates)
    if given.HasField("table_metadata_updates"):
        _edit(message.table_metadata, given.table_metadata_updates)
    if given.HasField("schema_metadata_updates"):
        _edit_bytes(message.schema_metadata, given.schema_metadata_updates)
    by_id = {one.id: one for one in message.fields}
    for number, edit in given.field_metadata_updates.items():
        if number not in by_id:
            raise OperationRefused(f"Field with id {number} does not exist")
        _edit_bytes(by_id[number].metadata, edit)


def _edit(held: MutableMapping[str, str], edit: Transaction.UpdateMap) -> None:
    if edit.replace:
        held.clear()
    for entry in edit.update_entries:
        if entry.HasField("value"):
            held[entry.key] = entry.value
        else:
            held.pop(entry.key, None)


def _edit_bytes(held: MutableMapping[str, bytes], edit: Transaction.UpdateMap) -> None:
    texts = {key: value.decode() for key, value in held.items()}
    _edit(texts, edit)
    held.clear()
    held.update({key: text.encode() for key, text in texts.items()})


def update_bases(builder: Builder) -> None:
    """Add base paths under ids of their own. Raises OperationRefused for one there is."""
    held = builder.message.base_paths
    next_id = max((one.id for one in held), default=0) + 1
    for base in builder.transaction.update_bases.new_bases:
        for other in held:
            named = base.HasField("name") and other.HasField("name") and base.name == other.name
            if named or base.path == other.path or (base.id and base.id == other.id):
                raise OperationRefused(f"base path {base.name or base.path!r} exists already")
        added = copy_of(base)
        if not added.id:
            added.id, next_id = next_id, next_id + 1
        held.append(added)


OPERATIONS: dict[str, Callable[[Builder], None]] = {
    "append": append,
    "delete": delete,
    "overwrite": overwrite,
    "create_index": create_index,
    "rewrite": rewrite,
    "merge": merge,
    "restore": restore,
    "reserve_fragments": reserve_fragments,
    "update": update,
    "project": project,
    "update_config": update_config,
    "data_replacement": replace_data,
    "data_overlay": overlay,
    "update_mem_wal_state": update_mem_wal,
    "update_bases": update_bases,
}
"""What each operation does; a Clone makes a table of its own instead."""


def encode_next(
    before: Manifest | None, staged: Staged, stored: StoredVersions, version: int | None = None
) -> bytes:
    """Return the manifest file of the version after `before`, of version 1 without one.

    `version` is the number of a detached version.

    Raises NotFound for an operation that needs a table, OperationRefused for one that cannot be
    applied, AppendRefused for files of 0.1 in a table of 2.x and the other way round.
    """
    name = staged.transaction.WhichOneof("operation") or ""
    if name not in OPERATIONS:
        raise OperationRefused(f"operation {name!r} makes no next version")
    if before is None and name != "overwrite":
        raise NotFound("only Overwrite creates a table")
    builder = begin(before, staged, stored)
    bring_forward(builder.indices)
    if version is not None:
        builder.message.version = version
    OPERATIONS[name](builder)
    migrate(builder)
    return finish(builder)
