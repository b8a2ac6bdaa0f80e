"""Store: objects under paths, and how one is read and written.

A `Store` holds objects under paths relative to its root; a `Source` is one object opened for
positioned reads, a `Sink` one that is being written. Every request is counted, so that a test can
prove what was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lanceref.core.cursor import Source
from lanceref.storage.options import StoreOptions


@dataclass(slots=True)
class IOStats:
    """Requests and bytes since the counter was made or last reset."""

    read_iops: int = 0
    read_bytes: int = 0
    write_iops: int = 0
    written_bytes: int = 0

    def count_reads(self, requests: int, size_bytes: int) -> None:
        """Count requests, and the bytes that they gave; the process counts them too."""
        self.read_iops += requests
        self.read_bytes += size_bytes
        if self is not PROCESS:
            PROCESS.count_reads(requests, size_bytes)

    def incremental(self) -> IOStats:
        """Return what was counted since the last call, and start again from zero."""
        seen = IOStats(self.read_iops, self.read_bytes, self.write_iops, self.written_bytes)
        self.read_iops = self.read_bytes = self.write_iops = self.written_bytes = 0
        return seen


PROCESS = IOStats()
"""Reads of every store and file since the process began."""


def iops_counter() -> int:
    """Return the requests that read, of the process."""
    return PROCESS.read_iops


def bytes_read_counter() -> int:
    """Return the bytes that were read, of the process."""
    return PROCESS.read_bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of a store: `modified` in seconds since 1970."""

    path: str
    size: int
    modified: float


class Sink(Protocol):
    """One object that is being written from its start to its end."""

    @property
    def position(self) -> int:
        """Bytes written so far."""

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""

    def close(self) -> None:
        """Make the object visible, and durable."""

    def abort(self) -> None:
        """Leave no unfinished object; nothing once it is closed."""


S = TypeVar("S", bound=Sink)


@contextmanager
def whole(sink: S) -> Iterator[S]:
    """Close a sink at the end of a block; on any error, also of closing it, abort it."""
    try:
        yield sink
        sink.close()
    finally:
        sink.abort()


class Store(Protocol):
    """Objects under paths relative to one root."""

    stats: IOStats

    @property
    def root(self) -> str:
        """The path or URI that all paths are relative to."""

    @property
    def options(self) -> StoreOptions:
        """What the store was opened with; stores of other roots are opened with the same."""

    @property
    def lists_in_order(self) -> bool:
        """Whether a listing costs little more than its first name: then a hint helps nobody."""

    def at(self, root: str) -> Store:
        """Return a store of the same kind with another root, for the same reader or writer."""

    def open(self, path: str) -> Source:
        """Open an object for reading. Raises NotFound, and Unreadable or StoreFailed."""

    def create(self, path: str) -> Sink:
        """Begin an object; it is there once the sink is closed."""

    def owns(self, folder: str) -> bool:
        """Whether a folder lies below the root: in others nothing is ever removed."""

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names of the objects directly below `prefix`."""

    def walk(self, prefix: str) -> Iterator[Entry]:
        """Yield the objects below `prefix` at any depth; all for an empty one."""

    def exists(self, path: str) -> bool:
        """Whether an object stands at `path`."""

    def put(self, path: str, data: bytes) -> None:
        """Write an object in one step, replacing what was there."""

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if none is there; atomic. Return False when one is."""

    def rename(self, path: str, to: str) -> None:
        """Give an object another path. Raises NotFound."""

    def delete(self, path: str) -> None:
        """Remove an object; a missing one is not an error."""

    def prune(self, prefix: str) -> None:
        """Remove folders below `prefix` that are empty, in a store that has folders."""
