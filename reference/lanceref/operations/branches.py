"""Branches and clones: tables that begin at a version of another one.

A branch is a shallow clone below the root of its table, and a record of where it left its parent.

Clauses: L.table.refs.branch, L.txn.op.clone
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

from lanceref.core.context import Context
from lanceref.core.errors import OperationRefused, VersionNotFound
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import Snapshot
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import FOLDER
from lanceref.storage.protocol import copy_object
from lanceref.table import refs
from lanceref.table.bases import DATA_FOLDER, Bases, branch_of, needed_by
from lanceref.transactions.manifest_builder import write_clone


def find_branch(root: Store, ctx: Context, branch: str) -> refs.Branch:
    """Return the record of a branch. Raises VersionNotFound, FormatError."""
    found = refs.list_branches(root, ctx).get(branch)
    if found is None:
        raise VersionNotFound(f"Ref not found error: Branch {branch} does not exist")
    return found


def create_branch(root: Store, ctx: Context, branch: str, start: Snapshot) -> Store:
    """Begin a branch at a version and return the store of its table. Raises OperationRefused."""
    refs.check_branch_name(branch)
    if branch in refs.list_branches(root, ctx):
        raise OperationRefused(f"Ref conflict error: branch {branch} already exists")
    store = refs.branch_store(root, branch)
    if next(store.list(FOLDER), None) is not None:
        raise OperationRefused(
            f"Ref conflict error: branch {branch} is being created or deleted, or that was "
            "interrupted: cleanup_old_versions(delete_unverified=True) removes what it left"
        )
    clone = Transaction.Clone(is_shallow=True, ref_path=start.store.root, branch_name=branch)
    size = write_clone(store, start.manifest, clone)
    parent = start.manifest.message.branch or None
    above = find_branch(root, ctx, parent)["branch_identifier"] if parent else []
    entry = refs.Branch(
        parent_branch=parent,
        branch_identifier=[*above, (start.manifest.version, uuid4().hex)],
        parent_version=start.manifest.version,
        create_at=int(datetime.now(UTC).timestamp()),
        manifest_size=size,
        metadata={},
    )
    refs.put_branch(root, branch, entry, new=True)
    return store


def delete_branch(root: Store, ctx: Context, branch: str) -> None:
    """Delete a branch and its table. Raises VersionNotFound, OperationRefused where others need it.

    Its folder stays as long as others lie below it, and goes with the last of these.
    """
    refs.check_branch_name(branch)
    find_branch(root, ctx, branch)
    every = refs.list_branches(root, ctx)
    children = [name for name, one in every.items() if one["parent_branch"] == branch]
    if children:
        raise OperationRefused(f"Branch {branch} is referenced by branches {children}")
    names = [name for name, tag in refs.list_tags(root, ctx).items() if tag["branch"] == branch]
    if names:
        raise OperationRefused(f"Branch {branch} is referenced by tags {names}")
    root.delete(refs.branch_path(branch))
    others = [f"{name}/" for name in every if name != branch]
    parts = branch.split("/")
    folders = ["/".join(parts[:count]) + "/" for count in range(1, len(parts) + 1)]
    unused = (one for one in folders if not any(name.startswith(one) for name in others))
    own = next(unused, None)
    if own is not None and root.owns(f"{refs.TREE}/{own}"):
        paths = [entry.path for entry in root.walk(f"{refs.TREE}/{own}")]
        for gone in {branch_of(path) for path in paths}:
            root.prune(f"{refs.TREE}/{gone}")  # records first: alone they would keep a name
        for path in paths:
            root.delete(path)
        root.prune(f"{refs.TREE}/{own}")


def shallow_clone(source: Snapshot, store: Store) -> None:
    """Make a table whose rows lie in another one. Raises AlreadyExists."""
    # L.txn.op.clone
    clone = Transaction.Clone(is_shallow=True, ref_path=source.store.root)
    write_clone(store, source.manifest, clone)


def deep_clone(source: Snapshot, store: Store) -> None:
    """Make a table of copied files. Raises AlreadyExists, NotFound for a file that is missing."""
    bases = Bases(source.store, source.manifest)
    for one in needed_by(source.manifest, bases):
        base = bases.store_of(one.base_id)
        if one.kind == "transaction file":
            continue
        is_folder = one.path.endswith("/")
        paths = [entry.path for entry in base.walk(one.path)] if is_folder else [one.path]
        for path in paths:
            below = path if path.startswith("_") else f"{DATA_FOLDER}/{path.removeprefix('data/')}"
            copy_object(base.open(path), store, below)
    write_clone(store, source.manifest, Transaction.Clone(ref_path=source.store.root))
