"""Files of a dataset: those that its versions name, and those that lie there (face).

Has the names of pylance's `LanceDataset.tracked_files` and `all_files`. Paths are below the root
of the table or of a base; an index is named file by file, and so are the blobs beside a data file:
who takes away what no version names must not lose them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from lanceref.storage.manifests.manifest_names import list_versions
from lanceref.table.bases import Bases
from lanceref.table.manifest import Manifest
from lanceref.table.referenced_files import Needed, needed_by
from lanceref.table.versions import open_named

from pylanceref.table_handle import OpenTable

_URI = pa.field("base_uri", pa.dictionary(pa.int32(), pa.string()), nullable=False)

TRACKED = pa.schema(
    [
        pa.field("version", pa.int64(), nullable=False),
        _URI,
        pa.field("path", pa.string(), nullable=False),
        pa.field("type", pa.dictionary(pa.int8(), pa.string()), nullable=False),
    ]
)
"""Columns of the files that versions name."""

FOUND = pa.schema(
    [
        _URI,
        pa.field("path", pa.string(), nullable=False),
        pa.field("size_bytes", pa.int64(), nullable=False),
        pa.field("last_modified", pa.timestamp("us", tz="UTC"), nullable=False),
    ]
)
"""Columns of the files that lie there."""


class DatasetFiles(OpenTable):
    """The files of a dataset."""

    def tracked_files(
        self,
        *,
        min_version: int | None = None,
        progress: Callable[[int, int | None], object] | None = None,
    ) -> pa.RecordBatchReader:
        """Return the files of every version from one on, newest version first.

        `progress` is told after each version how many were gone through, of how many.
        """
        return pa.RecordBatchReader.from_batches(TRACKED, self._tracked(min_version, progress))

    def all_files(self) -> pa.RecordBatchReader:
        """Return the files that lie below the root of the table, bases not among them."""
        store = self._root
        entries = sorted(store.walk(""), key=lambda entry: entry.path)
        columns = [
            _repeated(store.root, len(entries), FOUND.field("base_uri").type),
            pa.array([one.path for one in entries], pa.string()),
            pa.array([one.size for one in entries], pa.int64()),
            pa.array([int(one.modified * 1e6) for one in entries], FOUND.field(3).type),
        ]
        return pa.RecordBatchReader.from_batches(
            FOUND, [pa.RecordBatch.from_arrays(columns, schema=FOUND)]
        )

    def _tracked(
        self, least: int | None, progress: Callable[[int, int | None], object] | None
    ) -> Iterator[pa.RecordBatch]:
        store = self._snapshot.store
        names = [
            name
            for name in reversed(list_versions(store, self._ctx))
            if least is None or name.version >= least
        ]
        for number, name in enumerate(names, 1):
            manifest = open_named(store, name, self._ctx)
            rows = [(store.root, name.path, "manifest"), *self._named_by(manifest)]
            roots, paths, kinds = zip(*rows, strict=True)
            columns = [
                pa.array([manifest.version] * len(rows), pa.int64()),
                pa.array(roots).dictionary_encode(),
                pa.array(paths),
                pa.array(kinds).dictionary_encode().cast(TRACKED.field("type").type),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=TRACKED)
            if progress is not None:
                progress(number, len(names))

    def _named_by(self, manifest: Manifest) -> Iterator[tuple[str, str, str]]:
        """Yield root, path and kind of each file that a version needs."""
        bases = Bases(self._snapshot.store, manifest)
        seen: set[Needed] = set()
        for one in needed_by(manifest, bases):
            if one in seen:
                continue
            seen.add(one)
            store = bases.store_of(one.base_id)
            if not one.path.endswith("/"):
                yield store.root, one.path, one.kind
                continue
            for entry in store.walk(one.path.rstrip("/")):
                yield store.root, entry.path, one.kind


def _repeated(value: str, times: int, kind: pa.DataType) -> pa.DictionaryArray:
    return pa.array([value] * times, pa.string()).dictionary_encode().cast(kind)
