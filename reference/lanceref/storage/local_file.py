"""Local files: which URIs name one, one that is read, one that is being written.

Files are read with `pread`: a truncated one gives a short read, never a signal. They are written
under a temporary name until they are whole and on the disk: `close` flushes the bytes, gives the
file its name, and flushes the folders that lead to it, so that a version committed afterwards names
nothing that a power cut can take away. Permissions are those that the umask leaves. Any failure of
the disk removes the temporary file and names the real one.

A file at fault is a `LanceError` that names its path: missing, of another kind, or unreadable. A
process that has no file handles or memory left is not the fault of the file: an `OSError` remains.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat, takewhile
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import numpy as np

from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotFound, StoreFailed, Unreadable

LOCAL = frozenset({"file", "file-object-store", "file+uring"})
"""Schemes of the local file system."""


def is_local(uri: str | os.PathLike[str]) -> bool:
    """Whether a URI names a place of the local file system."""
    text = os.fspath(uri)
    return "://" not in text or urlsplit(text).scheme in LOCAL


def local_path(uri: str | os.PathLike[str]) -> str:
    """Return the absolute path of a path or `file://` URI. Raises NotFound for another scheme."""
    text = os.fspath(uri)
    if "://" not in text:
        return str(Path(text).expanduser().absolute())
    if not is_local(text):
        raise NotFound(f"{text}: not a place of the local file system")
    return unquote(urlsplit(text).path)


MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR})
"""Errors of a path where no file is."""

NO_FILE = frozenset(
    {errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP}
)
"""Errors of a path that cannot name a regular file: a loop of links, a socket, a device."""

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors of a process that has used up what it may have."""


def refusal(path: str, error: OSError) -> Exception:
    """Return the error to raise for what the file system refused at `path`."""
    if error.errno in MISSING:
        return NotFound(f"{path}: no such file")
    if error.errno in NO_FILE:
        return NotFound(f"{path}: no name of a file: {error.strerror}")
    if error.errno in EXHAUSTED:
        return OSError(error.errno, error.strerror, path)
    return Unreadable(f"{path}: cannot be read: {error.strerror or error}")


@contextmanager
def refusals(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise NotFound, Unreadable or an OSError with the path for what the block is refused."""
    name = os.fspath(path)
    try:
        yield
    except OSError as error:
        raise refusal(name, error) from error
    except ValueError as error:  # a null byte, or half of a surrogate pair
        raise NotFound(f"{name!r}: no name of a file") from error


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
        """Flush the file and give it its name; return whether it has got it."""
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


SMALL_BYTES = 1 << 18
"""Requests up to this size are made one after the other without looking at each: none of a file
comes in two pieces."""


class LocalSource:
    """A `Source`: a regular local file read with `pread`; opening a pipe or a device does not wait.

    Raises NotFound for a path without a file, Unreadable for a file that cannot be read.
    """

    def __init__(self, path: str, stats: IOStats | None = None) -> None:
        self._fd = -1
        with refusals(path):
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise NotFound(f"{path}: not a file")
        self.path, self.size = path, status.st_size
        self.stats = stats if stats is not None else IOStats()

    def read(self, offset: int, size: int) -> memoryview:
        """Return `size` bytes from `offset`, less at the end of the file. Raises Unreadable."""
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
