"""Base paths: where the files of a table lie when they do not lie below its own root.

A shallow clone names the root of its source; a table spread over several stores names each. An
entry without a base lies below the table's root.

Layout (message lance.table.BasePath): 1 id, 2 name, 3 is_dataset_root, 4 path (absolute, or a URI).
Below a dataset root files stand in the usual folders, below another base directly.

Clauses: L.table.base.resolves, L.table.base.folder
"""

from __future__ import annotations

from lanceref.errors import NotFound
from lanceref.proto import table_pb2
from lanceref.storage import IOStats, LocalStore, Source, Store, open_store

DATA_FOLDER = "data"


class Bases:
    """Opens the files of a manifest, wherever their base lies."""

    def __init__(self, store: Store, manifest: table_pb2.Manifest) -> None:
        self._store = store
        self._bases = {base.id: base for base in manifest.base_paths}

    def open_data_file(self, path: str, base_id: int | None) -> Source:
        """Open a data file. Raises NotFound."""
        if base_id is None:
            return self._store.open(f"{DATA_FOLDER}/{path}")
        base = self._base(base_id)
        below = f"{DATA_FOLDER}/{path}" if base.is_dataset_root else path
        return self._other(base.path).open(below)

    def open_deletion_file(self, path: str, base_id: int | None) -> Source:
        """Open a deletion file; `path` begins with its folder. Raises NotFound."""
        store = self._store if base_id is None else self._other(self._base(base_id).path)
        return store.open(path)

    def _base(self, base_id: int) -> table_pb2.BasePath:
        if base_id not in self._bases:
            raise NotFound(f"{self._store.root}: no base path {base_id}")
        return self._bases[base_id]

    def _other(self, uri: str) -> Store:
        """Return the store of another base; what is read there counts for the table."""
        other = open_store(uri)
        if isinstance(other, LocalStore):
            other.stats = self._stats
        return other

    @property
    def _stats(self) -> IOStats:
        return self._store.stats
