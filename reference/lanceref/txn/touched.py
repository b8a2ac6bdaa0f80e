"""Touched: what of a table a transaction changes, as its message says.

Clauses: L.txn.conflict.fragments, L.txn.conflict.columns, L.txn.conflict.settings,
L.txn.conflict.keys
"""

from __future__ import annotations

from pyroaring import BitMap

from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.roaring import parse_bitmap

ConfigKey = tuple[str, int | None, str]
"""Map, field id for field metadata, key."""


def fragments_of(transaction: Transaction) -> BitMap:
    """Return the ids of fragments that are updated, removed or rewritten."""
    operation = transaction.WhichOneof("operation")
    ids: list[int] = []
    if operation == "delete":
        ids = [one.id for one in transaction.delete.updated_fragments]
    elif operation == "update":
        ids = [one.id for one in transaction.update.updated_fragments]
    elif operation == "rewrite":
        groups = transaction.rewrite.groups
        ids = [one.id for group in groups for one in group.old_fragments]
    elif operation == "data_replacement":
        ids = [one.fragment_id for one in transaction.data_replacement.replacements]
    elif operation == "data_overlay":
        ids = [one.fragment_id for one in transaction.data_overlay.groups]
    return BitMap(ids) | removed_fragments(transaction)


def removed_fragments(transaction: Transaction) -> BitMap:
    """Return the ids of fragments whose rows a Delete or Update takes out altogether."""
    if transaction.HasField("delete"):
        return BitMap(transaction.delete.deleted_fragment_ids)
    return BitMap(transaction.update.removed_fragment_ids)


def moves_fields(transaction: Transaction) -> bool:
    """Whether it is an Update in columns mode."""
    mode = transaction.update.update_mode
    return transaction.HasField("update") and mode == Transaction.Update.REWRITE_COLUMNS


def field_columns(transaction: Transaction) -> set[tuple[int, int]]:
    """Return (fragment id, field id) of the columns that get other files."""
    if transaction.HasField("data_replacement"):
        return {
            (one.fragment_id, field)
            for one in transaction.data_replacement.replacements
            for field in one.new_file.fields
        }
    if transaction.HasField("data_overlay"):
        return {
            (group.fragment_id, field)
            for group in transaction.data_overlay.groups
            for one in group.overlays
            for field in one.data_file.fields
        }
    update = transaction.update
    return {(one.id, field) for one in update.updated_fragments for field in update.fields_modified}


def indexed_fields(created: Transaction.CreateIndex) -> set[int]:
    """Return the ids of the fields that new indices are over."""
    return {field for index in created.new_indices for field in index.fields}


def bitmaps_of(created: Transaction.CreateIndex) -> list[BitMap | None]:
    """Return the fragments each new index covers; None when an entry does not say.

    Raises FormatError.
    """
    return [
        _bitmap(one.fragment_bitmap) if one.fragment_bitmap else None for one in created.new_indices
    ]


def _bitmap(data: bytes) -> BitMap:
    return BitMap(parse_bitmap(Cursor(memoryview(data), 0, Context("transaction"))))


def may_insert_same(ours: Transaction, theirs: Transaction) -> bool:
    """Whether an Update that lists the keys it inserts may insert one that `theirs` inserted.

    So it may where `theirs` inserted rows and does not say which.
    """
    if not ours.update.HasField("inserted_rows"):
        return False
    if not theirs.update.HasField("inserted_rows"):
        return theirs.HasField("append") or theirs.HasField("update")
    own, other = ours.update.inserted_rows, theirs.update.inserted_rows
    if own.field_ids != other.field_ids:
        return True
    if own.HasField("exact") and other.HasField("exact"):
        return bool(set(own.exact.key_hashes) & set(other.exact.key_hashes))
    one, two = own.bloom.bitmap, other.bloom.bitmap
    if not one or len(one) != len(two):
        return True
    return any(left & right for left, right in zip(one, two, strict=True))


def names_of_bases(update: Transaction.UpdateBases) -> set[str]:
    """Return what identifies the bases that are added: their names and paths."""
    names = {f"name {one.name}" for one in update.new_bases if one.HasField("name")}
    return names | {f"path {one.path}" for one in update.new_bases}


def config_keys(update: Transaction.UpdateConfig) -> set[ConfigKey]:
    """Return the keys that are edited; of a map that is replaced, those that are set."""
    keys: set[ConfigKey] = set()
    maps = (("config", "config_updates"), ("table", "table_metadata_updates"))
    for part, name in (*maps, ("schema", "schema_metadata_updates")):
        if update.HasField(name):
            keys |= _edited(part, None, getattr(update, name))
    for number, edit in update.field_metadata_updates.items():
        keys |= _edited("field", number, edit)
    for part, upserts in (("config", update.upsert_values), ("schema", update.schema_metadata)):
        keys |= {(part, None, key) for key in upserts}
    keys |= {("config", None, key) for key in update.delete_keys}
    for number, held in update.field_metadata.items():
        keys |= {("field", number, key) for key in held.metadata}
    return keys


def _edited(part: str, number: int | None, edit: Transaction.UpdateMap) -> set[ConfigKey]:
    return {(part, number, entry.key) for entry in edit.update_entries}
