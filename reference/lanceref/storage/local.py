"""Local store: a directory of the local file system, whose files are those of `local_file`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotFound, StoreFailed, Unreadable
from lanceref.storage.local_file import (
    LocalSink,
    LocalSource,
    failures_of,
    flush_folders,
    refusals,
)
from lanceref.storage.protocol import NO_OPTIONS, Entry, StoreOptions, whole
from lanceref.storage.uri import contains


class LocalStore:
    """A `Store`: a directory of the local file system.

    A path is that of a file below the root: neither `..` nor a link leads out of it.
    """

    lists_in_order = False

    def __init__(self, root: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> None:
        self.root, self.options = os.fspath(root), options
        self.stats = IOStats()

    def at(self, root: str) -> LocalStore:
        return LocalStore(root, self.options)

    def _at(self, path: str) -> Path:
        """Return where `path` is. Raises NotFound for one that is not below the root."""
        if path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise NotFound(f"{path!r}: no path below {self.root}")
        return Path(self.root, path)

    def _inside(self, path: str) -> Path:
        """Return where `path` is. Raises NotFound if it, or a link in it, leads out of the root."""
        place = self._at(path)
        if not contains(self.root, str(place)):
            raise NotFound(f"{place}: a link leads out of {self.root}")
        return place

    def owns(self, folder: str) -> bool:
        """Whether a folder lies below the root; not when a link leads out of it."""
        return contains(self.root, str(self._at(folder)))

    def open(self, path: str) -> LocalSource:
        return LocalSource(str(self._inside(path)), self.stats)

    def create(self, path: str) -> LocalSink:
        durable = self.options.durable
        return LocalSink(str(self._changed(path)), self.stats, self.root, durable=durable)

    def _changed(self, path: str) -> Path:
        """Return where a file is made or removed. Raises StoreFailed outside the root."""
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
        """Yield the files below `prefix` at any depth, by path; no folder is reached by a link."""
        self.stats.read_iops += 1
        if not self.owns(prefix):
            return
        for _, names in _walk_folders(str(self._at(prefix))):
            for path in map(Path, names):
                try:
                    with refusals(path):
                        status = path.stat()
                except NotFound:  # gone since it was listed, or a link to nothing
                    continue
                below = path.relative_to(self.root).as_posix()
                yield Entry(below, status.st_size, status.st_mtime)

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
        with whole(self.create(path)) as sink:
            sink.write(data)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a file only if none is there, through a temporary name and a hard link."""
        sink = self.create(path)
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
            for folder, _ in reversed(list(_walk_folders(str(self._at(prefix))))):
                with suppress(OSError):  # it is not empty
                    Path(folder).rmdir()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether a name is that of a folder, or of a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a loop of links, or one into a folder that cannot be read
        return False


def _walk_folders(top: str) -> Iterator[tuple[str, list[str]]]:
    """Yield folders, however deep, and the paths of the files in each; none is reached by a link.

    Raises Unreadable for a folder that cannot be read.
    """
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with refusals(folder), os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except NotFound:
            continue
        yield folder, [one.path for one in listed if not _is_folder(one)]
        below = [one.path for one in listed if _is_folder(one) and not one.is_symlink()]
        waiting += reversed(below)
