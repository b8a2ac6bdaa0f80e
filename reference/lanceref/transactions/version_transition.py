"""Succession: whether a version is what its transaction makes of the version before.

A version carries its transaction, so that it can be made once more out of the version before and
held against what is there. Versions of older writers, which did some of this otherwise, are passed
over: they are known by where they keep their transaction. So are the first version of a branch, a
detached version, and a version whose predecessor is gone.

Clauses: L.txn.op.append, L.txn.op.overwrite, L.txn.op.delete, L.txn.op.update, L.txn.op.rewrite,
L.txn.op.reserve, L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement,
L.txn.op.create-index, L.txn.op.index-fields, L.txn.op.index-dead, L.txn.op.update-index,
L.txn.op.rewrite-index, L.txn.op.update-config, L.txn.op.update-bases, L.txn.op.update-mem-wal,
L.txn.op.restore, L.table.flags.sticky, L.table.row-versions.new, L.table.row-versions.moved,
L.table.row-versions.updated, L.txn.rebase.read-version
"""

from __future__ import annotations

from collections.abc import Iterable

from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, NotFound
from lanceref.file.schema import parse_schema
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, Store
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.table.flags import STABLE_ROW_IDS, STICKY
from lanceref.table.fragments import Fragment
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.transactions.apply import OPERATIONS, encode_next
from lanceref.transactions.change_rows import REWRITE_COLUMNS
from lanceref.transactions.index_entries import covered
from lanceref.transactions.manifest_builder import (
    REUSE_INDEX,
    Staged,
    StoredPast,
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
    past = StoredPast(store, Context(ctx.file, limits=ctx.limits))
    try:
        before = past.manifest(after.version - 1)
    except LanceError:  # gone, or broken by itself
        return
    _check_read_version(before, after, transaction, ctx)
    try:
        data = encode_next(before, _staged(transaction, after), past)
    except (FormatError, NotFound):  # what it would look up is broken, or gone
        return
    except LanceError as refusal:
        ctx.lint(_CLAUSES[name], after.place, found=str(refusal), wanted="what fits the table")
        return
    made = open_manifest(BytesSource(data), Context(ctx.file, limits=ctx.limits))
    expected, held = _facts(made, past), _facts(after, past)
    for what in expected:
        if expected[what] != held[what]:
            ctx.lint(
                _clause(transaction, name, what),
                after.place,
                found=f"{what} {_shown(held[what])}",
                wanted=f"{_shown(expected[what])}, as the {name} makes of version {before.version}",
            )


def _staged(transaction: Transaction, after: Manifest) -> Staged:
    """Return the transaction with what it does not say of itself: metadata, the storage version."""
    name = transaction.WhichOneof("operation")
    if name not in ("overwrite", "merge", "project"):
        return Staged(transaction)
    ctx = Context("transaction")
    fields = getattr(transaction, name).schema
    schema = parse_schema(fields, dict(after.message.schema_metadata), ctx, ctx.at(0))
    return Staged(transaction, schema, storage_version_of(after.message))


def _check_read_version(
    before: Manifest, after: Manifest, transaction: Transaction, ctx: Context
) -> None:
    """A Delete or Update is of the version it is built on."""
    if transaction.WhichOneof("operation") not in _REBASED:
        return
    if transaction.read_version != before.version:
        ctx.lint(
            "L.txn.rebase.read-version",
            after.place,
            found=f"read version {transaction.read_version}",
            wanted=f"{before.version}, the version before",
        )


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


def _facts(manifest: Manifest, past: StoredPast) -> dict[str, object]:
    """Return the parts of a version that its transaction decides, in a form that compares."""
    message = manifest.message
    stable = message.reader_feature_flags & STABLE_ROW_IDS
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
        "indices": _indices(manifest.indices),
        "flags": message.reader_feature_flags & STICKY,
        "lineage": [_lineage(manifest, one, past) for one in manifest.fragments] if stable else [],
    }


def _fragment(held: table_pb2.DataFragment) -> tuple[object, ...]:
    files = [(one.path, *one.fields) for one in held.files]
    overlays = [
        (one.committed_version, one.data_file.path, *one.data_file.fields) for one in held.overlays
    ]
    entry = held.deletion_file
    deleted = (entry.read_version, entry.id, entry.num_deleted_rows)
    gone = deleted if held.HasField("deletion_file") else None
    return held.id, held.physical_rows, files, overlays, gone


def _indices(entries: Iterable[table_pb2.IndexMetadata]) -> list[tuple[object, ...]]:
    """Return entries by uuid; what says where rows went is no part of a transaction."""
    found = []
    for one in entries:
        if one.name != REUSE_INDEX:
            bitmap = covered(one)
            held = None if bitmap is None else sorted(bitmap)
            found.append((one.uuid.uuid.hex(), one.name, list(one.fields), held))
    return sorted(found, key=lambda entry: str(entry[0]))


def _lineage(manifest: Manifest, fragment: Fragment, past: StoredPast) -> list[list[int]]:
    names = (ROW_ID, CREATED_AT, LAST_UPDATED_AT)
    return [past.lineage(manifest, fragment, name).tolist() for name in names]


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
