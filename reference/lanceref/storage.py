"""Storage: where bytes come from and go to.

A `Store` holds objects under paths; a `Source` is one object opened for positioned reads. Local
files are the built-in backend (`pread`: a truncated file gives a short read, never a signal);
object stores fit behind the same two protocols. Every read is counted, so that a test can prove
what was read.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import numpy as np

from lanceref.errors import NotFound

SINK_BUFFER_BYTES = 1 << 20
"""Bytes that a sink gathers before it writes them."""

SMALL_BYTES = 1 << 18
"""Requests up to this size are made one after the other without looking at each: none of a file
comes in two pieces."""

COPY_BYTES = 8 << 20
"""Bytes that a copy holds at once."""


@dataclass(slots=True)
class IOStats:
    """Requests and bytes since the counter was made or last reset."""

    read_iops: int = 0
    read_bytes: int = 0
    write_iops: int = 0
    written_bytes: int = 0

    def incremental(self) -> IOStats:
        """Return what was counted since the last call, and start again from zero."""
        seen = IOStats(self.read_iops, self.read_bytes, self.write_iops, self.written_bytes)
        self.read_iops = self.read_bytes = self.write_iops = self.written_bytes = 0
        return seen


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of a store: `modified` in seconds since 1970."""

    path: str
    size: int
    modified: float


class Source(Protocol):
    """One object opened for positioned reads."""

    @property
    def path(self) -> str:
        """The name used in errors."""

    @property
    def size(self) -> int:
        """Size in bytes."""

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`; shorter only at the end of the object."""

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Make as many requests as there are offsets: what `read` returns for each."""

    def close(self) -> None:
        """Release what the source holds."""


class Sink(Protocol):
    """One object that is being written from its start to its end."""

    @property
    def position(self) -> int:
        """Bytes written so far."""

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""

    def close(self) -> None:
        """Make the object visible."""

    def abort(self) -> None:
        """Leave no object behind."""


class Store(Protocol):
    """Objects under paths relative to one root."""

    stats: IOStats

    @property
    def root(self) -> str:
        """The path or URI that all paths are relative to."""

    def open(self, path: str) -> Source:
        """Open an object for reading. Raises NotFound."""

    def create(self, path: str) -> Sink:
        """Begin an object; it is there once the sink is closed."""

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


class LocalSource:
    """A local file read with `pread`."""

    def __init__(self, path: str, stats: IOStats | None = None) -> None:
        self._fd = -1
        try:
            self._fd = os.open(path, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NotFound(f"{path}: no such file") from error
        except ValueError as error:  # a null byte
            raise NotFound(f"{path!r}: no name of a file") from error
        except OSError as error:
            if error.errno not in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL):
                raise
            raise NotFound(f"{path}: no name of a file") from error
        self.path = path
        found = os.fstat(self._fd)
        if not stat.S_ISREG(found.st_mode):
            raise NotFound(f"{path}: not a file")
        self.size = found.st_size
        self.stats = stats if stats is not None else IOStats()

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`; shorter only at the end of the file."""
        view = np.empty(max(0, min(size, self.size - offset)), np.uint8).data
        filled = 0
        while filled < len(view):
            got = os.preadv(self._fd, [view[filled:]], offset + filled)
            if got == 0:
                break
            filled += got
        self.stats.read_iops += 1
        self.stats.read_bytes += filled
        return view[:filled]

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Return up to `sizes` bytes from each of the `offsets`."""
        if max(sizes, default=0) > SMALL_BYTES:
            return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]
        parts = list(map(os.pread, repeat(self._fd), sizes, offsets))
        self.stats.read_iops += len(parts)
        self.stats.read_bytes += sum(map(len, parts))
        return [memoryview(part) for part in parts]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()


class LocalSink:
    """A local file written under a temporary name and renamed when it is whole."""

    def __init__(self, path: str, stats: IOStats | None = None) -> None:
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tmp", dir=target.parent)
        self._out = os.fdopen(handle, "wb", buffering=SINK_BUFFER_BYTES)
        self._staged, self._target = Path(name), target
        self._whole = False
        self.position = 0
        self.stats = stats if stats is not None else IOStats()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""
        self._out.write(data)
        self.position += len(data)

    def close(self) -> None:
        """Rename the file to its own name; a second call does nothing."""
        if not self._out.closed:
            self._out.close()
            self._staged.chmod(0o644)
            self._staged.rename(self._target)
            self._whole = True
            self.stats.write_iops += 1
            self.stats.written_bytes += self.position

    def abort(self) -> None:
        """Remove the temporary file, also after `close` failed; not once the file is whole."""
        if not self._whole:
            with suppress(OSError):  # what was buffered does not fit the disk either
                self._out.close()
            self._staged.unlink(missing_ok=True)
            self._whole = True


class BytesSource:
    """Bytes in memory, read like a file."""

    def __init__(self, data: bytes | memoryview, path: str = "<bytes>") -> None:
        self._data = memoryview(data)
        self.path = path
        self.size = len(self._data)
        self.stats = IOStats()

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`."""
        self.stats.read_iops += 1
        part = self._data[max(0, offset) : max(0, offset) + max(0, size)]
        self.stats.read_bytes += len(part)
        return part

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Return up to `sizes` bytes from each of the `offsets`."""
        return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]

    def close(self) -> None:
        """Do nothing: memory needs no release."""


class LocalStore:
    """A directory of the local file system."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.fspath(root)
        self.stats = IOStats()

    def _at(self, path: str) -> Path:
        return Path(self.root, path)

    def open(self, path: str) -> LocalSource:
        """Open a file for reading. Raises NotFound."""
        return LocalSource(str(self._at(path)), self.stats)

    def create(self, path: str) -> LocalSink:
        """Begin a file under a temporary name."""
        return LocalSink(str(self._at(path)), self.stats)

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names of the files directly below `prefix`; none if it does not exist."""
        self.stats.read_iops += 1
        directory = self._at(prefix)
        if directory.is_dir():
            with os.scandir(directory) as entries:
                yield from sorted(entry.name for entry in entries if entry.is_file())

    def walk(self, prefix: str) -> Iterator[Entry]:
        """Yield the files below `prefix` at any depth, by path."""
        self.stats.read_iops += 1
        for folder, folders, names in os.walk(self._at(prefix)):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                with suppress(FileNotFoundError):  # gone since it was listed
                    found = path.stat()
                    below = path.relative_to(self.root).as_posix()
                    yield Entry(below, found.st_size, found.st_mtime)

    def exists(self, path: str) -> bool:
        """Whether a file stands at `path`."""
        self.stats.read_iops += 1
        try:
            return self._at(path).is_file()
        except OSError:  # a name that is too long
            return False

    def put(self, path: str, data: bytes) -> None:
        """Write a file through a temporary name and a rename; on failure nothing has changed."""
        staged = self._stage(path, data)
        try:
            staged.rename(self._at(path))
        except OSError:
            staged.unlink(missing_ok=True)
            raise

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a file only if none is there, through a temporary name and a hard link."""
        staged = self._stage(path, data)
        try:
            os.link(staged, self._at(path))
        except FileExistsError:
            return False
        finally:
            with suppress(OSError):  # a stray name: the link decides
                staged.unlink()
        return True

    def rename(self, path: str, to: str) -> None:
        """Give a file another path. Raises NotFound."""
        try:
            self._at(path).rename(self._at(to))
        except FileNotFoundError as error:
            raise NotFound(f"{path}: no such file") from error

    def delete(self, path: str) -> None:
        """Remove a file; a missing one is not an error."""
        self._at(path).unlink(missing_ok=True)

    def prune(self, prefix: str) -> None:
        """Remove the empty folders below `prefix`, and itself."""
        for folder, _, _ in os.walk(self._at(prefix), topdown=False):
            with suppress(OSError):  # something stands in it
                Path(folder).rmdir()

    def _stage(self, path: str, data: bytes) -> Path:
        """Write a whole file under a temporary name beside `path`, down to the disk."""
        target = self._at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tmp", dir=target.parent)
        staged = Path(name)
        with ExitStack() as undo:
            undo.callback(staged.unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            staged.chmod(0o644)
            undo.pop_all()
        self.stats.write_iops += 1
        self.stats.written_bytes += len(data)
        return staged


def copy_object(source: Source, store: Store, path: str) -> None:
    """Copy an object into a store."""
    sink = store.create(path)
    try:
        for offset in range(0, source.size, COPY_BYTES):
            sink.write(source.read(offset, COPY_BYTES))
        sink.close()
    finally:
        sink.abort()


def local_path(uri: str | os.PathLike[str]) -> str:
    """Return the absolute path of a path or `file://` URI. Raises NotFound for another scheme."""
    text = os.fspath(uri)
    parts = urlsplit(text)
    if parts.scheme == "file":
        return unquote(parts.path)
    if "://" in text:
        raise NotFound(f"{text}: no backend for scheme {parts.scheme!r}")
    return str(Path(text).expanduser().absolute())


_wraps: list[Callable[[Store], Store]] = []
"""What is put around every store that is opened, the first innermost."""


@contextmanager
def wrapped_stores(wrap: Callable[[Store], Store]) -> Iterator[None]:
    """Put `wrap` around every store that is opened until the context ends."""
    _wraps.append(wrap)
    try:
        yield
    finally:
        _wraps.remove(wrap)


def open_store(uri: str | os.PathLike[str]) -> Store:
    """Return the store of a dataset's root."""
    store: Store = LocalStore(local_path(uri))
    for wrap in _wraps:
        store = wrap(store)
    return store
