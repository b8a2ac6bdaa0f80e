"""Sources that are no objects of a store, and copies from one store to another."""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.core.cursor import Source
from lanceref.storage.protocol import IOStats, Store, whole

COPY_BYTES = 8 << 20
"""Bytes that a copy holds at once."""


class BytesSource:
    """Bytes in memory, read like a file."""

    def __init__(self, data: bytes | memoryview, path: str = "<bytes>") -> None:
        self._data = memoryview(data)
        self.path = path
        self.size = len(self._data)
        self.stats = IOStats()

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`."""
        part = self._data[max(0, offset) : max(0, offset) + max(0, size)]
        self.stats.count_reads(1, len(part))
        return part

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Return up to `sizes` bytes from each of the `offsets`."""
        return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]

    def close(self) -> None:
        """Do nothing: memory needs no release."""


def copy_object(source: Source, store: Store, path: str) -> None:
    """Copy an object into a store."""
    with whole(store.create(path)) as sink:
        for offset in range(0, source.size, COPY_BYTES):
            sink.write(source.read(offset, COPY_BYTES))
