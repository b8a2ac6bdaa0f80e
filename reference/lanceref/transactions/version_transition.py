"""Version transition: whether a version is what its transaction makes of the version before.

A version carries its transaction, so that it can be made once more out of the version before and
compared with what is there. Versions of older writers, which did some of this otherwise, are
skipped: they keep their transaction elsewhere. So are the first version of a branch, a detached
version, and a version whose predecessor is gone.

Clauses: L.txn.op.append, L.txn.op.overwrite, L.txn.op.delete, L.txn.op.update, L.txn.op.rewrite,
L.txn.op.reserve, L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement,
L.txn.op.create-index, L.txn.op.index-fields, L.txn.op.index-dead, L.txn.op.update-index,
L.txn.op.rewrite-index, L.txn.op.update-config, L.txn.op.update-bases, L.txn.op.update-mem-wal,
L.txn.op.restore, L.table.flags.sticky, L.table.row-versions.new, L.table.row-versions.moved,
L.table.row-versions.updated, L.txn.rebase.read-version
"""

from __future__ import annotations

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, NotFound
from lanceref.file.schema import parse_schema
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, Store
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.table.flags import STABLE_ROW_IDS, STICKY
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.transactions.apply import OPERATIONS, encode_next
from lanceref.transactions.change_rows import REWRITE_COLUMNS
from lanceref.transactions.index_entries import covered
from lanceref.transactions.manifest_builder import (
    REUSE_INDEX,
    Staged,
    StoredVersions,
    storage_version_of,
)

_CLAUSES = {
    "append": "L.txn.op.append",
    "delete": "L.txn.op.delete",
    "overwrite": "L.txn.op.overwrite",
    "create_index": "L.txn.op.create-index",
    "rewrite": "L.txn.op.rewrite",
    "merge": "L.txn.op.merge",
    "restore": "L.txn.op.restore",
    "reserve_fragments": "L.txn.op.reserve",
    "update": "L.txn.op.update",
    "project": "L.txn.op.project",
    "update_config": "L.txn.op.update-config",
    "data_replacement": "L.txn.op.data-replacement",
    "data_overlay": "L.txn.op.data-overlay",
    "update_mem_wal_state": "L.txn.op.update-mem-wal",
    "update_bases": "L.txn.op.update-bases",
}
"""What each operation makes of the version before."""

_INDEX_CLAUSES = {
    "delete": "L.txn.op.index-dead",
    "update": "L.txn.op.update-index",
    "data_replacement": "L.txn.op.update-index",
    "merge": "L.txn.op.index-fields",
    "project": "L.txn.op.index-fields",
    "rewrite": "L.txn.op.rewrite-index",
}
"""What operations on rows and columns make of the indices."""

_REBASED = ("delete", "update")
"""Operations whose read version is that of the version they are built on."""


def check_succession(store: Store, after: Manifest, ctx: Context) -> None:
    """Report where a version differs from what its transaction makes of the version before."""
    transaction = after.transaction
    name = "" if transaction is None else transaction.WhichOneof("operation") or ""
    by_today = after.message.HasField("transaction_section") and not after.version & DETACHED
    if transaction is None or name not in OPERATIONS or not by_today or after.version == 1:
        return
    stored = StoredVersions(store, Context(ctx.file, limits=ctx.limits))
    try:
        before = stored.manifest(after.version - 1)
    except LanceError:  # gone, or broken by itself
        return
    if name in _REBASED and transaction.read_version != before.version:
        found = f"read version {transaction.read_version}"
        ctx.lint("L.txn.rebase.read-version", after.place, found, before.version)
    try:
        data = encode_next(before, _staged(transaction, after), stored)
    except (FormatError, NotFound):  # what it would look up is broken, or gone
        return
    except LanceError as refusal:
        ctx.lint(_CLAUSES[name], after.place, str(refusal), "what fits the table")
        return
    made = open_manifest(BytesSource(data), Context(ctx.file, limits=ctx.limits))
    expected, held = _facts(made, stored), _facts(after, stored)
    for what in expected:
        if expected[what] != held[what]:
            wanted = f"{expected[what]!s:.200}, as the {name} makes of version {before.version}"
            clause = _clause(transaction, name, what)
            ctx.lint(clause, after.place, f"{what} {held[what]!s:.200}", wanted)


def _staged(transaction: Transaction, after: Manifest) -> Staged:
    """Return the transaction with what its message lacks: metadata, the storage version."""
    name = transaction.WhichOneof("operation")
    if name not in ("overwrite", "merge", "project"):
        return Staged(transaction)
    ctx = Context("transaction")
    fields = getattr(transaction, name).schema
    schema = parse_schema(fields, dict(after.message.schema_metadata), ctx, ctx.at(0))
    return Staged(transaction, schema, storage_version_of(after.message))


def _clause(transaction: Transaction, name: str, what: str) -> str:
    """Return the clause that says what an operation does to one part of a version."""
    if what == "flags":
        return "L.table.flags.sticky"
    if what == "indices":
        return _INDEX_CLAUSES.get(name, _CLAUSES[name])
    if what != "lineage" or name in ("rewrite", "restore"):
        return _CLAUSES[name]
    if name in ("append", "overwrite"):
        return "L.table.row-versions.new"
    moves = name == "update" and transaction.update.update_mode != REWRITE_COLUMNS
    return "L.table.row-versions.moved" if moves else "L.table.row-versions.updated"


def _facts(manifest: Manifest, stored: StoredVersions) -> dict[str, object]:
    """Return the parts of a version that its transaction decides, in a form that compares."""
    message = manifest.message
    names = (ROW_ID, CREATED_AT, LAST_UPDATED_AT)
    stable = manifest.fragments if message.reader_feature_flags & STABLE_ROW_IDS else ()
    indices = []
    for one in manifest.indices:
        if one.name != REUSE_INDEX:  # what says where rows went is no part of a transaction
            bitmap = covered(one)
            held = None if bitmap is None else sorted(bitmap)
            indices.append((one.uuid.uuid.hex(), one.name, list(one.fields), held))
    return {
        "fragments": [_fragment(one) for one in message.fragments],
        "fields": [(one.id, one.parent_id, one.name, one.logical_type) for one in message.fields],
        "highest fragment": message.max_fragment_id if message.HasField("max_fragment_id") else -1,
        "next row id": message.next_row_id,
        "config": dict(message.config),
        "table metadata": dict(message.table_metadata),
        "schema metadata": dict(message.schema_metadata),
        "field metadata": {one.id: dict(one.metadata) for one in message.fields},
        "bases": [(one.id, one.name, one.path, one.is_dataset_root) for one in message.base_paths],
        "indices": sorted(indices, key=lambda entry: entry[0]),
        "flags": message.reader_feature_flags & STICKY,
        "lineage": [
            stored.lineage(manifest, fragment, name).tolist()
            for fragment in stable
            for name in names
        ],
    }


def _fragment(held: table_pb2.DataFragment) -> tuple[object, ...]:
    files = [(one.path, *one.fields) for one in held.files]
    overlays = [
        (one.committed_version, one.data_file.path, *one.data_file.fields) for one in held.overlays
    ]
    entry = held.deletion_file
    deleted = (entry.read_version, entry.id, entry.num_deleted_rows)
    deletions = deleted if held.HasField("deletion_file") else None
    return held.id, held.physical_rows, files, overlays, deletions
