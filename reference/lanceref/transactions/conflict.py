"""Conflicts: whether a transaction can be committed after another one.

Ours was made from an older version; theirs was committed since. Either both stand, or ours must be
made again from the newer version (retry), or cannot stand at all (never). Operations on fragments
conflict where they change the same ones; which rows they removed is compared later (`rebase`). The
write set of a transaction is what its message says it changes.

Clauses: L.txn.conflict.append, L.txn.conflict.overwrite, L.txn.conflict.unknown,
L.txn.conflict.replaced, L.txn.conflict.schema, L.txn.conflict.fragments, L.txn.conflict.settings,
L.txn.conflict.index, L.txn.conflict.columns, L.txn.conflict.nullability, L.txn.conflict.overlay,
L.txn.conflict.keys
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from pyroaring import BitMap

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.proto import table_pb2
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


class Verdict(Enum):
    """What becomes of our transaction."""

    STANDS = "stands"
    RETRY = "retry"
    NEVER = "never"


STANDS, RETRY, NEVER = Verdict.STANDS, Verdict.RETRY, Verdict.NEVER

REPLACING = ("overwrite", "restore")
"""Operations after which the table is another one."""

RESHAPING = ("merge", "project")
"""Operations after which the schema is another one."""

WRITING = ("append", "update", "data_replacement", "data_overlay")
"""Operations that write values."""

SETTING = ("update_config", "update_bases")
"""Operations that touch neither rows nor columns."""


def operation_of(transaction: Transaction | None) -> str:
    """Return the name of the operation in the message, empty when there is none we know."""
    return "" if transaction is None else transaction.WhichOneof("operation") or ""


def verdict(ours: Transaction, theirs: Transaction | None) -> Verdict:
    """Return whether `ours` can follow `theirs`; None: nobody can tell what that version did."""
    own, other = operation_of(ours), operation_of(theirs)
    if theirs is None or not other or other == "clone":
        return NEVER  # L.txn.conflict.unknown
    if own == "restore":
        return NEVER if _sets_schema(theirs) or other == "update_mem_wal_state" else STANDS
    if own == "overwrite":
        return _overwrite(ours, theirs)
    if other in REPLACING:  # L.txn.conflict.replaced
        return STANDS if own in SETTING and not _sets_schema(ours) else NEVER
    if own in SETTING or other in SETTING:
        return _settings(ours, theirs)
    if "reserve_fragments" in (own, other):
        return STANDS
    if "update_mem_wal_state" in (own, other):
        return _mem_wal(own, other)
    if own == "append":  # L.txn.conflict.append
        return RETRY if other in RESHAPING and not _keeps_nulls(theirs) else STANDS
    if own == "merge":  # L.txn.conflict.schema
        return {"create_index": STANDS, "project": NEVER}.get(other, RETRY)
    if own == "project":
        again = other in RESHAPING or (other in WRITING and not _keeps_nulls(ours))
        return RETRY if again else STANDS
    if own == "create_index":
        return _index(ours, theirs)
    return _rows(ours, theirs)


def _overwrite(ours: Transaction, theirs: Transaction) -> Verdict:
    other = operation_of(theirs)
    if other == "overwrite":
        return RETRY  # L.txn.conflict.overwrite
    if other == "update_mem_wal_state":
        return NEVER
    keys = set(ours.overwrite.config_upsert_values)
    if other == "update_config" and keys & config_names(theirs.update_config):
        return RETRY
    return STANDS


def _settings(ours: Transaction, theirs: Transaction) -> Verdict:
    """Two updates meet in a setting or a base; one of schema metadata meets a Merge."""
    own, other = operation_of(ours), operation_of(theirs)
    if own == other == "update_bases":
        both = names_of_bases(ours.update_bases) & names_of_bases(theirs.update_bases)
        return NEVER if both else STANDS
    if own == other == "update_config":
        meet = settings_meet(ours.update_config, theirs.update_config)
        return NEVER if meet else STANDS  # L.txn.conflict.settings
    merges = "merge" in (own, other)
    return RETRY if merges and (_sets_schema(ours) or _sets_schema(theirs)) else STANDS


def _sets_schema(transaction: Transaction) -> bool:
    """Whether it edits metadata of the schema or of a field, be it that nothing is left of it."""
    edit = transaction.update_config
    updates = [edit.schema_metadata_updates, *edit.field_metadata_updates.values()]
    early = edit.schema_metadata or any(one.metadata for one in edit.field_metadata.values())
    return bool(early) or any(one.replace or one.update_entries for one in updates)


def _mem_wal(own: str, other: str) -> Verdict:
    return STANDS if "append" in (own, other) or "create_index" in (own, other) else NEVER


def _index(ours: Transaction, theirs: Transaction) -> Verdict:
    other = operation_of(theirs)
    if other == "create_index":
        new, others_new = (_names(one.create_index.new_indices) for one in (ours, theirs))
        gone, others_gone = (_names(one.create_index.removed_indices) for one in (ours, theirs))
        same = new & (others_new | others_gone) or gone & others_new
        return RETRY if same else STANDS  # L.txn.conflict.index
    return RETRY if _disturbs(theirs, ours) else STANDS


def _names(entries: Iterable[table_pb2.IndexMetadata]) -> set[str]:
    return {one.name for one in entries}


def _disturbs(rows: Transaction, index: Transaction) -> bool:
    """Whether a Rewrite or DataReplacement changes what new indices are over."""
    if rows.HasField("rewrite"):
        touched = fragments_of(rows)
        return any(bitmap is None or bitmap & touched for bitmap in bitmaps_of(index.create_index))
    if rows.HasField("data_replacement"):
        fields = {field for _, field in field_columns(rows)}
        return bool(fields & indexed_fields(index.create_index))
    return False


def _rows(ours: Transaction, theirs: Transaction) -> Verdict:
    """Ours is a Delete, Update, Rewrite or DataReplacement."""
    own, other = operation_of(ours), operation_of(theirs)
    if other == "append":
        return RETRY if may_insert_same(ours, theirs) else STANDS
    if other == "merge":
        return RETRY
    if other == "project":
        return _over_project(ours, theirs)
    if other == "create_index":
        return RETRY if _disturbs(ours, theirs) else STANDS
    touched = fragments_of(ours) & fragments_of(theirs)
    if "data_overlay" in (own, other):
        return RETRY if _meets_overlay(ours, theirs) else STANDS  # L.txn.conflict.overlay
    if own == "data_replacement":
        if other == "data_replacement" or moves_fields(theirs):
            # L.txn.conflict.columns
            return RETRY if field_columns(ours) & field_columns(theirs) else STANDS
        if other == "delete":
            return NEVER if fragments_of(ours) & removed_fragments(theirs) else STANDS
    # L.txn.conflict.fragments
    return RETRY if touched or may_insert_same(ours, theirs) else STANDS


def _meets_overlay(ours: Transaction, theirs: Transaction) -> bool:
    """Whether ours has to be made again; one of the two is an overlay.

    Whether it covers rows that an Update moved since is looked at later.
    """
    rows = theirs if operation_of(ours) == "data_overlay" else ours
    if operation_of(rows) in ("data_overlay", "data_replacement"):
        return False
    if moves_fields(rows):
        return rows is ours and bool(field_columns(ours) & field_columns(theirs))
    if operation_of(rows) == "delete" or (rows is theirs and operation_of(rows) == "update"):
        return rows is theirs and bool(fragments_of(ours) & removed_fragments(rows))
    return bool(fragments_of(ours) & fragments_of(theirs))


def _over_project(ours: Transaction, theirs: Transaction) -> Verdict:
    """New values may be nulls, which the Project may forbid; a column written may be gone."""
    own = operation_of(ours)
    if own in ("delete", "rewrite"):
        return STANDS
    if not _keeps_nulls(theirs):
        return RETRY
    kept = {one.id for one in theirs.project.schema}
    if own == "update":
        return STANDS if kept.issuperset(ours.update.fields_modified) else RETRY
    replaced = {field for _, field in field_columns(ours)} if own == "data_replacement" else set()
    return STANDS if kept.issuperset(replaced) else NEVER


def _keeps_nulls(transaction: Transaction) -> bool:
    """Whether a Merge or Project lets every column be null that could be before, or is new."""
    return bool(getattr(transaction, operation_of(transaction)).preserves_nullability)


def can_merge_deletions(ours: Transaction, theirs: Transaction) -> bool:
    """Whether it is left to the rows: ours may be others of fragments that theirs left some of.

    It is not where ours leaves no part of a fragment: there are no deletions to join.
    """
    if not (_takes_rows(ours) and _takes_rows(theirs)) or may_insert_same(ours, theirs):
        return False
    leaves_parts = fragments_of(ours) - removed_fragments(ours)
    return bool(leaves_parts) and not fragments_of(ours) & removed_fragments(theirs)


def _takes_rows(transaction: Transaction) -> bool:
    return operation_of(transaction) in ("delete", "update") and not moves_fields(transaction)
