"""Refusals of the local file system: which error an `OSError` of a read becomes.

A file at fault is a `LanceError` that names its path: missing, of another kind, or unreadable. A
process that has no file handles or memory left is not the fault of the file: an `OSError` remains.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lanceref.core.errors import NotFound, Unreadable

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
