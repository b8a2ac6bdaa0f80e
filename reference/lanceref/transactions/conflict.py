"""Conflicts: whether a transaction can be committed after another one.

Ours was made from an older version; theirs was committed since. Either both are valid, or ours must
be made again from the newer version (retry), or is never valid. Operations on fragments conflict
where they change the same ones; which rows they removed is compared later (`rebase`). The write set
of a transaction is what its message changes.

A cleanup may have removed versions between the one that a transaction read and the latest. Often
the latest version has enough: a fragment with the same data files and no deletion file is
unchanged, and rows removed since are in its deletion file.

Clauses: L.txn.conflict.append, L.txn.conflict.overwrite, L.txn.conflict.unknown,
L.txn.conflict.replaced, L.txn.conflict.schema, L.txn.conflict.fragments, L.txn.conflict.settings,
L.txn.conflict.index, L.txn.conflict.columns, L.txn.conflict.nullability, L.txn.conflict.overlay,
L.txn.conflict.keys, L.txn.conflict.gone

Divergences: D.txn.gone-versions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from lanceref.core.compute import bitmaps
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.manifest import Manifest
from lanceref.transactions.index_entries import covered
from lanceref.transactions.manifest_builder import Staged


class Verdict(Enum):
    """What becomes of our transaction beside one that was committed first."""

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

ALOOF = ("overwrite", "restore", "update_config", "update_bases", "reserve_fragments")
"""Operations that use nothing a version before holds."""

SETTING = ("update_config", "update_bases")
"""Operations that touch neither rows nor columns."""


def operation_of(transaction: Transaction | None) -> str:
    """Return the name of the operation in the message, empty when there is none we know."""
    return "" if transaction is None else transaction.WhichOneof("operation") or ""


def fragments_of(given: Transaction) -> bitmaps.BitMap:
    """Return the ids of fragments that are updated, removed or rewritten."""
    ids = [one.id for one in (*given.delete.updated_fragments, *given.update.updated_fragments)]
    ids += [one.id for group in given.rewrite.groups for one in group.old_fragments]
    ids += [one.fragment_id for one in given.data_replacement.replacements]
    ids += [one.fragment_id for one in given.data_overlay.groups]
    return bitmaps.BitMap(ids) | removed_fragments(given)


def removed_fragments(transaction: Transaction) -> bitmaps.BitMap:
    """Return the ids of fragments whose rows a Delete or Update removes altogether."""
    if transaction.HasField("delete"):
        return bitmaps.BitMap(transaction.delete.deleted_fragment_ids)
    return bitmaps.BitMap(transaction.update.removed_fragment_ids)


def moves_fields(transaction: Transaction) -> bool:
    """Whether it is an Update in columns mode."""
    mode = transaction.update.update_mode
    return transaction.HasField("update") and mode == Transaction.Update.REWRITE_COLUMNS


def field_columns(transaction: Transaction) -> set[tuple[int, int]]:
    """Return (fragment id, field id) of the columns that get other files."""
    update = transaction.update
    files = [(one.fragment_id, one.new_file) for one in transaction.data_replacement.replacements]
    for group in transaction.data_overlay.groups:
        files += [(group.fragment_id, one.data_file) for one in group.overlays]
    columns = {(number, field) for number, file in files for field in file.fields}
    updated = [one.id for one in update.updated_fragments]
    return columns | {(number, field) for number in updated for field in update.fields_modified}


def verdict(ours: Transaction, theirs: Transaction | None) -> Verdict:
    """Return whether `ours` can follow `theirs`; None: what that version did is unknown."""
    own, other = operation_of(ours), operation_of(theirs)
    if theirs is None or not other or other == "clone":
        return NEVER  # L.txn.conflict.unknown
    if own == "restore":
        return NEVER if _sets_schema(theirs) or other == "update_mem_wal_state" else STANDS
    if own == "overwrite":
        keys = set(ours.overwrite.config_upsert_values) & _config_names(theirs.update_config)
        if other == "update_mem_wal_state":
            return NEVER
        return RETRY if other == "overwrite" or keys else STANDS  # L.txn.conflict.overwrite
    if other in REPLACING:  # L.txn.conflict.replaced
        return STANDS if own in SETTING and not _sets_schema(ours) else NEVER
    if own in SETTING or other in SETTING:
        return _settings(ours, theirs)
    if "reserve_fragments" in (own, other):
        return STANDS
    if "update_mem_wal_state" in (own, other):
        return STANDS if {"append", "create_index"} & {own, other} else NEVER
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


def _settings(ours: Transaction, theirs: Transaction) -> Verdict:
    """Two updates conflict in a setting or a base; one of schema metadata with a Merge."""
    own, other = operation_of(ours), operation_of(theirs)
    if own == other == "update_bases":
        both = (ours.update_bases.new_bases, theirs.update_bases.new_bases)
        paths, others = ({one.path for one in bases} for bases in both)
        names, taken = ({one.name for one in bases if one.HasField("name")} for bases in both)
        return NEVER if paths & others or names & taken else STANDS
    if own == other == "update_config":
        meet = settings_conflict(ours.update_config, theirs.update_config)
        return NEVER if meet else STANDS  # L.txn.conflict.settings
    merges = "merge" in (own, other)
    return RETRY if merges and (_sets_schema(ours) or _sets_schema(theirs)) else STANDS


def _sets_schema(transaction: Transaction) -> bool:
    """Whether it edits metadata of the schema or of a field, even if nothing is left of it."""
    edit = transaction.update_config
    updates = [edit.schema_metadata_updates, *edit.field_metadata_updates.values()]
    early = edit.schema_metadata or any(one.metadata for one in edit.field_metadata.values())
    return bool(early) or any(one.replace or one.update_entries for one in updates)


def settings_conflict(ours: Transaction.UpdateConfig, theirs: Transaction.UpdateConfig) -> bool:
    """Return whether two updates edit what only one of them may.

    Of the configuration that is a key that one sets and the other names; of the table's metadata a
    key that both name, or all where one replaces it; of the metadata of the schema or of one field
    whatever it is.
    """
    both, set_keys = (ours, theirs), set[str]()
    for one in both:
        entries = one.config_updates.update_entries
        set_keys |= {entry.key for entry in entries if entry.HasField("value")}
        set_keys |= set(one.upsert_values)
    if _config_names(ours) & _config_names(theirs) & set_keys:
        return True
    if all(one.HasField("table_metadata_updates") for one in both):
        own, other = (one.table_metadata_updates for one in both)
        if own.replace or other.replace or _named(own) & _named(other):
            return True
    if all(one.HasField("schema_metadata_updates") or one.schema_metadata for one in both):
        return True
    own_fields, others = ({*one.field_metadata_updates, *one.field_metadata} for one in both)
    return bool(own_fields & others)


def _config_names(update: Transaction.UpdateConfig) -> set[str]:
    """Return the keys of the configuration that are set or deleted."""
    return _named(update.config_updates) | set(update.upsert_values) | set(update.delete_keys)


def _named(edit: Transaction.UpdateMap) -> set[str]:
    return {entry.key for entry in edit.update_entries}


def _index(ours: Transaction, theirs: Transaction) -> Verdict:
    if not theirs.HasField("create_index"):
        return RETRY if _disturbs(theirs, ours) else STANDS
    own, other = ours.create_index, theirs.create_index
    new, others_new = ({index.name for index in one.new_indices} for one in (own, other))
    removed, others = ({index.name for index in one.removed_indices} for one in (own, other))
    same = new & (others_new | others) or removed & others_new
    return RETRY if same else STANDS  # L.txn.conflict.index


def _disturbs(rows: Transaction, index: Transaction) -> bool:
    """Whether a Rewrite or DataReplacement changes what new indices cover. Raises FormatError."""
    created = index.create_index.new_indices
    if rows.HasField("rewrite"):
        touched = fragments_of(rows)
        fragments = [covered(one) for one in created]
        return any(own is None or own & touched for own in fragments)
    if rows.HasField("data_replacement"):
        indexed = {field for one in created for field in one.fields}
        return any(field in indexed for _, field in field_columns(rows))
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
        return RETRY if _conflicts_with_overlay(ours, theirs) else STANDS  # L.txn.conflict.overlay
    if own == "data_replacement":
        if other == "data_replacement" or moves_fields(theirs):
            # L.txn.conflict.columns
            return RETRY if field_columns(ours) & field_columns(theirs) else STANDS
        if other == "delete":
            return NEVER if fragments_of(ours) & removed_fragments(theirs) else STANDS
    # L.txn.conflict.fragments
    return RETRY if touched or may_insert_same(ours, theirs) else STANDS


def _conflicts_with_overlay(ours: Transaction, theirs: Transaction) -> bool:
    """Whether ours is made again, where one is an overlay; moved rows are compared later."""
    rows = theirs if operation_of(ours) == "data_overlay" else ours
    if operation_of(rows) in ("data_overlay", "data_replacement"):
        return False
    if moves_fields(rows):
        return rows is ours and bool(field_columns(ours) & field_columns(theirs))
    if operation_of(rows) == "delete" or (rows is theirs and operation_of(rows) == "update"):
        return rows is theirs and bool(fragments_of(ours) & removed_fragments(rows))
    return bool(fragments_of(ours) & fragments_of(theirs))


def _over_project(ours: Transaction, theirs: Transaction) -> Verdict:
    """New values may be nulls, which the Project may forbid; a written column may be removed."""
    own = operation_of(ours)
    if own in ("delete", "rewrite"):
        return STANDS
    if not _keeps_nulls(theirs):
        return RETRY
    remaining = {one.id for one in theirs.project.schema}
    if own == "update":
        return STANDS if remaining.issuperset(ours.update.fields_modified) else RETRY
    replaced = {field for _, field in field_columns(ours)} if own == "data_replacement" else set()
    return STANDS if remaining.issuperset(replaced) else NEVER


def _keeps_nulls(transaction: Transaction) -> bool:
    """Whether a Merge or Project lets every column be null that could be before, or is new."""
    # L.txn.conflict.nullability
    return bool(getattr(transaction, operation_of(transaction)).preserves_nullability)


def may_insert_same(ours: Transaction, theirs: Transaction) -> bool:
    """Whether an Update that lists the keys it inserts may insert one that `theirs` inserted.

    It may where `theirs` inserted rows and does not list their keys.
    """
    # L.txn.conflict.keys
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


def can_merge_deletions(ours: Transaction, theirs: Transaction) -> bool:
    """Whether only the rows decide: ours may be others of fragments that theirs left some of.

    They do not where ours leaves no part of a fragment: there are no deletions to join.
    """
    if not (removes_rows(ours) and removes_rows(theirs)) or may_insert_same(ours, theirs):
        return False
    leaves_parts = fragments_of(ours) - removed_fragments(ours)
    return bool(leaves_parts) and not fragments_of(ours) & removed_fragments(theirs)


def removes_rows(transaction: Transaction) -> bool:
    """Whether it is a Delete, or an Update in rows mode."""
    return operation_of(transaction) in ("delete", "update") and not moves_fields(transaction)


def assumed_transaction(staged: Staged, latest: Manifest) -> Transaction | None:
    """Return one transaction in place of all that were removed; None when they are unknown.

    It touches what they may have touched of that which ours was made from.
    """
    ours = staged.transaction
    nothing = Transaction(reserve_fragments=Transaction.ReserveFragments())
    operation = operation_of(ours)
    live = {one.id: one for one in latest.message.fragments}
    if operation in ALOOF:
        return nothing
    if operation == "append":
        return nothing if _fits(ours.append.fragments, latest) else None
    if operation == "rewrite":
        old = [one for group in ours.rewrite.groups for one in group.old_fragments]
        return nothing if all(live.get(one.id) == one for one in old) else None
    if operation == "create_index":
        known = staged.read is not None and _same_files(staged.read.message.fragments, live)
        return nothing if known else None
    message = ours.delete if operation == "delete" else ours.update
    updated = message.updated_fragments
    known = live.keys() >= {*removed_fragments(ours), *(one.id for one in updated)}
    if operation == "update":
        # The latest version has what became of all rows that it moves.
        listed = not ours.update.HasField("inserted_rows") and not removed_fragments(ours)
        known &= listed and removes_rows(ours) and _same_files(updated, live)
        known &= _fits(ours.update.new_fragments, latest)
    elif operation != "delete":
        known = False
    if not known:
        return None
    deletions, now = Transaction(), (live[one.id] for one in updated)
    deletions.delete.updated_fragments.extend(one for one in now if one.HasField("deletion_file"))
    return deletions


def _same_files(
    fragments: Iterable[table_pb2.DataFragment], live: Mapping[int, table_pb2.DataFragment]
) -> bool:
    """Whether the fragments that are left have the data files that they had."""
    remaining = (one for one in fragments if one.id in live)
    return all(list(live[one.id].files) == list(one.files) for one in remaining)


def _fits(fragments: Iterable[table_pb2.DataFragment], latest: Manifest) -> bool:
    """Whether all columns of new fragments are columns of the table."""
    known = {one.id for one in latest.message.fields}
    listed = {field for one in fragments for file in one.files for field in file.fields}
    return all(field in known for field in listed if field >= 0)
