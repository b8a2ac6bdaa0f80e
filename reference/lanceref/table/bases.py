"""Base paths: where the files of a table lie when they do not lie below its own root.

A shallow clone names the root of its source; a table spread over several stores names each. An
entry without a base lies below the table's root.

Layout (message lance.table.BasePath): 1 id, 2 name, 3 is_dataset_root, 4 path (absolute, or a URI).
Below a dataset root files stand in the usual folders, below another base directly.

Clauses: L.table.base.unique, L.table.base.resolves, L.table.base.folder, L.table.files.exist
"""

from __future__ import annotations

from lanceref.core.errors import FormatError, NotFound, Unreadable
from lanceref.proto import table_pb2
from lanceref.storage import Source, Store, contains, open_source, open_store
from lanceref.table.manifest import Manifest
from lanceref.table.refs import main_root

DATA_FOLDER = "data"


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
        return self.open_deletion_file(self.data_path(path, base_id), base_id)

    def open_deletion_file(self, path: str, base_id: int | None) -> Source:
        """Open a deletion file; `path` begins with its folder. Raises FormatError likewise."""
        clause, place = "L.table.files.exist", self._place
        try:
            store = self.store_of(base_id)
        except NotFound as error:
            raise FormatError(clause, place, "no such store", path) from error
        try:
            return store.open(path)
        except NotFound as error:
            raise FormatError(clause, place, "no such file", path) from error
        except Unreadable as error:
            raise FormatError(clause, place, "a file that cannot be read", path) from error

    def open_relative(self, path: str, base_id: int | None) -> Source:
        """Open an object of a base, or of the table, by its path there. Raises NotFound."""
        return self.store_of(base_id).open(path)

    def store_of(self, base_id: int | None) -> Store:
        """Return the store of a base (None: of the table); its reads count for the table."""
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
        return open_source(uri, self._store.options)


def open_base(store: Store, base: table_pb2.BasePath, branch: str) -> Store:
    """Return the store of a base of the table in `store`. Raises NotFound, Unreadable."""
    check_allowed(store, base.path, branch)
    return open_store(base.path, store.options.of_base(base.id, base.path))


def check_allowed(store: Store, uri: str, branch: str) -> None:
    """Raise Unreadable for what is outside a table that may only be read by itself.

    The table is that of the main branch, with all branches: one finds files of another by a base.
    """
    root = main_root(store.root, branch)
    if not store.options.allow_external and not contains(root, uri):
        raise Unreadable(f"{uri}: outside the table {root}, and allow_external is False")
