"""Local store: a directory of the local file system.

Files are read with `pread`: a truncated one gives a short read, never a signal. What is written
stands under a temporary name until it is whole.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import repeat
from pathlib import Path

import numpy as np

from lanceref.errors import NotFound
from lanceref.storage.options import NO_OPTIONS, StoreOptions
from lanceref.storage.protocol import Entry, IOStats

SINK_BUFFER_BYTES = 1 << 20
"""Bytes that a sink gathers before it writes them."""

SMALL_BYTES = 1 << 18
"""Requests up to this size are made one after the other without looking at each: none of a file
comes in two pieces."""


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
        self.stats.count_reads(1, filled)
        return view[:filled]

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        """Return up to `sizes` bytes from each of the `offsets`."""
        if max(sizes, default=0) > SMALL_BYTES:
            return [self.read(offset, size) for offset, size in zip(offsets, sizes, strict=True)]
        parts = list(map(os.pread, repeat(self._fd), sizes, offsets))
        self.stats.count_reads(len(parts), sum(map(len, parts)))
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


class LocalStore:
    """A directory of the local file system."""

    lists_in_order = False

    def __init__(self, root: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> None:
        self.root, self.options = os.fspath(root), options
        self.stats = IOStats()

    def at(self, root: str) -> LocalStore:
        """Return the store of another directory."""
        return LocalStore(root, self.options)

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
