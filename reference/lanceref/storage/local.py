"""Local store: a directory of the local file system.

Files are read with `pread`: a truncated one gives a short read, never a signal. How they are
written, `local_sink` says.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path

import numpy as np

from lanceref.core.errors import NotFound, StoreFailed, Unreadable
from lanceref.storage.local_sink import LocalSink, failures_of, flush_folders
from lanceref.storage.protocol import (
    NO_OPTIONS,
    Entry,
    IOStats,
    StoreOptions,
    refusal,
    refusals,
    whole,
)
from lanceref.storage.uri import contains

SMALL_BYTES = 1 << 18
"""Requests up to this size are made one after the other without looking at each: none of a file
comes in two pieces."""


class LocalSource:
    """A regular local file read with `pread`; opening a pipe or a device does not wait.

    Raises NotFound for a path without a file, Unreadable for a file that cannot be read.
    """

    def __init__(self, path: str, stats: IOStats | None = None) -> None:
        self._fd = -1
        with refusals(path):
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            found = os.fstat(self._fd)
        if not stat.S_ISREG(found.st_mode):
            self.close()
            raise NotFound(f"{path}: not a file")
        self.path = path
        self.size = found.st_size
        self.stats = stats if stats is not None else IOStats()

    def read(self, offset: int, size: int) -> memoryview:
        """Return up to `size` bytes from `offset`; shorter only at the end of the file."""
        view = np.empty(max(0, min(size, self.size - offset)), np.uint8).data
        filled = 0
        try:
            while filled < len(view):
                got = os.preadv(self._fd, [view[filled:]], offset + filled)
                if got == 0:
                    break
                filled += got
        except OSError as error:
            raise refusal(self.path, error) from error
        self.stats.count_reads(1, filled)
        return view[:filled]

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Return up to `sizes` bytes from each of the `offsets`."""
        if max(sizes, default=0) > SMALL_BYTES:
            return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]
        try:
            parts = list(map(os.pread, repeat(self._fd), sizes, offsets))
        except OSError as error:
            raise refusal(self.path, error) from error
        self.stats.count_reads(len(parts), sum(map(len, parts)))
        return [memoryview(part) for part in parts]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()


class LocalStore:
    """A directory of the local file system.

    A path is that of a file below the root: neither `..` nor a link leads out of it.
    """

    lists_in_order = False

    def __init__(self, root: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> None:
        self.root, self.options = os.fspath(root), options
        self.stats = IOStats()

    def at(self, root: str) -> LocalStore:
        """Return the store of another directory."""
        return LocalStore(root, self.options)

    def _at(self, path: str) -> Path:
        """Return where `path` is. Raises NotFound for one that is not below the root."""
        if path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise NotFound(f"{path!r}: no path below {self.root}")
        return Path(self.root, path)

    def owns(self, folder: str) -> bool:
        """Whether a folder lies below the root; not when a link leads out of it."""
        return contains(self.root, str(self._at(folder)))

    def _inside(self, path: str) -> Path:
        """Return where `path` is. Raises NotFound if it, or a link in it, leads out of the root."""
        place = self._at(path)
        if not contains(self.root, str(place)):
            raise NotFound(f"{place}: a link leads out of {self.root}")
        return place

    def open(self, path: str) -> LocalSource:
        """Open a file for reading. Raises NotFound, Unreadable."""
        return LocalSource(str(self._inside(path)), self.stats)

    def create(self, path: str) -> LocalSink:
        """Begin a file under a temporary name."""
        return self._sink(path)

    def _sink(self, path: str) -> LocalSink:
        durable = self.options.durable
        return LocalSink(str(self._changed(path)), self.stats, self.root, durable=durable)

    def _changed(self, path: str) -> Path:
        """Return where a file is that is made or removed; it may be a link itself.

        Raises StoreFailed if its folder is not below the root.
        """
        place = self._at(path)
        if not contains(self.root, str(place.parent)):
            raise StoreFailed(f"{place}: a link leads out of {self.root}")
        return place

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the names of the files directly below `prefix`; none if it does not exist.

        Pipes, sockets and links to nothing are among them: opening one raises NotFound. Raises
        Unreadable for a folder that cannot be read.
        """
        self.stats.read_iops += 1
        directory, names = self._at(prefix), list[str]()
        if self.owns(prefix):
            with suppress(NotFound), refusals(directory), os.scandir(directory) as entries:
                names = sorted(entry.name for entry in entries if not _is_folder(entry))
        yield from names

    def walk(self, prefix: str) -> Iterator[Entry]:
        """Yield the files below `prefix` at any depth, by path; folders are not reached by links.

        Raises Unreadable for a folder that cannot be read.
        """
        self.stats.read_iops += 1
        if not self.owns(prefix):
            return
        for path in (Path(one) for _, names in _folders(str(self._at(prefix))) for one in names):
            try:
                with refusals(path):
                    found = path.stat()
            except NotFound:  # gone since it was listed, or a link to nothing
                continue
            below = path.relative_to(self.root).as_posix()
            yield Entry(below, found.st_size, found.st_mtime)

    def exists(self, path: str) -> bool:
        """Whether a file is at `path`. Raises Unreadable for a folder that cannot be read."""
        self.stats.read_iops += 1
        with suppress(NotFound):
            place = self._inside(path)
            with refusals(place):
                return stat.S_ISREG(place.stat().st_mode)
        return False

    def put(self, path: str, data: bytes) -> None:
        """Write a file through a temporary name and a rename; on failure nothing has changed."""
        with whole(self._sink(path)) as sink:
            sink.write(data)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a file only if none is there, through a temporary name and a hard link."""
        sink = self._sink(path)
        sink.write(data)
        return sink.close_if_absent()

    def rename(self, path: str, to: str) -> None:
        """Give a file another path. Raises NotFound."""
        source, target = self._changed(path), self._changed(to)
        with refusals(source):
            source.rename(target)
        if self.options.durable:
            flush_folders([target.parent, source.parent])

    def delete(self, path: str) -> None:
        """Remove a file; a missing one is not an error.

        Raises StoreFailed for one that cannot be removed, or lies in a folder that a link places
        outside the root.
        """
        place = self._changed(path)
        with failures_of(place, "removed"), suppress(FileNotFoundError, NotADirectoryError):
            place.unlink()

    def prune(self, prefix: str) -> None:
        """Remove the empty folders below `prefix`, and itself; none outside the root."""
        if not self.owns(prefix):
            return
        with suppress(Unreadable):
            for folder, _ in reversed(list(_folders(str(self._at(prefix))))):
                with suppress(OSError):  # something stands in it
                    Path(folder).rmdir()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether a name is that of a folder, or of a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a loop of links, or one into a folder that cannot be read
        return False


def _folders(top: str) -> Iterator[tuple[str, list[str]]]:
    """Yield folders, however deep, and the paths of the files in each; none is reached by a link.

    Raises Unreadable for a folder that cannot be read.
    """
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            _unless_missing(error)
            continue
        yield folder, [one.path for one in found if not _is_folder(one)]
        below = [one.path for one in found if _is_folder(one) and not one.is_symlink()]
        waiting += reversed(below)


def _unless_missing(error: OSError) -> None:
    """Raise what refused the listing of a folder, unless there is no such folder."""
    found = refusal(str(error.filename), error)
    if not isinstance(found, NotFound):
        raise found from error
