"""Rebase: a transaction made for an older version, made to fit the latest one.

A Delete or Update keeps its fragments, with the files of columns that are gone meanwhile, and adds
what others took out of them: the union of both deletions becomes a new deletion file, always a
bitmap. It is made again where somebody else changed rows of a fragment of other files. An index
stops covering the fragments whose indexed columns were written anew meanwhile. An overlay of rows
that were moved meanwhile is made again.

Clauses: L.txn.rebase.deletions, L.txn.rebase.read-version, L.txn.rebase.index,
L.txn.conflict.overlay, L.table.deletions.bitmap

Divergences: D.table.rebased-deletion-bin
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.errors import CommitConflict
from lanceref.core.integers import difference, union
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Store
from lanceref.table.deletions import write_deletions
from lanceref.table.manifest import Manifest
from lanceref.transactions.conflict import (
    fragments_of,
    moves_fields,
    operation_of,
    removed_fragments,
)
from lanceref.transactions.index_entries import covered, set_covered
from lanceref.transactions.manifest_builder import Past, Staged
from lanceref.transactions.row_lineage import covers_any

Changed = Transaction.Delete | Transaction.Update


def rebase(
    store: Store, staged: Staged, theirs: Sequence[Transaction], latest: Manifest, past: Past
) -> Staged:
    """Return the transaction as it fits `latest`, after `theirs` since it was made.

    Raises CommitConflict when somebody took out a row that we take out too.
    """
    operation = operation_of(staged.transaction)
    message = Transaction()
    message.CopyFrom(staged.transaction)
    if operation in ("delete", "update"):
        changed: Changed = message.delete if operation == "delete" else message.update
        message.read_version = latest.version
        _rebase_fragments(store, staged, changed, theirs, latest, past)
    elif operation == "create_index":
        _rebase_indices(message.create_index, theirs, latest)
    elif operation == "data_overlay":
        _check_overlay(message, theirs, latest, past)
    return replace(staged, transaction=message)


def _check_overlay(
    ours: Transaction, theirs: Sequence[Transaction], latest: Manifest, past: Past
) -> None:
    """Raise CommitConflict where an Update moved rows that an overlay covers."""
    moved = {number for one in theirs if one.HasField("update") for number in fragments_of(one)}
    before = past.manifest(ours.read_version) if moved else latest
    old = {one.id: one for one in before.fragments}
    gone = {
        one.id: difference(past.deleted(latest, one), past.deleted(before, old[one.id]))
        for one in latest.fragments
        if one.id in moved & old.keys()
    }
    if covers_any(ours.data_overlay, gone):  # L.txn.conflict.overlay
        raise CommitConflict("data_overlay", "the same rows", latest.version, retryable=True)


def _rebase_fragments(
    store: Store,
    staged: Staged,
    changed: Changed,
    theirs: Sequence[Transaction],
    latest: Manifest,
    past: Past,
) -> None:
    touched = {number for one in theirs for number in fragments_of(one)}
    current = {one.id: one for one in latest.fragments}
    columns = moves_fields(staged.transaction)
    if not columns:
        _check_files(staged, changed, theirs, latest.version)
        if removed_fragments(staged.transaction) & _left_parts_of(theirs):
            raise _of_the_same_rows(staged, latest)
    updated = []
    for ours in changed.updated_fragments:
        now = current.get(ours.id)
        if now is None or columns or ours.id not in touched or staged.affected is None:
            updated.append(ours)
            continue
        rows = staged.affected[ours.id]
        merged = _merged(store, staged, ours, past.deleted(latest, now), rows, latest)
        if _is_empty(merged):
            _remove(changed, ours.id)  # it is told of as it was, too
        updated.append(ours if _is_empty(merged) else merged)
    del changed.updated_fragments[:]
    changed.updated_fragments.extend(updated)


def _check_files(
    staged: Staged, changed: Changed, theirs: Sequence[Transaction], latest: int
) -> None:
    """Raise CommitConflict where somebody changed rows of a fragment that had other files."""
    own = {one.id: list(one.files) for one in changed.updated_fragments}
    for transaction in theirs:
        operation = operation_of(transaction)
        if operation not in ("delete", "update"):
            continue
        other = transaction.delete if operation == "delete" else transaction.update
        for one in other.updated_fragments:
            if own.get(one.id, list(one.files)) != list(one.files):
                ours = operation_of(staged.transaction)
                raise CommitConflict(ours, "the same fragments", latest, retryable=True)


def _merged(
    store: Store,
    staged: Staged,
    ours: table_pb2.DataFragment,
    gone: NDArray[np.int64],
    rows: NDArray[np.int64],
    latest: Manifest,
) -> table_pb2.DataFragment:
    """Return the fragment with our rows taken out beside those that are out already."""
    if np.isin(rows, gone).any():
        raise _of_the_same_rows(staged, latest)
    merged = table_pb2.DataFragment()
    merged.CopyFrom(ours)
    every = union(gone, rows)
    file = write_deletions(store, ours.id, latest.version, every, staged.draft, as_bitmap=True)
    merged.deletion_file.CopyFrom(file)
    return merged


def _left_parts_of(theirs: Sequence[Transaction]) -> BitMap:
    """Return the fragments that others took single rows out of."""
    found = BitMap()
    for one in theirs:
        if operation_of(one) in ("delete", "update") and not moves_fields(one):
            found |= fragments_of(one) - removed_fragments(one)
    return found


def _of_the_same_rows(staged: Staged, latest: Manifest) -> CommitConflict:
    operation = operation_of(staged.transaction)
    return CommitConflict(operation, "the same rows", latest.version, retryable=True)


def _is_empty(fragment: table_pb2.DataFragment) -> bool:
    return bool(fragment.physical_rows) and (
        fragment.deletion_file.num_deleted_rows >= fragment.physical_rows
    )


def _remove(changed: Changed, number: int) -> None:
    if isinstance(changed, Transaction.Delete):
        changed.deleted_fragment_ids.append(number)
    else:
        changed.removed_fragment_ids.append(number)


def _rebase_indices(
    created: Transaction.CreateIndex, theirs: Sequence[Transaction], latest: Manifest
) -> None:
    """Take fragments with new values out of new indices; refuse one on a column that is gone."""
    fields = {one.id for one in latest.message.fields}
    for index in created.new_indices:
        if not fields.issuperset(index.fields):
            raise CommitConflict(
                "create_index", "one without its column", latest.version, retryable=False
            )
        bitmap = covered(index)
        if bitmap is None:
            continue
        for other in theirs:
            if moves_fields(other) and set(other.update.fields_modified) & set(index.fields):
                bitmap -= fragments_of(other)
        set_covered(index, bitmap)
