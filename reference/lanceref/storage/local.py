"""Local store: a directory of the local file system, and how its files are written.

Files are written under a temporary name until they are whole and on the disk: `close` flushes the
bytes, gives the file its name, and flushes the folders that lead to it, so that a version committed
afterwards names nothing that a power cut can take away. Permissions are those that the umask
leaves. Any failure of the disk removes the temporary file and names the real one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from uuid import uuid4

from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotFound, StoreFailed, Unreadable
from lanceref.storage.local_file import LocalSource, refusals
from lanceref.storage.protocol import NO_OPTIONS, Entry, StoreOptions, whole
from lanceref.storage.uri import contains

SINK_BUFFER_BYTES = 1 << 20
"""Bytes that a sink gathers before it writes them."""

PATH_AT_FAULT = frozenset(
    getattr(errno, name)
    for name in ["EACCES", "EEXIST", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOTDIR", "EPERM", "EROFS"]
)
"""Errors of a path where no file can be made, as where a file has the place of a folder."""

UNFLUSHABLE = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES})
"""Errors of flushing a folder that its file system cannot flush, or that may not be read."""


class LocalSink:
    """A `Sink`: a local file that is being written under a temporary name.

    The folders from the file up to `root` are flushed with it, because another process may have
    made them, and above `root` those that the sink makes itself. Without `durable` nothing is
    flushed: for tables that may be lost.
    """

    def __init__(
        self,
        path: str,
        stats: IOStats | None = None,
        root: str | None = None,
        *,
        durable: bool = True,
    ) -> None:
        self._target, self._durable = Path(path), durable
        folder = self._target.parent
        self._staged = folder / f".tmp{uuid4().hex}"
        with failures_of(self._target):
            self._flushed = _leading_folders(folder, _make_folder(folder), Path(root or folder))
            handle = os.open(self._staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self._out = os.fdopen(handle, "wb", buffering=SINK_BUFFER_BYTES)
        self._open, self._failed, self.position = True, False, 0
        self.stats = stats if stats is not None else IOStats()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes; when they do not fit the disk the file is given up."""
        with failures_of(self._target):
            try:
                self._out.write(data)
            except OSError:
                self._give_up()
                raise
        self.position += len(data)

    def close(self) -> None:
        """Give the file its name, whole and durable; a second call does nothing.

        Raises OSError when it fails, or the file was given up: then nothing new has the name,
        unless only its folder could not be flushed.
        """
        self._finish(replace=True)

    def close_if_absent(self) -> bool:
        """Give the file its name unless another file has it: then return False."""
        return self._finish(replace=False)

    def abort(self) -> None:
        """Remove the temporary file, also after `close` failed; not once the file is whole."""
        if self._open:
            self._open = False
            with suppress(OSError):  # what was buffered does not fit the disk either
                self._out.close()
            with suppress(OSError):  # a stray name: the error before this one is what counts
                self._staged.unlink()

    def _give_up(self) -> None:
        self._failed = True
        self.abort()

    def _finish(self, *, replace: bool) -> bool:
        if self._failed:
            raise OSError(errno.EIO, "not written", str(self._target))
        if not self._open:
            return True
        try:
            with failures_of(self._target):
                self._out.flush()
                if self._durable:
                    os.fsync(self._out.fileno())
                self._out.close()
                self.stats.count_write(self.position)
                if replace:
                    self._staged.rename(self._target)
                else:
                    try:
                        os.link(self._staged, self._target)
                    except FileExistsError:
                        return False
                    with suppress(OSError):  # a stray name: the link decides
                        self._staged.unlink()
                self._open = False
                if self._durable:
                    flush_folders(self._flushed)
        finally:
            if self._open:
                self._give_up()
        return True


def _make_folder(folder: Path) -> Path:
    """Make a folder and those above it that lack; return the highest one that is not new."""
    missing = list(takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    return missing[-1].parent if missing else folder


def _leading_folders(folder: Path, old: Path, root: Path) -> list[Path]:
    """Return the folders from `folder` up to the higher of two that lead to it."""
    depth = min(len(old.parts), len(root.parts))
    return [one for one in (folder, *folder.parents) if len(one.parts) >= depth]


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that lack, durably."""
    old = _make_folder(folder)
    if old != folder:
        flush_folders(_leading_folders(folder, old, folder))


def flush_folders(folders: list[Path]) -> None:
    """Make the names in some folders durable; where a folder cannot be flushed, everything is."""
    for folder in folders:
        try:
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            if error.errno not in UNFLUSHABLE:
                raise
            os.sync()


@contextmanager
def failures_of(path: Path, done: str = "written") -> Iterator[None]:
    """Let errors of the operating system name a path, not the temporary one.

    Those of the path are StoreFailed; an OSError of the disk or the process remains one. Raises
    OSError, StoreFailed.
    """
    try:
        yield
    except OSError as error:
        if error.errno in PATH_AT_FAULT:
            raise StoreFailed(f"{path}: cannot be {done}: {error.strerror}") from error
        raise OSError(error.errno, error.strerror, str(path)) from error


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
