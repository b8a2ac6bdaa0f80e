"""Commit: a transaction becomes the next version of a table.

The transaction's file is written first, then the manifest under a name that must not exist: who
creates it has committed. The loser looks at what was committed meanwhile and tries the number after
that. A failure before removes the files; where nobody can say whether the manifest was created, its
name is looked at, and the files stay.

A cleanup may have removed versions between the one that a transaction read and the latest. Of some
transactions that makes no difference, and of others the latest version tells enough: a fragment
with the same data files and no deletion file is unchanged, and rows removed since are in its
deletion file.

Clauses: L.txn.commit.exclusive, L.txn.commit.order, L.txn.commit.own, L.txn.store.conditional,
L.txn.file.name, L.txn.inline.same, L.txn.inline.wins, L.table.naming.one-scheme,
L.table.naming.version, L.table.naming.detached, L.txn.conflict.gone, L.txn.conflict.unknown

Divergences: D.txn.gone-versions
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta

from lanceref.core.context import Context
from lanceref.core.errors import (
    AlreadyExists,
    CommitConflict,
    FormatError,
    NotFound,
    OperationRefused,
    RetriesExhausted,
    StoreFailed,
    Unconditional,
    VersionNotFound,
)
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import CommitLock, Store
from lanceref.storage.manifests.manifest_names import (
    DETACHED,
    Scheme,
    VersionName,
    find_version,
    list_versions,
    name_of,
    write_hint,
)
from lanceref.table.flags import check_writable
from lanceref.table.manifest import Manifest
from lanceref.table.versions import open_named
from lanceref.transactions.apply import encode_next
from lanceref.transactions.conflict import (
    Verdict,
    can_merge_deletions,
    fragments_of,
    moves_fields,
    operation_of,
    verdict,
)
from lanceref.transactions.index_entries import moved_fragments
from lanceref.transactions.manifest_builder import Staged, StoredPast
from lanceref.transactions.rebase import rebase
from lanceref.transactions.row_lineage import covers_any
from lanceref.transactions.transaction import (
    FOLDER,
    open_transaction,
    transaction_name,
    write_transaction,
)

ALOOF = ("overwrite", "restore", "update_config", "update_bases", "reserve_fragments")
"""Operations that are made from nothing a version before holds."""

Fragments = dict[int, table_pb2.DataFragment]


def assumed(staged: Staged, latest: Manifest) -> Transaction | None:
    """Return one transaction that stands for all that are gone; None when nobody can tell.

    It touches what they may have touched of that which ours was made from.
    """
    ours = staged.transaction
    nothing = Transaction()
    nothing.reserve_fragments.num_fragments = 0
    operation = ours.WhichOneof("operation")
    live = {one.id: one for one in latest.message.fragments}
    if operation in ALOOF:
        return nothing
    if operation == "append":
        return nothing if _fits(ours.append.fragments, latest) else None
    if operation == "rewrite":
        old = [one for group in ours.rewrite.groups for one in group.old_fragments]
        return nothing if all(live.get(one.id) == one for one in old) else None
    if operation == "create_index":
        return nothing if staged.read is not None and _same_files(staged.read, live) else None
    if operation == "delete":
        removed = ours.delete.deleted_fragment_ids
        known = live.keys() >= {*removed, *(one.id for one in ours.delete.updated_fragments)}
        return _deletions(ours.delete.updated_fragments, live) if known else None
    if operation == "update" and _is_told(ours, latest, live):
        return _deletions(ours.update.updated_fragments, live)
    return None


def _is_told(ours: Transaction, latest: Manifest, live: Fragments) -> bool:
    """Whether the latest version tells of all rows that an Update moves what became of them."""
    given = ours.update
    if moves_fields(ours) or given.HasField("inserted_rows") or given.removed_fragment_ids:
        return False
    same = all(
        one.id in live and list(live[one.id].files) == list(one.files)
        for one in given.updated_fragments
    )
    return same and _fits(given.new_fragments, latest)


def _same_files(read: Manifest, live: Fragments) -> bool:
    """Whether the fragments that are left have the data files that they had."""
    return all(
        list(live[one.id].files) == list(one.files)
        for one in read.message.fragments
        if one.id in live
    )


def _fits(fragments: Sequence[table_pb2.DataFragment], latest: Manifest) -> bool:
    """Whether all columns of new fragments are columns of the table."""
    known = {one.id for one in latest.message.fields}
    held = {field for one in fragments for file in one.files for field in file.fields}
    return all(field in known for field in held if field >= 0)


def _deletions(touched: Sequence[table_pb2.DataFragment], live: Fragments) -> Transaction:
    """Return a Delete of the rows that are out of fragments now."""
    found = Transaction()
    now = [live[one.id] for one in touched]
    found.delete.updated_fragments.extend(one for one in now if one.HasField("deletion_file"))
    return found


RETRIES = 20
"""How often a lost race is run again."""

COMMIT_TIMEOUT = timedelta(minutes=30)
"""How long a commit by hand is tried again, unless the caller says otherwise."""

PAUSE_SECONDS = 0.02
"""Longest pause before the first new try; it doubles with each, up to a hundredfold."""


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """How to commit: names of a new table, whether there may be one already, how many retries."""

    scheme: Scheme = "V2"
    create_only: bool = False
    retries: int = RETRIES
    lock: CommitLock | None = None
    detached: bool = False
    timeout: float | None = None


def commit(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    """Make the next version and return its number.

    Raises AlreadyExists when there must be no table, NotFound when there must be one,
    CommitConflict when another commit stands in the way, UnknownFlag when this writer may not.
    """
    with staged.draft:
        if policy.detached:
            return _commit_detached(store, staged, StoredPast(store, ctx), ctx)
        return _commit_next(store, staged, policy, ctx)


def _commit_next(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    """Make the version after the latest one."""
    past, theirs, written = StoredPast(store, ctx), 0, ""
    end = time.monotonic() + (math.inf if policy.timeout is None else policy.timeout)
    for attempt in range(policy.retries + 1):
        if attempt:
            if time.monotonic() > end:
                break
            time.sleep(random.uniform(0, PAUSE_SECONDS * min(2**attempt, 100)))
        names = _versions(store, ctx)
        before = None if not names else _latest(store, names[-1], ctx)
        fitting = _fit(store, staged, names, before, policy, past, ctx)
        data = encode_next(before, fitting, past)
        if fitting.transaction != staged.transaction or not written:
            written = write_transaction(store, fitting.transaction, staged.draft)
        theirs = 1 if before is None else before.version + 1
        name = name_of(theirs, policy.scheme if not names else names[-1].scheme)
        lock = policy.lock or store.options.commit_lock
        with nullcontext() if lock is None else lock(theirs):
            files = staged.draft.hand_over()
            if _put(store, name, data, fitting.transaction, ctx, lock):
                write_hint(store, theirs)
                return theirs
            staged.draft.add(*files)
    ours = operation_of(staged.transaction)
    raise RetriesExhausted(ours, theirs, policy.retries)


def _latest(store: Store, name: VersionName, ctx: Context) -> Manifest:
    """Return the latest version. Raises FormatError where it says a lower number than its name.

    The name of the version after that number is taken already, however often it is tried.
    """
    manifest = open_named(store, name, ctx)
    if manifest.version < name.version:
        raise FormatError(
            "L.table.naming.version",
            manifest.place,
            found=f"version {manifest.version} in the manifest {name.path}",
            wanted=f"version {name.version}",
        )
    return manifest


def _put(
    store: Store,
    name: VersionName,
    data: bytes,
    ours: Transaction,
    ctx: Context,
    lock: CommitLock | None,
) -> bool:
    """Create a manifest; False when it is another's. Raises OSError when there is none.

    The answer to a request that was done may have got lost, and a second try then finds the name
    taken: by us. Raises StoreFailed where something else than a file has the name: no version can
    follow, however often it is tried.
    """
    try:
        if _create(store, name.path, data, lock):
            return True
    except OSError:
        try:
            if _is_ours(store, name, ours, ctx):
                return True
        except NotFound:
            pass
        raise
    try:
        return _is_ours(store, name, ours, ctx)  # L.txn.commit.own
    except NotFound as error:
        raise StoreFailed(f"{name.path}: the name is taken, but not by a manifest") from error


def _is_ours(store: Store, name: VersionName, ours: Transaction, ctx: Context) -> bool:
    """Whether a version is what a transaction made of the one before. Raises NotFound."""
    made = open_named(store, name, ctx)
    return made.message.transaction_file == transaction_name(ours)


def _create(store: Store, path: str, data: bytes, lock: CommitLock | None) -> bool:
    """Write an object if none stands there. Return False when one does.

    Where the store cannot decide, who holds the lock does. Raises Unconditional without either.
    """
    try:
        return store.put_if_absent(path, data)
    except Unconditional:
        if lock is None:
            raise
    absent = not store.exists(path)
    if absent:
        store.put(path, data)
    return absent


def _commit_detached(store: Store, staged: Staged, past: StoredPast, ctx: Context) -> int:
    """Make a version that is not in the line of versions, under a random number."""
    name = find_version(store, ctx, staged.transaction.read_version or None)
    if name.scheme == "V1":
        raise OperationRefused("detached commits cannot be used with v1 manifest paths")
    before = open_named(store, name, ctx)
    check_writable(before.message, before.place)
    version = random.getrandbits(63) | DETACHED
    data = encode_next(before, staged, past, version)
    write_transaction(store, staged.transaction, staged.draft)
    staged.draft.hand_over()
    store.put_if_absent(name_of(version, "detached").path, data)
    return version


def _versions(store: Store, ctx: Context) -> list[VersionName]:
    try:
        return list_versions(store, ctx)
    except NotFound:
        return []


def _fit(
    store: Store,
    staged: Staged,
    names: list[VersionName],
    before: Manifest | None,
    policy: CommitPolicy,
    past: StoredPast,
    ctx: Context,
) -> Staged:
    """Return our transaction as it fits the table now. Raises CommitConflict where it cannot."""
    ours = staged.transaction
    if before is None:
        if not ours.HasField("overwrite"):
            raise VersionNotFound(
                f"Dataset at path {store.root} was not found: The dataset must already exist "
                "unless the operation is Overwrite"
            )
        return staged
    if policy.create_only:
        raise AlreadyExists(f"Dataset already exists: {store.root}")
    check_writable(before.message, before.place)
    if ours.read_version >= before.version or (not ours.read_version and ours.HasField("restore")):
        return staged
    own = operation_of(ours)
    since = _since(store, names, ours.read_version)
    if not policy.retries and own == "overwrite":
        raise RetriesExhausted(own, before.version, 0)
    theirs = []
    for name in since:
        manifest = before if name == names[-1] else open_named(store, name, ctx)
        other = transaction_of(store, manifest, ctx)
        _check(staged, other, name.version, before)
        theirs.extend([] if other is None else [other])
    if len(since) < before.version - ours.read_version:
        held = assumed(staged, before)  # L.txn.conflict.gone
        _check(staged, held, before.version, before)
        theirs.extend([] if held is None else [held])
    return rebase(store, staged, theirs, before, past)


def _since(store: Store, names: list[VersionName], version: int) -> list[VersionName]:
    """Return the versions after one that are left, oldest first.

    A listing may lack a version that was made while it was read, and have the one after that.
    """
    listed, last = {name.version: name for name in names}, names[-1]
    since = []
    for number in range(version + 1, last.version + 1):
        name = listed.get(number, name_of(number, last.scheme))
        if number in listed or store.exists(name.path):
            since.append(name)
    return since


def _check(staged: Staged, theirs: Transaction | None, version: int, latest: Manifest) -> None:
    """Refuse to commit over `theirs` where both cannot stand. Raises CommitConflict."""
    ours = staged.transaction
    found = verdict(ours, theirs)
    if found is Verdict.STANDS:
        return
    again = found is Verdict.RETRY
    rows = staged.affected
    if again and rows is not None and theirs is not None:
        if can_merge_deletions(ours, theirs):
            return
        if theirs.HasField("data_overlay") and not covers_any(theirs.data_overlay, rows):
            return  # L.txn.conflict.overlay
    if again and theirs is not None and _is_led_on(ours, theirs, latest):
        return
    other = operation_of(theirs) or "an unknown operation"
    raise CommitConflict(operation_of(ours), other, version, retryable=again)


def _is_led_on(ours: Transaction, theirs: Transaction, latest: Manifest) -> bool:
    """Return whether new indices are over rows that moved, and the table says where they went."""
    if not (ours.HasField("create_index") and theirs.HasField("rewrite")):
        return False
    moved = moved_fragments(latest.indices)  # L.txn.conflict.index
    return fragments_of(theirs).issubset(moved)


def transaction_of(store: Store, manifest: Manifest, ctx: Context) -> Transaction | None:
    """Return what a version did: its inline transaction, or else its file; None without both."""
    if manifest.transaction is not None or not manifest.message.transaction_file:
        return manifest.transaction
    name = manifest.message.transaction_file
    try:
        return open_transaction(store.open(f"{FOLDER}/{name}"), replace(ctx, file=name))
    except NotFound:
        return None
