"""Local files, written: under a temporary name until they are whole and on the disk.

`close` flushes the bytes, gives the file its name, and flushes the folders that lead to it, so that
a version committed afterwards names nothing that a power cut can take away. Permissions are those
that the umask leaves. Any failure of the disk removes the temporary file and names the real one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from uuid import uuid4

from lanceref.core.errors import StoreFailed
from lanceref.storage.protocol import IOStats

SINK_BUFFER_BYTES = 1 << 20
"""Bytes that a sink gathers before it writes them."""

PATH_AT_FAULT = frozenset(
    {
        errno.EACCES,
        errno.EEXIST,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)
"""Errors of a path where no file can be made, as where a file has the place of a folder."""

UNFLUSHABLE = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES})
"""Errors of flushing a folder that its file system cannot flush, or that may not be read."""


class _Taken(Exception):
    """A file has the name that another one should get."""


class LocalSink:
    """A local file that is being written.

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
            self._flushed = _folders(folder, _make_folder(folder), Path(root or folder))
            handle = os.open(self._staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            self._out = os.fdopen(handle, "wb", buffering=SINK_BUFFER_BYTES)
        self._open, self._failed = True, False
        self.position = 0
        self.stats = stats if stats is not None else IOStats()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes; when they do not fit the disk the file is given up."""
        try:
            self._out.write(data)
        except OSError as error:
            self._give_up()
            raise _failure(error, self._target, "written") from error
        self.position += len(data)

    def close(self) -> None:
        """Give the file its name, whole and durable; a second call does nothing.

        Raises OSError when it fails, or the file was given up: then nothing new has the name,
        unless only its folder could not be flushed.
        """
        self._place(os.rename)

    def close_if_absent(self) -> bool:
        """Give the file its name unless another file has it: then return False."""
        try:
            self._place(_link)
        except _Taken:
            return False
        return True

    def abort(self) -> None:
        """Remove the temporary file, also after `close` failed; not once the file is whole."""
        if self._open:
            self._open = False
            with suppress(OSError):  # what was buffered does not fit the disk either
                self._out.close()
            with suppress(OSError):  # a stray name: the error before this one is what counts
                self._staged.unlink()

    def _count(self) -> None:
        self.stats.write_iops += 1
        self.stats.written_bytes += self.position

    def _give_up(self) -> None:
        self._failed = True
        self.abort()

    def _place(self, give_name: Callable[[Path, Path], None]) -> None:
        if self._failed:
            raise OSError(errno.EIO, "not written", str(self._target))
        if not self._open:
            return
        try:
            with failures_of(self._target):
                self._out.flush()
                if self._durable:
                    os.fsync(self._out.fileno())
                self._out.close()
                self._count()
                give_name(self._staged, self._target)
                self._open = False
                if self._durable:
                    flush_folders(self._flushed)
        finally:
            if self._open:
                self._give_up()


def _link(staged: Path, target: Path) -> None:
    try:
        os.link(staged, target)
    except FileExistsError as error:
        raise _Taken from error
    with suppress(OSError):  # a stray name: the link decides
        staged.unlink()


def _make_folder(folder: Path) -> Path:
    """Make a folder and those above it that lack; return the highest one that is not new."""
    missing = list(takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    return missing[-1].parent if missing else folder


def _folders(folder: Path, old: Path, root: Path) -> list[Path]:
    """Return the folders from `folder` up to the higher of two that lead to it."""
    depth = min(len(old.parts), len(root.parts))
    return [one for one in (folder, *folder.parents) if len(one.parts) >= depth]


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that lack, durably."""
    old = _make_folder(folder)
    if old != folder:
        flush_folders(_folders(folder, old, folder))


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
    """Let errors of the operating system name a path, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise _failure(error, path, done) from error


def _failure(error: OSError, path: Path, done: str) -> OSError:
    """Return the error of a write: that of a disk or a process remains, another is of the path."""
    if error.errno in PATH_AT_FAULT:
        return StoreFailed(f"{path}: cannot be {done}: {error.strerror}")
    return OSError(error.errno, error.strerror, str(path))
