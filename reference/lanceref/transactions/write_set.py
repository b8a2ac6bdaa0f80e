"""Touched: what of a table a transaction changes, as its message says.

Clauses: L.txn.conflict.fragments, L.txn.conflict.columns, L.txn.conflict.settings,
L.txn.conflict.keys
"""

from __future__ import annotations

from pyroaring import BitMap

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.roaring import parse_bitmap


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


def settings_meet(ours: Transaction.UpdateConfig, theirs: Transaction.UpdateConfig) -> bool:
    """Return whether two updates edit what only one of them may.

    Of the configuration that is a key that one sets and the other names; of the table's metadata a
    key that both name, or all where one replaces it; of the metadata of the schema or of one field
    whatever it is.
    """
    own, other = config_names(ours), config_names(theirs)
    if own & other & (_config_set(ours) | _config_set(theirs)):
        return True
    if ours.HasField("table_metadata_updates") and theirs.HasField("table_metadata_updates"):
        mine, others = ours.table_metadata_updates, theirs.table_metadata_updates
        if mine.replace or others.replace or _named(mine) & _named(others):
            return True
    return (_edits_schema(ours) and _edits_schema(theirs)) or bool(
        _edited_fields(ours) & _edited_fields(theirs)
    )


def config_names(update: Transaction.UpdateConfig) -> set[str]:
    """Return the keys of the configuration that are set or deleted."""
    return _named(update.config_updates) | set(update.upsert_values) | set(update.delete_keys)


def _config_set(update: Transaction.UpdateConfig) -> set[str]:
    entries = update.config_updates.update_entries
    return {one.key for one in entries if one.HasField("value")} | set(update.upsert_values)


def _named(edit: Transaction.UpdateMap) -> set[str]:
    return {entry.key for entry in edit.update_entries}


def _edits_schema(update: Transaction.UpdateConfig) -> bool:
    return update.HasField("schema_metadata_updates") or bool(update.schema_metadata)


def _edited_fields(update: Transaction.UpdateConfig) -> set[int]:
    return {*update.field_metadata_updates, *update.field_metadata}
