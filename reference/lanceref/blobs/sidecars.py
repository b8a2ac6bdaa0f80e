"""Sidecars: the files of blobs that stand beside a data file.

A blob that is too large for the data file goes into a file of its own or into one that it shares
with others. Both kinds are numbered together, from 1 for each data file.

Layout: the bytes of the blobs, one behind the other.

Clauses: L.blob.sidecar
"""

from __future__ import annotations

from collections.abc import Iterable

from lanceref.data_file.descriptors import sidecar_path
from lanceref.storage import Sink, Store, whole


class Sidecars:
    """Writes the files beside one data file; `paths` lists them. On any error the caller aborts."""

    def __init__(self, store: Store, data_file: str) -> None:
        self._store, self._data_file = store, data_file
        self._shared: Sink | None = None
        self._number = self._most = 0
        self.paths: list[str] = []

    def write_alone(self, payload: Iterable[memoryview]) -> int:
        """Write a file of one blob; return its number."""
        sink = self._create()
        number = len(self.paths)
        with whole(sink):
            for part in payload:
                sink.write(part)
        return number

    def write_shared(
        self, payload: Iterable[memoryview], size: int, most_bytes: int
    ) -> tuple[int, int]:
        """Write `size` bytes behind other blobs; return the number of the file and the position.

        A new file begins before the one at hand would become larger than `most_bytes`, or where
        blobs have another limit than those before.
        """
        sink = self._shared
        if sink is None or most_bytes != self._most or sink.position + size > most_bytes:
            self.close()
            self._shared = sink = self._create()
            self._number, self._most = len(self.paths), most_bytes
        position = sink.position
        for part in payload:
            sink.write(part)
        return self._number, position

    def close(self) -> None:
        """Make the shared file at hand visible."""
        if self._shared is not None:
            self._shared.close()
        self._shared = None

    def abort(self) -> None:
        """Leave no file behind."""
        if self._shared is not None:
            self._shared.abort()
        for path in self.paths:
            self._store.delete(path)

    def _create(self) -> Sink:
        path = sidecar_path(self._data_file, len(self.paths) + 1)
        sink = self._store.create(path)
        self.paths.append(path)
        return sink
