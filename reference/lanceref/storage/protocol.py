"""Store: objects under paths, and how one is read and written.

A `Store` holds objects under paths relative to its root; a `Source` is one object opened for
positioned reads, a `Sink` one that is being written. Every request is counted, so that a test can
prove what was read.

Keys of storage options are those of pylance: of the store itself (`aws_access_key_id`,
`aws_endpoint`, `account_name`, ...; the prefixes `aws_`, `azure_` and `google_` may be left out),
of its client (`allow_http`, `timeout`, ...), and for retries `client_max_retries` and
`client_retry_timeout` (seconds). A key `base_<id>.<key>` is for that base of a table alone.
`durable` ("true", or "false" for tables that may be lost) says whether a local store flushes what
it writes to the disk before a commit names it. Keys that mean nothing to a store are left alone.

A `Draft` holds the files that were written for a version which is not committed yet. They are
deleted when the block ends in an error, but not once they were handed over to a commit that may
have happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

from lanceref.core.cursor import PROCESS, IOStats, Source


def iops_counter() -> int:
    """Return the requests that read, of the process."""
    return PROCESS.read_iops


def bytes_read_counter() -> int:
    """Return the bytes that were read, of the process."""
    return PROCESS.read_bytes


BASE_KEY = re.compile(r"base_([0-9]+)\.(.+)", re.DOTALL)
"""A key that is for one base."""

DURABLE = "durable"
"""Key that says whether files outlive a power cut."""

CommitLock = Callable[[int], AbstractContextManager[None]]
"""Makes the holder the only one to commit a version."""


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Options of a table: `own` of its root, and more for bases by id.

    `commit_lock` is held around every commit to the table. Without `allow_external` nothing outside
    the root of the table is opened for it. Options may be keys: they are not shown.
    """

    own: Mapping[str, str] = field(default_factory=dict, repr=False)
    by_id: Mapping[int, Mapping[str, str]] = field(default_factory=dict, repr=False)
    commit_lock: CommitLock | None = None
    allow_external: bool = True

    @property
    def durable(self) -> bool:
        """Whether a local store flushes what it writes to the disk."""
        return self.own.get(DURABLE, "true") != "false"

    def of_base(self, base_id: int) -> StoreOptions:
        """Return the options of a base: those of the table, and its own in their place."""
        own = {**self.own, **self.by_id.get(base_id, {})}
        return StoreOptions(own, allow_external=self.allow_external)


NO_OPTIONS = StoreOptions()
"""What a local store needs."""


def store_options(
    options: Mapping[str, str] | None,
    commit_lock: CommitLock | None = None,
    *,
    allow_external: bool = True,
) -> StoreOptions:
    """Return options as a caller gave them.

    Raises TypeError for what is no text, and for a lock that cannot be called.
    """
    if commit_lock is not None and not callable(commit_lock):
        raise TypeError(f"commit_lock must be a function, got {type(commit_lock)}")
    _check(options)
    own: dict[str, str] = {}
    by_id: dict[int, dict[str, str]] = {}
    for key, value in (options or {}).items():
        scoped = BASE_KEY.fullmatch(key)
        if scoped is None:
            own[key] = value
        else:
            by_id.setdefault(int(scoped[1]), {})[scoped[2]] = value
    return StoreOptions(own, by_id, commit_lock, allow_external)


def _check(options: Mapping[str, str] | None) -> None:
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"{type(options).__name__!r} object is not an instance of 'dict'")
    for key, value in (options or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            kind = type(value).__name__
            raise TypeError(f"storage option {key!r}: {kind} is not an instance of 'str'")
    if (options or {}).get(DURABLE, "true") not in ("true", "false"):
        raise ValueError(f"storage option {DURABLE!r} must be 'true' or 'false'")


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
        """Number of bytes that were written so far."""

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes to the object that is being written."""

    def close(self) -> None:
        """Make the object durable and visible under its name."""

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
        """Whether there is an object at `path`."""

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
        part = self._data[max(0, offset) : max(0, offset) + max(0, size)]
        self.stats.count_reads(1, len(part))
        return part

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]

    def close(self) -> None:
        """Do nothing: bytes in memory need no release."""


def copy_object(source: Source, store: Store, path: str) -> None:
    """Copy an opened object to a path of a store."""
    with whole(store.create(path)) as sink:
        for offset in range(0, source.size, COPY_BYTES):
            sink.write(source.read(offset, COPY_BYTES))


Files = list[tuple[Store, str]]
"""Stores, and paths below their roots."""


class Draft:
    """Files that were written, but are in no version yet."""

    def __init__(self, files: Iterable[tuple[Store, str]] = ()) -> None:
        self._files: Files = list(files)

    def add(self, *files: tuple[Store, str]) -> None:
        """Take in files that were just written."""
        self._files.extend(files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the files lie below the roots of their stores."""
        return tuple(path for _, path in self._files)

    def hand_over(self) -> Files:
        """Return the files and forget them: from here on a version may name them."""
        files, self._files = self._files, []
        return files

    def discard(self) -> None:
        """Delete the files: there will be no version of them."""
        for store, path in self.hand_over():
            with suppress(OSError):  # an error before this one is what the caller needs to know
                store.delete(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.discard()
