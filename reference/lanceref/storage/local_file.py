"""Local files: which URIs name one, and one that is read.

Files are read with `pread`: a truncated one gives a short read, never a signal.

A file at fault is a `LanceError` that names its path: missing, of another kind, or unreadable. A
process that has no file handles or memory left is not the fault of the file: an `OSError` remains.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np

from lanceref.core.cursor import IOStats
from lanceref.core.errors import NotFound, Unreadable

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


SMALL_BYTES = 1 << 18
"""Requests up to this size are made one after the other: a file answers each in one piece."""


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
        if os is not None:  # modules may be gone as a process ends
            self.close()
