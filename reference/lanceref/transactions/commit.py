"""Commit: a transaction becomes the next version of a table.

The transaction's file is written first, then the manifest under a name that must not exist: who
creates it has committed. The loser looks at what was committed meanwhile and tries the number after
that. A failure before removes the files; where it is unknown whether the manifest was created, its
name is looked at, and the files stay.

Rebase: a Delete or Update keeps its fragments and adds what others removed from them: the union of
both deletions becomes a new deletion file, always a bitmap. It is made again where somebody else
changed rows of a fragment of other files. An index stops covering the fragments whose indexed
columns were written anew meanwhile. An overlay of rows that were moved meanwhile is made again.

Clauses: L.txn.commit.exclusive, L.txn.commit.order, L.txn.commit.own, L.txn.store.conditional,
L.txn.file.name, L.txn.inline.same, L.txn.inline.wins, L.table.naming.one-scheme,
L.table.naming.version, L.table.naming.detached, L.txn.conflict.unknown, L.txn.rebase.deletions,
L.txn.rebase.read-version, L.txn.rebase.index, L.txn.conflict.overlay, L.table.deletions.bitmap

Divergences: D.table.rebased-deletion-bin
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace

import numpy as np

from lanceref.core import errors
from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.integers import difference, union
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, Store
from lanceref.storage.manifests import manifest_names
from lanceref.storage.protocol import CommitLock
from lanceref.table.deletions import write_deletions
from lanceref.table.flags import check_writable
from lanceref.table.manifest import Manifest, open_manifest, open_named
from lanceref.transactions import conflict
from lanceref.transactions.apply import encode_next
from lanceref.transactions.index_entries import covered, moved_fragments, set_covered
from lanceref.transactions.manifest_builder import (
    REUSE_INDEX,
    Staged,
    StoredVersions,
    assign,
    copy_of,
)
from lanceref.transactions.row_lineage import covers_any
from lanceref.transactions.transaction import (
    FOLDER,
    open_transaction,
    transaction_name,
    write_transaction,
)

RETRIES = 20
"""How often a lost race is run again."""

PAUSE_SECONDS = 0.02
"""Longest pause before the first new try; it doubles with each, up to a hundredfold."""


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """How to commit: names of a new table, whether there may be one already, how many retries."""

    scheme: manifest_names.Scheme = "V2"
    create_only: bool = False
    retries: int = RETRIES
    lock: CommitLock | None = None
    detached: bool = False


def commit(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    """Make the next version and return its number.

    Raises AlreadyExists when there must be no table, NotFound when there must be one,
    CommitConflict when another commit conflicts, UnknownFlag when this writer may not.
    """
    make = _commit_detached if policy.detached else _commit_next
    with staged.draft:
        return make(store, staged, policy, ctx)


def _commit_next(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    stored, theirs, written = StoredVersions(store, ctx), 0, ""
    for attempt in range(policy.retries + 1):
        if attempt:
            time.sleep(random.uniform(0, PAUSE_SECONDS * min(2**attempt, 100)))
        names: list[manifest_names.VersionName] = []
        with suppress(errors.NotFound):
            names = manifest_names.list_versions(store, ctx)
        before = None if not names else open_named(store, names[-1], ctx)
        if before is not None and before.version < names[-1].version:
            # The name after the number in the manifest is taken, however often it is tried.
            found = f"version {before.version} in the manifest {names[-1].path}"
            wanted = names[-1].version
            raise errors.FormatError("L.table.naming.version", before.place, found, wanted)
        fitting = _fit(staged, names, before, policy, stored)
        data = _readable(encode_next(before, fitting, stored), stored)
        if fitting.transaction != staged.transaction or not written:
            written = write_transaction(store, fitting.transaction, staged.draft)
        theirs = 1 if before is None else before.version + 1
        name = manifest_names.name_of(theirs, policy.scheme if not names else names[-1].scheme)
        lock = policy.lock or store.options.commit_lock
        with nullcontext() if lock is None else lock(theirs):
            files = staged.draft.hand_over()
            if _put(store, name, data, fitting.transaction, ctx, lock):
                manifest_names.write_hint(store, theirs)
                return theirs
            staged.draft.add(*files)
    raise errors.RetriesExhausted(conflict.operation_of(staged.transaction), theirs, policy.retries)


def _readable(data: bytes, stored: StoredVersions) -> bytes:
    """Return the manifest of a next version. Raises OperationRefused for one nobody could open."""
    try:
        open_manifest(BytesSource(data), Context("next version", limits=stored.ctx.limits))
    except errors.FormatError as error:
        found = f"no version is made that could not be read: {error}"
        raise errors.OperationRefused(found) from error
    return data


def _commit_detached(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    """Make a version that is not in the line of versions, under a random number."""
    name = manifest_names.find_version(store, ctx, staged.transaction.read_version or None)
    if name.scheme == "V1":
        raise errors.OperationRefused("detached commits cannot be used with v1 manifest paths")
    before = open_named(store, name, ctx)
    check_writable(before.message, before.place)
    version = random.getrandbits(63) | manifest_names.DETACHED
    stored = StoredVersions(store, ctx)
    data = _readable(encode_next(before, staged, stored, version), stored)
    write_transaction(store, staged.transaction, staged.draft)
    name = manifest_names.name_of(version, "detached")
    lock = policy.lock or store.options.commit_lock
    with nullcontext() if lock is None else lock(version):
        staged.draft.hand_over()
        _put(store, name, data, staged.transaction, ctx, lock)
    return version


def _put(
    store: Store,
    name: manifest_names.VersionName,
    data: bytes,
    ours: Transaction,
    ctx: Context,
    lock: CommitLock | None,
) -> bool:
    """Create a manifest; False when it is another's. Raises OSError when there is none.

    Where the store cannot decide, who holds the lock does. The answer to a successful request may
    have got lost, and a second try then finds the name taken: by us. Raises StoreFailed where
    something else than a file has the name: no version can follow, however often it is tried.
    """
    # L.txn.commit.exclusive, L.txn.store.conditional
    # L.txn.commit.order: files first
    try:
        try:
            created = store.put_if_absent(name.path, data)
        except errors.Unconditional:
            if lock is None:
                raise
            created = not store.exists(name.path)
            if created:
                store.put(name.path, data)
    except OSError:
        with suppress(errors.NotFound):
            if _is_ours(store, name, ours, ctx):
                return True
        raise
    try:
        return created or _is_ours(store, name, ours, ctx)  # L.txn.commit.own
    except errors.NotFound as error:
        found = "the name is taken, but not by a manifest"
        raise errors.StoreFailed(f"{name.path}: {found}") from error


def _is_ours(
    store: Store, name: manifest_names.VersionName, ours: Transaction, ctx: Context
) -> bool:
    """Whether a version is what a transaction made of the one before. Raises NotFound."""
    return open_named(store, name, ctx).message.transaction_file == transaction_name(ours)


def _fit(
    staged: Staged,
    names: list[manifest_names.VersionName],
    before: Manifest | None,
    policy: CommitPolicy,
    stored: StoredVersions,
) -> Staged:
    """Return our transaction as it fits the table now. Raises CommitConflict where it cannot."""
    ours, store, ctx = staged.transaction, stored.store, stored.ctx
    if before is None:
        if not ours.HasField("overwrite"):
            raise errors.VersionNotFound(
                f"Dataset at path {store.root} was not found: The dataset must already exist "
                "unless the operation is Overwrite"
            )
        return staged
    if policy.create_only:
        raise errors.AlreadyExists(f"Dataset already exists: {store.root}")
    check_writable(before.message, before.place)
    if ours.read_version >= before.version or (not ours.read_version and ours.HasField("restore")):
        return staged
    own = conflict.operation_of(ours)
    since = _transactions_since(store, names, ours.read_version)
    if not policy.retries and own == "overwrite":
        raise errors.RetriesExhausted(own, before.version, 0)
    theirs = []
    for name in since:
        manifest = before if name == names[-1] else open_named(store, name, ctx)
        other = transaction_of(store, manifest, ctx)
        _check(staged, other, name.version, before)
        theirs.extend([] if other is None else [other])
    if len(since) < before.version - ours.read_version:
        assumed = conflict.assumed_transaction(staged, before)  # L.txn.conflict.gone
        _check(staged, assumed, before.version, before)
        theirs.extend([] if assumed is None else [assumed])
    return rebase(staged, theirs, before, stored)


def _transactions_since(
    store: Store, names: list[manifest_names.VersionName], version: int
) -> list[manifest_names.VersionName]:
    """Return the versions after one that exist, oldest first; a listing may lack some."""
    listed, last = {name.version: name for name in names}, names[-1]
    since = []
    for number in range(version + 1, last.version + 1):
        name = listed.get(number, manifest_names.name_of(number, last.scheme))
        if number in listed or store.exists(name.path):
            since.append(name)
    return since


def _check(staged: Staged, theirs: Transaction | None, version: int, latest: Manifest) -> None:
    """Refuse to commit after `theirs` where the two conflict. Raises CommitConflict."""
    ours, rows = staged.transaction, staged.affected
    leads_on = staged.reuse_index is not None
    if leads_on and staged.read is not None and reuse_of(latest) != reuse_of(staged.read):
        other = "one of other moves"
        raise errors.CommitConflict("rewrite", other, latest.version, retryable=True)
    decision = conflict.verdict(ours, theirs)
    if decision is conflict.Verdict.STANDS:
        return
    again = decision is conflict.Verdict.RETRY
    if again and theirs is not None:
        if rows is not None and conflict.can_merge_deletions(ours, theirs):
            return
        over_rows = rows is not None and theirs.HasField("data_overlay")
        if over_rows and not covers_any(theirs.data_overlay, rows or {}):
            return  # L.txn.conflict.overlay
        if leads_on and theirs.HasField("create_index"):
            return  # L.txn.conflict.index: our entry says where the rows went
        over_moved = ours.HasField("create_index") and theirs.HasField("rewrite")
        if over_moved and conflict.fragments_of(theirs).issubset(moved_fragments(latest.indices)):
            return  # L.txn.conflict.index: the table says where the rows went
    other = conflict.operation_of(theirs) or "an unknown operation"
    raise errors.CommitConflict(conflict.operation_of(ours), other, version, retryable=again)


def reuse_of(manifest: Manifest) -> list[table_pb2.IndexMetadata]:
    """Return the entries of a version that say where rows went; there is at most one."""
    return [one for one in manifest.indices if one.name == REUSE_INDEX]


def transaction_of(store: Store, manifest: Manifest, ctx: Context) -> Transaction | None:
    """Return what a version did: its inline transaction, or else its file; None without both."""
    if manifest.transaction is not None or not manifest.message.transaction_file:
        return manifest.transaction
    name = manifest.message.transaction_file
    with suppress(errors.NotFound):
        return open_transaction(store.open(f"{FOLDER}/{name}"), replace(ctx, file=name))
    return None


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
    updates = (one for one in theirs if one.HasField("update"))
    moved = {number for one in updates for number in conflict.fragments_of(one)}
    before = stored.manifest(ours.read_version) if moved else latest
    old = {one.id: one for one in before.fragments}
    removed = {}
    for one in latest.fragments:
        if one.id in moved & old.keys():
            known = stored.rows(before, old[one.id]).deleted
            removed[one.id] = difference(stored.rows(latest, one).deleted, known)
    if covers_any(ours.data_overlay, removed):  # L.txn.conflict.overlay
        raise errors.CommitConflict("data_overlay", "the same rows", latest.version, retryable=True)


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
    overlap = errors.CommitConflict(operation, "the same rows", latest.version, retryable=True)
    touched = {number for one in theirs for number in conflict.fragments_of(one)}
    current = {one.id: one for one in latest.fragments}
    columns = conflict.moves_fields(message)
    if not columns:
        own = {one.id: list(one.files) for one in changed.updated_fragments}
        for one in theirs:  # somebody may have changed rows of a fragment that had other files
            for other in (*one.delete.updated_fragments, *one.update.updated_fragments):
                if own.get(other.id, list(other.files)) != list(other.files):
                    same, version = "the same fragments", latest.version
                    raise errors.CommitConflict(operation, same, version, retryable=True)
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
        removed, rows = stored.rows(latest, now).deleted, staged.affected[ours.id]
        if np.isin(rows, removed).any():
            raise overlap
        merged, every = copy_of(ours), union(removed, rows)
        arguments = (stored.store, ours.id, latest.version, every, staged.draft)
        merged.deletion_file.CopyFrom(write_deletions(*arguments, as_bitmap=True))
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
            raise errors.CommitConflict("create_index", other, latest.version, retryable=False)
        bitmap = covered(index)
        if bitmap is None:
            continue
        for one in theirs:
            if conflict.moves_fields(one) and set(one.update.fields_modified) & set(index.fields):
                bitmap -= conflict.fragments_of(one)
        set_covered(index, bitmap)
