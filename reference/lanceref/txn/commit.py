"""Commit: a transaction becomes the next version of a table.

The transaction's file is written first, then the manifest under a name that must not exist: who
creates it has committed. Who loses looks at what was committed meanwhile and tries the number after
that. Whatever fails before leaves files that no version names.

Clauses: L.txn.commit.exclusive, L.txn.commit.order, L.txn.file.name, L.txn.inline.same,
L.txn.inline.wins, L.table.naming.one-scheme, L.table.naming.version
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lanceref.context import Context
from lanceref.errors import AlreadyExists, CommitConflict, NotFound
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Store
from lanceref.table.flags import check_writable
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.naming import Scheme, VersionName, list_versions, name_of, write_hint
from lanceref.txn.conflict import check_conflict, operation_of
from lanceref.txn.next_version import Staged, encode_next
from lanceref.txn.transaction import FOLDER, open_transaction, write_transaction

RETRIES = 20
"""How often a lost race is run again."""


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """How to commit: names of a new table, whether there may be one already, how many retries."""

    scheme: Scheme = "V2"
    create_only: bool = False
    retries: int = RETRIES


def commit(store: Store, staged: Staged, policy: CommitPolicy, ctx: Context) -> int:
    """Make the next version and return its number.

    Raises AlreadyExists when there must be no table, NotFound when there must be one,
    CommitConflict when another commit stands in the way, UnknownFlag when this writer may not.
    """
    theirs = 0
    for attempt in range(policy.retries + 1):
        names = _versions(store, ctx)
        before = None if not names else _open(store, names[-1], ctx)
        _check(store, staged.transaction, names, before, policy, ctx)
        data = encode_next(before, staged)
        if attempt == 0:
            write_transaction(store, staged.transaction)
        theirs = 1 if before is None else before.version + 1
        scheme = policy.scheme if not names else names[-1].scheme
        if store.put_if_absent(name_of(theirs, scheme).path, data):
            write_hint(store, theirs)
            return theirs
    ours = operation_of(staged.transaction)
    raise CommitConflict(ours, "a later commit", theirs, retryable=True)


def _versions(store: Store, ctx: Context) -> list[VersionName]:
    try:
        return list_versions(store, ctx)
    except NotFound:
        return []


def _open(store: Store, name: VersionName, ctx: Context) -> Manifest:
    return open_manifest(store.open(name.path), replace(ctx, file=name.name))


def _check(
    store: Store,
    ours: Transaction,
    names: list[VersionName],
    before: Manifest | None,
    policy: CommitPolicy,
    ctx: Context,
) -> None:
    """Refuse to commit where the table, or what happened to it since we read it, forbids it."""
    if before is None:
        if not ours.HasField("overwrite"):
            raise NotFound(f"Dataset at path {store.root} was not found: only Overwrite creates it")
        return
    if policy.create_only:
        raise AlreadyExists(f"Dataset already exists: {store.root}")
    check_writable(before.message, before.place)
    since = [name for name in names if ours.read_version < name.version]
    if len(since) < before.version - ours.read_version:
        gone = "a version that is gone"
        raise CommitConflict(operation_of(ours), gone, before.version, retryable=False)
    for name in since:
        manifest = before if name == names[-1] else _open(store, name, ctx)
        check_conflict(ours, transaction_of(store, manifest, ctx), name.version)


def transaction_of(store: Store, manifest: Manifest, ctx: Context) -> Transaction | None:
    """Return what a version did: its inline transaction, or else its file; None without both."""
    if manifest.transaction is not None or not manifest.message.transaction_file:
        return manifest.transaction
    name = manifest.message.transaction_file
    try:
        return open_transaction(store.open(f"{FOLDER}/{name}"), replace(ctx, file=name))
    except NotFound:
        return None
