"""Rebase: a transaction made for an older version, made to fit the latest one.

A Delete or Update keeps its fragments and adds what others removed from them: the union of both
deletions becomes a new deletion file, always a bitmap. It is made again where somebody else changed
rows of a fragment of other files. An index stops covering the fragments whose indexed columns were
written anew meanwhile. An overlay of rows that were moved meanwhile is made again.

Clauses: L.txn.rebase.deletions, L.txn.rebase.read-version, L.txn.rebase.index,
L.txn.conflict.overlay, L.table.deletions.bitmap

Divergences: D.table.rebased-deletion-bin
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lanceref.core import bitmaps
from lanceref.core.errors import CommitConflict
from lanceref.core.integers import difference, union
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.deletions import write_deletions
from lanceref.table.manifest import Manifest
from lanceref.transactions import conflict
from lanceref.transactions.index_entries import covered, set_covered
from lanceref.transactions.manifest_builder import Staged, StoredVersions, assign, copy_of
from lanceref.transactions.row_lineage import covers_any


def rebase(
    staged: Staged, theirs: Sequence[Transaction], latest: Manifest, stored: StoredVersions
) -> Staged:
    """Return the transaction as it fits `latest`, after `theirs` since it was made.

    Raises CommitConflict when somebody removed a row that we remove too.
    """
    message = copy_of(staged.transaction)
    operation = conflict.operation_of(message)
    if operation in ("delete", "update"):
        message.read_version = latest.version
        _rebase_fragments(staged, message, theirs, latest, stored)
    elif operation == "create_index":
        _rebase_indices(message.create_index, theirs, latest)
    elif operation == "data_overlay":
        _check_overlay(message, theirs, latest, stored)
    return replace(staged, transaction=message)


def _check_overlay(
    ours: Transaction, theirs: Sequence[Transaction], latest: Manifest, stored: StoredVersions
) -> None:
    """Raise CommitConflict where an Update moved rows that an overlay covers."""
    moved = {
        number for one in theirs if one.HasField("update") for number in conflict.fragments_of(one)
    }
    before = stored.manifest(ours.read_version) if moved else latest
    old = {one.id: one for one in before.fragments}
    removed = {
        one.id: difference(stored.deleted(latest, one), stored.deleted(before, old[one.id]))
        for one in latest.fragments
        if one.id in moved & old.keys()
    }
    if covers_any(ours.data_overlay, removed):  # L.txn.conflict.overlay
        raise CommitConflict("data_overlay", "the same rows", latest.version, retryable=True)


def _rebase_fragments(
    staged: Staged,
    message: Transaction,
    theirs: Sequence[Transaction],
    latest: Manifest,
    stored: StoredVersions,
) -> None:
    """Add the rows that others removed to the deletions of a Delete or Update."""
    # L.txn.rebase.deletions
    operation = conflict.operation_of(message)
    changed = message.delete if operation == "delete" else message.update
    overlap = CommitConflict(operation, "the same rows", latest.version, retryable=True)
    touched = {number for one in theirs for number in conflict.fragments_of(one)}
    current = {one.id: one for one in latest.fragments}
    columns = conflict.moves_fields(message)
    if not columns:
        own = {one.id: list(one.files) for one in changed.updated_fragments}
        for one in theirs:  # somebody may have changed rows of a fragment that had other files
            for other in (*one.delete.updated_fragments, *one.update.updated_fragments):
                if own.get(other.id, list(other.files)) != list(other.files):
                    fragments = "the same fragments"
                    raise CommitConflict(operation, fragments, latest.version, retryable=True)
        partly = bitmaps.BitMap()  # fragments that others removed single rows of
        for one in filter(conflict.removes_rows, theirs):
            partly |= conflict.fragments_of(one) - conflict.removed_fragments(one)
        if conflict.removed_fragments(staged.transaction) & partly:
            raise overlap
    updated = []
    for ours in changed.updated_fragments:
        now = current.get(ours.id)
        if now is None or columns or ours.id not in touched or staged.affected is None:
            updated.append(ours)
            continue
        removed, rows = stored.deleted(latest, now), staged.affected[ours.id]
        if np.isin(rows, removed).any():
            raise overlap
        merged, every = copy_of(ours), union(removed, rows)
        file = write_deletions(
            stored.store, ours.id, latest.version, every, staged.draft, as_bitmap=True
        )
        merged.deletion_file.CopyFrom(file)
        empty = 0 < merged.physical_rows <= merged.deletion_file.num_deleted_rows
        if empty:  # it is listed as it was, too
            name = "deleted_fragment_ids" if operation == "delete" else "removed_fragment_ids"
            getattr(changed, name).append(ours.id)
        updated.append(ours if empty else merged)
    assign(changed.updated_fragments, updated)


def _rebase_indices(
    created: Transaction.CreateIndex, theirs: Sequence[Transaction], latest: Manifest
) -> None:
    """Remove fragments with new values from new indices; refuse one on a removed column."""
    # L.txn.rebase.index
    fields = {one.id for one in latest.message.fields}
    for index in created.new_indices:
        if not fields.issuperset(index.fields):
            other = "one without its column"
            raise CommitConflict("create_index", other, latest.version, retryable=False)
        bitmap = covered(index)
        if bitmap is None:
            continue
        for one in theirs:
            if conflict.moves_fields(one) and set(one.update.fields_modified) & set(index.fields):
                bitmap -= conflict.fragments_of(one)
        set_covered(index, bitmap)
