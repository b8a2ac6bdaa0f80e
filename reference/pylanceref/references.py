"""References: tags, branches and clones of a dataset (face).

A reference is a version number of the branch that is open, a tag, or (branch, version): None stands
for the main branch, and for its latest version.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic, TypeAlias, TypeVar, cast

from lanceref import operations
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, Place, VersionNotFound
from lanceref.search.snapshot import Snapshot, open_snapshot
from lanceref.storage import Store, name_of_uri, store_options
from lanceref.storage.manifests.opening import open_table
from lanceref.table import refs

from pylanceref.table_handle import OpenTable, T, root_of

VersionRef = int | str | tuple[str | None, int | None] | None
"""A version by number, by tag, or as (branch, number); None is the latest."""

Path: TypeAlias = str | os.PathLike[str]
StorageOptions: TypeAlias = dict[str, str] | None

R = TypeVar("R", refs.Tag, refs.Branch)


def tagged(store: Store, ctx: Context, tag: str) -> refs.Tag:
    """Return a tag. Raises OperationRefused, VersionNotFound, FormatError."""
    refs.check_tag_name(tag)
    tags = refs.list_tags(store, ctx)
    if tag not in tags:
        raise VersionNotFound(f"Ref not found error: tag {tag} does not exist")
    return tags[tag]


def open_reference(table: OpenTable, reference: VersionRef) -> Snapshot:
    """Open the version a reference means. Raises NotFound, OperationRefused, FormatError."""
    root, ctx, store = table._root, table._ctx, table._snapshot.store
    if isinstance(reference, str):
        tag = tagged(root, ctx, reference)
        refs.check_stored_branch(tag["branch"], Place(refs.tag_path(reference), 0))
        reference = (tag["branch"], tag["version"])
    if isinstance(reference, tuple):
        branch, reference = reference
        store = refs.branch_store(root, branch)
    return open_snapshot(store, reference, ctx)


class _References(Generic[R]):
    """The tags of a dataset, or its branches."""

    _read: Callable[[Store, Context], dict[str, R]]
    _version: str
    """The version that each of them names."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table
        self._store, self._ctx = table._root, table._ctx

    def list(self) -> dict[str, R]:
        """Return every one of them by its name."""
        return self._read(self._store, self._ctx)

    def list_ordered(self, order: str | None = None) -> Sequence[tuple[str, R]]:
        """Return them by version, the newest first unless `order` is `asc`. Raises ValueError."""
        if order not in (None, "asc", "desc"):
            raise ValueError(f"Invalid sort order '{order}'. Valid values are: asc, desc")

        def number(pair: tuple[str, R]) -> int:
            return cast("Mapping[str, int]", pair[1])[self._version]

        return sorted(sorted(self.list().items()), key=number, reverse=order != "asc")


class Tags(_References[refs.Tag]):
    """The tags of a dataset: names of versions."""

    _read, _version = staticmethod(refs.list_tags), "version"

    def get_version(self, tag: str) -> int:
        """Return the version a tag names. Raises NotFound."""
        return tagged(self._store, self._ctx, tag)["version"]

    def create(self, tag: str, reference: VersionRef = None) -> None:
        """Name a version, by default the one that is open. Raises OperationRefused, NotFound."""
        refs.check_tag_name(tag)
        now = datetime.now(UTC)
        refs.put_tag(self._store, tag, self._tag(reference, now, now, {}), new=True)

    def update(self, tag: str, reference: VersionRef = None) -> None:
        """Let a tag name another version. Raises NotFound."""
        held = tagged(self._store, self._ctx, tag)
        made = self._tag(reference, held["created_at"], datetime.now(UTC), held["metadata"])
        refs.put_tag(self._store, tag, made)

    def delete(self, tag: str) -> None:
        """Delete a tag; its version stays. Raises NotFound."""
        tagged(self._store, self._ctx, tag)
        self._store.delete(refs.tag_path(tag))

    def _tag(
        self,
        reference: VersionRef,
        created: datetime | None,
        updated: datetime,
        metadata: dict[str, str],
    ) -> refs.Tag:
        named = self._table.version if reference is None else reference
        try:
            found = open_reference(self._table, named)
        except NotFound as error:
            shown = named if isinstance(named, tuple) else (self._table._branch, named)
            branch, number = shown[0] or refs.MAIN, shown[1]
            text = f"Version not found error: version {branch}:{number} does not exist"
            raise VersionNotFound(text) from error
        return refs.Tag(
            branch=found.manifest.message.branch or None,
            version=found.manifest.version,
            created_at=created,
            updated_at=updated,
            manifest_size=found.store.open(found.manifest_path).size,
            metadata=metadata,
        )


class Branches(_References[refs.Branch]):
    """The branches of a dataset, each with versions of its own."""

    _read, _version = staticmethod(refs.list_branches), "parent_version"

    def delete(self, branch: str) -> None:
        """Delete a branch and its table. Raises NotFound, OperationRefused where others need it."""
        operations.branches.delete_branch(self._store, self._ctx, branch)


def checkout_version(table: T, version: VersionRef) -> T:
    """Return another version: of this branch, of a tag, of a branch. Raises VersionNotFound."""
    found = copy(table)
    found._snapshot = open_reference(table, version)
    return found.within(table.session())


def create_branch(
    table: T, branch: str, reference: VersionRef = None, storage_options: StorageOptions = None
) -> T:
    """Begin a branch, reached as the table is, at a version. Raises OperationRefused, NotFound."""
    store_options(storage_options)
    refs.check_branch_name(branch)
    found = open_reference(table, table.version if reference is None else reference)
    store = operations.branches.create_branch(table._root, table._ctx, branch, found)
    made = copy(table)
    made.uri, made._snapshot = store.root, open_snapshot(store, None, table._ctx)
    return made.within(table.session())


def shallow_clone(
    table: T, target_path: Path, reference: VersionRef, storage_options: StorageOptions = None
) -> T:
    """Make a table whose rows lie here. Raises AlreadyExists, NotFound."""
    clone = operations.branches.shallow_clone
    return _cloned(table, target_path, reference, storage_options, clone)


def deep_clone(
    table: T, target_path: Path, reference: VersionRef, storage_options: StorageOptions = None
) -> T:
    """Make a table of copied files. Raises AlreadyExists, NotFound."""
    clone = operations.branches.deep_clone
    return _cloned(table, target_path, reference, storage_options, clone)


def _cloned(
    table: T,
    path: Path,
    reference: VersionRef,
    storage_options: StorageOptions,
    clone: Callable[[Snapshot, Store], None],
) -> T:
    """Make a table, reached as this one unless options say how, and open it."""
    found, own = open_reference(table, reference), table._snapshot.store.options
    options = own if storage_options is None else store_options(storage_options)
    store = open_table(path, options)
    clone(found, store)
    snapshot = open_snapshot(store, None, replace(table._ctx, file=name_of_uri(store.root)))
    return type(table).of(os.fspath(path), snapshot, root_of(snapshot)).within(table.session())
