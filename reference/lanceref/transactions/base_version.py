"""Past: what a commit looks up in the table it is made for.

Clauses: L.table.datafile.size, L.table.row-ids.length
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.proto import table_pb2
from lanceref.storage import Store
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader
from lanceref.table.fragments import Fragment
from lanceref.table.lineage import ROW_ID, open_lineage
from lanceref.table.manifest import Manifest
from lanceref.table.rows import FragmentRows
from lanceref.table.versions import open_version


class StoredPast:
    """Looks it up in the store of the table."""

    def __init__(self, store: Store, ctx: Context) -> None:
        self._store = store
        self._ctx = ctx

    @property
    def ctx(self) -> Context:
        """The context of the commit."""
        return self._ctx

    def manifest(self, version: int) -> Manifest:
        """Return an older version. Raises VersionNotFound."""
        return open_version(self._store, version, self._ctx)

    def num_rows(self, before: Manifest, fragment: Fragment) -> int:
        """Return the physical rows of a fragment. Raises FormatError."""
        return FragmentReader(fragment, Bases(self._store, before), self._ctx).physical_rows

    def file_size(self, before: Manifest, file: table_pb2.DataFile) -> int:
        """Return the bytes of a data file. Raises FormatError where there is none."""
        base = file.base_id if file.HasField("base_id") else None
        return Bases(self._store, before).open_data_file(file.path, base).size

    def lineage(self, before: Manifest, fragment: Fragment, name: str) -> NDArray[np.uint64]:
        """Return the row ids or versions of all physical rows of a fragment, uint64."""
        columns = FragmentReader(fragment, Bases(self._store, before), self._ctx)
        rows, values = columns.physical_rows, open_lineage(name, columns, self._ctx)
        if values is not None:
            return values.at(np.arange(rows))
        if name == ROW_ID:
            return np.arange(rows, dtype=np.uint64) + np.uint64(fragment.id << 32)
        return np.ones(rows, np.uint64)

    def deleted(self, before: Manifest, fragment: Fragment) -> NDArray[np.int64]:
        """Return the offsets of the deleted rows of a fragment, ascending."""
        bases = Bases(self._store, before)
        return FragmentRows(fragment, bases, self._ctx, stable_ids=False).deleted
