"""Next version: the manifest that a transaction makes of the one before, made and checked.

A compaction reserves the ids of its new fragments by a version of its own, so that it can write row
addresses into indices before its Rewrite. After a Restore the highest fragment id, the next row id
and the sticky flags are those of the latest version. Each of the four maps of an UpdateConfig is
edited by keys: those without a value are removed, and `replace` empties the map first.

A version carries its transaction, so that it can be made once more and compared with what is there.
Not compared are versions of older writers, which keep their transaction elsewhere, the first
version of a branch, a detached version, and a version whose predecessor is gone.

Clauses: L.table.naming.version, L.txn.op.known, L.txn.op.restore, L.table.fragments.max-id,
L.table.row-ids.next, L.table.flags.sticky, L.table.fragments.ids, L.table.row-versions.new,
L.table.format.version, L.txn.op.overwrite, L.txn.op.reserve, L.txn.op.rewrite,
L.txn.op.rewrite-index, L.table.fragments.order, L.txn.op.update-config, L.txn.op.update-bases,
L.txn.op.update-mem-wal, L.table.base.unique, L.txn.op.append, L.txn.op.delete, L.txn.op.update,
L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement, L.txn.op.create-index,
L.txn.op.index-fields, L.txn.op.index-dead, L.txn.op.update-index, L.table.row-versions.moved,
L.table.row-versions.updated, L.txn.rebase.read-version, L.txn.rebase.deletions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeVar

import numpy as np

from lanceref.core.context import Context
from lanceref.core.errors import CommitConflict, FormatError, LanceError, NotFound, OperationRefused
from lanceref.core.file_versions import V0_1
from lanceref.file.schema import parse_schema
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, Store
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.table.bases import free_id
from lanceref.table.data_files import check_whole
from lanceref.table.flags import STABLE_ROW_IDS, STICKY
from lanceref.table.lineage import STORED
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.transactions import fragment_operations, index_entries, manifest_builder
from lanceref.transactions.conflict import moves_fields
from lanceref.transactions.row_lineage import assign_row_ids, overlay, set_created

V = TypeVar("V", str, bytes)


def append(builder: manifest_builder.Builder) -> None:
    """Add the fragments of an Append. Raises SchemaRefused for files of 0.1 without all fields."""
    fragments = builder.transaction.append.fragments
    if manifest_builder.storage_version_of(builder.message) == V0_1:
        for fragment in fragments:
            ids = {one for file in fragment.files for one in file.fields}
            check_whole(builder.field_ids, ids)
    _add(builder, fragments)


def overwrite(builder: manifest_builder.Builder) -> None:
    """Put the fragments, schema and storage version of an Overwrite in place, under new ids."""
    staged, message = builder.staged, builder.message
    operation = builder.transaction.overwrite
    builder.indices.clear()
    builder.dictionaries = dict(staged.dictionaries)
    del message.fragments[:]
    if staged.schema is not None:
        builder.set_schema()
    message.data_format.file_format = "lance"
    message.data_format.version = str(staged.storage_version)
    message.config.update(operation.config_upsert_values)
    message.base_paths.extend(operation.initial_bases)
    added = list(map(manifest_builder.copy_of, operation.fragments))
    for fragment in added:
        fragment.ClearField("id")
    _add(builder, added)


def _add(builder: manifest_builder.Builder, fragments: Iterable[table_pb2.DataFragment]) -> None:
    """Add fragments under new ids; in a stable table their rows get ids and versions."""
    added = builder.new_ids(fragments)
    if builder.stable:
        for fragment in added:
            assign_row_ids(builder, fragment)
            set_created(builder, fragment)
    builder.message.fragments.extend(added)


def restore(builder: manifest_builder.Builder) -> None:
    """Put the content of an older version in place. Raises VersionNotFound."""
    old = builder.stored.manifest(builder.transaction.restore.version)
    latest, message = builder.message, manifest_builder.copy_of(old.message)
    message.version = latest.version
    message.next_row_id = max(message.next_row_id, latest.next_row_id)
    if latest.HasField("branch"):
        message.branch = latest.branch
    builder.message = message
    builder.indices = list(old.indices)
    builder.dictionaries = dict(old.dictionaries)
    if latest.HasField("max_fragment_id"):
        builder.note_id(latest.max_fragment_id)


def reserve_fragments(builder: manifest_builder.Builder) -> None:
    """Raise the highest fragment id by a number."""
    count, message = builder.transaction.reserve_fragments.num_fragments, builder.message
    highest = message.max_fragment_id if message.HasField("max_fragment_id") else -1
    if highest + count >= 0:
        message.max_fragment_id = highest + count


def rewrite(builder: manifest_builder.Builder) -> None:
    """Put the new fragments of each group in place of its old ones.

    Raises CommitConflict when an old one was removed, OperationRefused for new ones without row ids
    in a table that has them, or for a group that an index covers in part.
    """
    operation, groups = builder.transaction.rewrite, []
    index_entries.uncover_overlaid(builder)
    live = {one.id for one in builder.message.fragments}
    for group in operation.groups:
        old = [one.id for one in group.old_fragments]
        if not live.issuperset(old):
            version = builder.message.version - 1
            raise CommitConflict("rewrite", "one without its fragments", version, retryable=False)
        new = builder.new_ids(group.new_fragments)
        if builder.stable and any(one.WhichOneof("row_id_sequence") is None for one in new):
            raise OperationRefused("rewritten fragments of a table with stable row ids have none")
        remaining = [one for one in builder.message.fragments if one.id not in old]
        manifest_builder.assign(builder.message.fragments, [*remaining, *new])
        groups.append((old, [one.id for one in new]))
    if builder.stable:
        rewritten = {one.old_id.uuid for one in operation.rewritten_indices}
        index_entries.move_bitmaps(builder, groups, rewritten)
    index_entries.swap_rewritten(builder, operation.rewritten_indices, groups)
    reuse = builder.staged.reuse_index
    if reuse is not None:
        others = [one for one in builder.indices if one.name != manifest_builder.REUSE_INDEX]
        builder.indices[:] = [*others, reuse]


def update_config(builder: manifest_builder.Builder) -> None:
    """Edit the maps of an UpdateConfig. Raises OperationRefused for a field that does not exist."""
    edits, message = builder.transaction.update_config, builder.message
    if edits.HasField("config_updates"):
        _edit(message.config, edits.config_updates, str)
    if edits.HasField("table_metadata_updates"):
        _edit(message.table_metadata, edits.table_metadata_updates, str)
    if edits.HasField("schema_metadata_updates"):
        _edit(message.schema_metadata, edits.schema_metadata_updates, str.encode)
    by_id = {one.id: one for one in message.fields}
    for number, edit in edits.field_metadata_updates.items():
        if number not in by_id:
            raise OperationRefused(f"Field with id {number} does not exist")
        _edit(by_id[number].metadata, edit, str.encode)


def _edit(
    entries: MutableMapping[str, V], edit: Transaction.UpdateMap, stored: Callable[[str], V]
) -> None:
    if edit.replace:
        entries.clear()
    for entry in edit.update_entries:
        if entry.HasField("value"):
            entries[entry.key] = stored(entry.value)
        else:
            entries.pop(entry.key, None)


def update_bases(builder: manifest_builder.Builder) -> None:
    """Add base paths, each under a free id unless it has one. Raises OperationRefused."""
    bases = builder.message.base_paths
    for base in builder.transaction.update_bases.new_bases:
        for other in bases:
            named = base.HasField("name") and other.HasField("name") and base.name == other.name
            if base.id and base.id == other.id:
                raise OperationRefused(f"base id {base.id} exists already, of {other.path!r}")
            if named or base.path == other.path:
                raise OperationRefused(f"base path {base.name or base.path!r} exists already")
        added = manifest_builder.copy_of(base)
        added.id = added.id or free_id(bases, 1)
        bases.append(added)


OPERATIONS: dict[str, tuple[Callable[[manifest_builder.Builder], None], str]] = {
    "append": (append, "L.txn.op.append"),
    "delete": (fragment_operations.delete, "L.txn.op.delete"),
    "overwrite": (overwrite, "L.txn.op.overwrite"),
    "create_index": (index_entries.create_index, "L.txn.op.create-index"),
    "rewrite": (rewrite, "L.txn.op.rewrite"),
    "merge": (fragment_operations.merge, "L.txn.op.merge"),
    "restore": (restore, "L.txn.op.restore"),
    "reserve_fragments": (reserve_fragments, "L.txn.op.reserve"),
    "update": (fragment_operations.update, "L.txn.op.update"),
    "project": (fragment_operations.project, "L.txn.op.project"),
    "update_config": (update_config, "L.txn.op.update-config"),
    "data_replacement": (fragment_operations.replace_data, "L.txn.op.data-replacement"),
    "data_overlay": (overlay, "L.txn.op.data-overlay"),
    "update_mem_wal_state": (fragment_operations.update_mem_wal, "L.txn.op.update-mem-wal"),
    "update_bases": (update_bases, "L.txn.op.update-bases"),
}
"""What each operation does, and its clause; a Clone makes a table of its own instead."""


def encode_next(
    before: Manifest | None,
    staged: manifest_builder.Staged,
    stored: manifest_builder.StoredVersions,
    version: int | None = None,
) -> bytes:
    """Return the manifest file of the version after `before`, of version 1 without one.

    `version` is the number of a detached version.

    Raises NotFound for an operation that needs a table, OperationRefused for one that cannot be
    applied, SchemaRefused for files of 0.1 in a table of 2.x and the other way round.
    """
    # L.txn.op.known
    name = staged.transaction.WhichOneof("operation") or ""
    if name not in OPERATIONS:
        raise OperationRefused(f"operation {name!r} makes no next version")
    if before is None and name != "overwrite":
        raise NotFound("only Overwrite creates a table")
    builder = manifest_builder.begin(before, staged, stored)
    index_entries.bring_forward(builder.indices)
    if version is not None:
        builder.message.version = version
    operation, _ = OPERATIONS[name]
    operation(builder)
    fragment_operations.migrate(builder)
    return manifest_builder.finish(builder)


_INDEX_CLAUSES = {
    "delete": "L.txn.op.index-dead",
    "update": "L.txn.op.update-index",
    "data_replacement": "L.txn.op.update-index",
    "merge": "L.txn.op.index-fields",
    "project": "L.txn.op.index-fields",
    "rewrite": "L.txn.op.rewrite-index",
}
"""What operations on rows and columns make of the indices."""


def check_succession(store: Store, after: Manifest, ctx: Context) -> None:
    """Report where a version differs from what its transaction makes of the version before."""
    transaction = after.transaction
    name = "" if transaction is None else transaction.WhichOneof("operation") or ""
    by_today = after.message.HasField("transaction_section") and not after.version & DETACHED
    if transaction is None or name not in OPERATIONS or not by_today or after.version == 1:
        return
    stored = manifest_builder.StoredVersions(store, Context(ctx.file, limits=ctx.limits))
    try:
        before = stored.manifest(after.version - 1)
    except LanceError:  # removed, or broken by itself
        return
    if name in ("delete", "update") and transaction.read_version != before.version:
        found = f"read version {transaction.read_version}"
        ctx.lint("L.txn.rebase.read-version", after.place, found, before.version)
    try:
        _check_rows(transaction.update, after, stored)
        if name not in ("overwrite", "restore"):
            _check_deletions(before, after, stored, ctx)
        data = encode_next(before, _staged(transaction, after), stored)
    except (FormatError, NotFound):  # what it would look up is broken or was removed
        return
    except LanceError as refusal:
        ctx.lint(OPERATIONS[name][1], after.place, str(refusal), "what fits the table")
        return
    remade = open_manifest(BytesSource(data), Context(ctx.file, limits=ctx.limits))
    expected, actual = _facts(remade, stored), _facts(after, stored)
    for what in expected:
        if expected[what] != actual[what]:
            wanted = f"{expected[what]!s:.200}, as the {name} makes of version {before.version}"
            clause = _clause(transaction, name, what)
            ctx.lint(clause, after.place, f"{what} {actual[what]!s:.200}", wanted)


def _check_rows(
    update: Transaction.Update, after: Manifest, stored: manifest_builder.StoredVersions
) -> None:
    """Raise OperationRefused for a new fragment of more rows than the files of the version have."""
    claimed = max((one.physical_rows for one in update.new_fragments), default=0)
    sizes = (stored.rows(after, one).columns.physical_rows for one in after.fragments)
    if claimed and claimed > sum(sizes):
        raise OperationRefused(f"a new fragment of {claimed} rows, more than the files have")


def _check_deletions(
    before: Manifest, after: Manifest, stored: manifest_builder.StoredVersions, ctx: Context
) -> None:
    """Report a row that was deleted and is live again. Raises FormatError."""
    # L.txn.rebase.deletions
    earlier = {one.id: one for one in before.fragments}
    for fragment in after.fragments:
        held = earlier.get(fragment.id)
        if held is None or held.deletion_file in (None, fragment.deletion_file):
            continue
        rows, remaining = (stored.rows(*one).deleted for one in ((before, held), (after, fragment)))
        live = np.setdiff1d(rows, remaining)
        if len(live):
            found = f"row {live[0]} of fragment {fragment.id}, which was deleted, is live again"
            ctx.lint("L.txn.rebase.deletions", after.place, found, "the deletions of both")


def _staged(transaction: Transaction, after: Manifest) -> manifest_builder.Staged:
    """Return the transaction with what its message lacks: metadata, the storage version."""
    name = transaction.WhichOneof("operation")
    if name not in ("overwrite", "merge", "project"):
        return manifest_builder.Staged(transaction)
    ctx = Context("transaction")
    fields = getattr(transaction, name).schema
    schema = parse_schema(fields, dict(after.message.schema_metadata), ctx, ctx.at(0))
    version = manifest_builder.storage_version_of(after.message)
    return manifest_builder.Staged(transaction, schema, version)


def _clause(transaction: Transaction, name: str, what: str) -> str:
    """Return the clause about what an operation does to one part of a version."""
    if what == "flags":
        return "L.table.flags.sticky"
    if what == "indices":
        return _INDEX_CLAUSES.get(name, OPERATIONS[name][1])
    if what != "lineage" or name in ("rewrite", "restore"):
        return OPERATIONS[name][1]
    if name in ("append", "overwrite"):
        return "L.table.row-versions.new"
    moves = name == "update" and not moves_fields(transaction)
    return "L.table.row-versions.moved" if moves else "L.table.row-versions.updated"


def _facts(manifest: Manifest, stored: manifest_builder.StoredVersions) -> dict[str, object]:
    """Return the parts of a version that its transaction decides, in a form that compares."""
    message = manifest.message
    stable = manifest.fragments if message.reader_feature_flags & STABLE_ROW_IDS else ()
    lineage = (stored.lineage(manifest, one, name) for one in stable for name in STORED)
    indices = []
    for one in manifest.indices:
        if one.name != manifest_builder.REUSE_INDEX:  # it is no part of a transaction
            bitmap = index_entries.covered(one)
            fragments = None if bitmap is None else sorted(bitmap)
            indices.append((one.uuid.uuid.hex(), one.name, list(one.fields), fragments))
    bases = [(one.id, one.name, one.path, one.is_dataset_root) for one in message.base_paths]
    return {
        "fragments": [_fragment(one) for one in message.fragments],
        "fields": [(one.id, one.parent_id, one.name, one.logical_type) for one in message.fields],
        "highest fragment": message.max_fragment_id,  # 0 is absent where an old release began
        "next row id": message.next_row_id,
        "config": dict(message.config),
        "table metadata": dict(message.table_metadata),
        "schema metadata": dict(message.schema_metadata),
        "field metadata": {one.id: dict(one.metadata) for one in message.fields},
        "bases": sorted(bases),
        "indices": sorted(indices, key=lambda entry: entry[0]),
        "flags": message.reader_feature_flags & STICKY,
        "lineage": [numbers.tolist() for numbers in lineage],
    }


def _fragment(fragment: table_pb2.DataFragment) -> tuple[object, ...]:
    files = [(one.path, *one.fields) for one in fragment.files]
    pairs = ((one.committed_version, one.data_file) for one in fragment.overlays)
    overlays = [(version, file.path, *file.fields) for version, file in pairs]
    entry = fragment.deletion_file
    deleted = (entry.read_version, entry.id, entry.num_deleted_rows)
    deletions = deleted if fragment.HasField("deletion_file") else None
    return fragment.id, fragment.physical_rows, files, overlays, deletions
