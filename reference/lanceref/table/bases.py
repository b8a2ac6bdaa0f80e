"""Base paths: where the files of a table lie, those that a version needs, and orphans.

A shallow clone names the root of its source; a table spread over several stores names each. An
entry without a base lies below the table's root. A data file may have a folder of blobs beside it,
and an index is a folder: both are named by the beginning of the paths below them. An interrupted
write leaves orphans: temporary and staged names beside manifests and references, and the tables of
branches that are not in the list of branches.

Layout (message lance.table.BasePath): 1 id, 2 name, 3 is_dataset_root, 4 path (absolute, or a URI).
Below a dataset root files are in the usual folders, below another base directly.

Clauses: L.table.base.unique, L.table.base.resolves, L.table.base.folder, L.table.files.exist,
L.table.cleanup.stray
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import count
from pathlib import PurePosixPath
from posixpath import splitext
from typing import NamedTuple
from uuid import UUID

from lanceref.core.errors import FormatError, NotFound, Unreadable
from lanceref.proto import table_pb2
from lanceref.storage import Entry, Source, Store, open_store
from lanceref.storage.manifests.manifest_names import FOLDER as VERSIONS
from lanceref.storage.manifests.manifest_names import HINT, parse_name
from lanceref.storage.uri import contains
from lanceref.table.deletions import FOLDER as DELETIONS
from lanceref.table.deletions import deletion_path
from lanceref.table.file_entries import base_of
from lanceref.table.manifest import Manifest
from lanceref.table.refs import BRANCHES, TAGS, TREE, main_root

DATA_FOLDER = "data"


def free_id(bases: Iterable[table_pb2.BasePath], least: int) -> int:
    """Return the lowest id, from `least` on, that none of some bases has."""
    taken = {base.id for base in bases}
    return next(number for number in count(least) if number not in taken)


class Bases:
    """Opens the files of a manifest, wherever their base lies."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self._store = store
        self._place = manifest.place
        self._branch = manifest.message.branch
        self.dictionaries = manifest.dictionaries
        paths = manifest.message.base_paths
        self._bases = {base.id: base for base in paths}
        if len(self._bases) != len(paths):
            found = f"bases {[base.id for base in paths][:8]}"
            raise FormatError("L.table.base.unique", manifest.place, found, "unique ids")

    def data_path(self, path: str, base_id: int | None) -> str:
        """Return where a data file lies below its base."""
        if base_id in self._bases and not self._bases[base_id].is_dataset_root:
            return path  # L.table.base.folder
        return f"{DATA_FOLDER}/{path}"

    def open_data_file(self, path: str, base_id: int | None) -> Source:
        """Open a data file. Raises FormatError when the manifest names one that does not exist."""
        return self.open_listed_file(self.data_path(path, base_id), base_id)

    def open_listed_file(self, path: str, base_id: int | None) -> Source:
        """Open a data or deletion file by a path with its folder. Raises FormatError likewise."""
        clause, found = "L.table.files.exist", "a file that cannot be read"
        try:
            store = self.store_of(base_id)  # Unreadable: it is not allowed
            try:
                return store.open(path)
            except Unreadable as error:
                raise FormatError(clause, self._place, found, path) from error
        except NotFound as error:
            raise FormatError(clause, self._place, "no such file", path) from error

    def store_of(self, base_id: int | None) -> Store:
        """Return the store of a base (None: of the table); its reads count for the table.

        Raises FormatError.
        """
        if base_id is None:
            return self._store
        if base_id not in self._bases:
            found = f"base {base_id}"
            raise FormatError("L.table.base.resolves", self._place, found, "a known base")
        other = open_base(self._store, self._bases[base_id], self._branch)
        other.stats = self._store.stats
        return other

    def open_uri(self, uri: str) -> Source:
        """Open an object by its own URI, as a blob names one. Raises NotFound, Unreadable."""
        check_allowed(self._store, uri, self._branch)
        return open_store(uri, self._store.options).open("")


def open_base(store: Store, base: table_pb2.BasePath, branch: str) -> Store:
    """Return the store of a base of the table in `store`. Raises NotFound, Unreadable."""
    check_allowed(store, base.path, branch)
    return open_store(base.path, store.options.of_base(base.id))


def check_allowed(store: Store, uri: str, branch: str) -> None:
    """Raise Unreadable for what is outside a table that may only be read by itself.

    The table is that of the main branch, with all branches: one finds files of another by a base.
    """
    root = main_root(store.root, branch)
    if not store.options.allow_external and not contains(root, uri):
        raise Unreadable(f"{uri}: outside the table {root}, and allow_external is False")


INDICES = "_indices"
TRANSACTIONS = "_transactions"

OF_A_TABLE = (DATA_FOLDER, DELETIONS, INDICES, TRANSACTIONS, VERSIONS)
"""Folders directly below the root of a table or of a branch."""

DATA_FILE, DELETION_FILE = OF_ROWS = "data file", "deletion file"
"""Kinds of what holds the rows of a version."""


class Needed(NamedTuple):
    """An object, or with a slash at its end a folder, below a base (None: the table's own root)."""

    kind: str
    path: str
    base_id: int | None


def needed_by(manifest: Manifest, bases: Bases) -> Iterator[Needed]:
    """Yield what a version needs besides its manifest; blob folders whether they exist or not."""
    name = manifest.message.transaction_file
    if name:
        yield Needed("transaction file", f"{TRANSACTIONS}/{name}", None)
    for fragment in manifest.fragments:
        for file in (*fragment.files, *(overlay.file for overlay in fragment.overlays)):
            path = bases.data_path(file.path, file.base_id)
            yield Needed(DATA_FILE, path, file.base_id)
            yield Needed(DATA_FILE, f"{splitext(path)[0]}/", file.base_id)
        entry = fragment.deletion_file
        if entry is not None:
            path = deletion_path(fragment.id, entry, fragment.place)
            yield Needed(DELETION_FILE, path, base_of(entry))
    for index in manifest.indices:
        folder = f"{INDICES}/{UUID(bytes=bytes(index.uuid.uuid))}/"
        yield Needed("index file", folder, base_of(index))


def orphans(store: Store, branches: Container[str]) -> Iterator[Entry]:
    """Yield the orphans of a table, those below `tree` for its main branch; `branches` are listed.

    Any of them may also belong to a write that is not finished.
    """
    for entry in _below(store, VERSIONS):
        name = PurePosixPath(entry.path).name
        if name != HINT and parse_name(name) is None:
            yield entry
    for folder in (TAGS, BRANCHES):
        for entry in _below(store, folder):
            if not entry.path.endswith(".json"):
                yield entry
    for entry in _below(store, TREE):
        if branch_of(entry.path) not in branches:
            yield entry


def _below(store: Store, folder: str) -> Iterator[Entry]:
    """Yield the files of a folder; none of one that a link places outside the table."""
    return store.walk(folder) if store.owns(folder) else iter(())


def branch_of(path: str) -> str:
    """Return the branch that a file below the tree belongs to."""
    parts = PurePosixPath(path).parts
    end = next((n for n, part in enumerate(parts) if part in OF_A_TABLE), len(parts) - 1)
    return "/".join(parts[1:end])
