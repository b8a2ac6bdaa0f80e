"""The copy of a case's input that an adapter gets, and whether the adapter has changed it.

The copy is inspected without following links or opening anything but regular files: an adapter may
have replaced it by anything.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

READ_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class InputSnapshot:
    """Names and sizes of the files of an input (-1: not a regular file), and their digest."""

    sizes: dict[str, int]
    digest: str


def copy_input(source: Path, folder: Path) -> Path:
    """Copy the input of a case below `folder` under a neutral name; return the copy.

    A table that does not exist yet has a path and no folder.
    """
    if not source.exists():
        return folder / "table.lance"
    if source.is_dir():
        return Path(shutil.copytree(source, folder / "table.lance"))
    return Path(shutil.copyfile(source, folder / "input.lance"))


def take_snapshot(path: Path) -> InputSnapshot:
    """Return the files of an input."""
    sizes = dict(_files(path))
    return InputSnapshot(sizes, _digest(path, sizes))


def is_unchanged(path: Path, before: InputSnapshot) -> bool:
    """Whether an input has the same files and bytes as before."""
    try:
        sizes: dict[str, int] = {}
        for name, size in _files(path):
            if before.sizes.get(name) != size:
                return False
            sizes[name] = size
        return sizes == before.sizes and _digest(path, sizes) == before.digest
    except OSError:
        return False


def _files(path: Path) -> Iterator[tuple[str, int]]:
    """Yield name and size of each file of an input; nothing when it does not exist."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        yield "", _size(status)
        return
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(path / folder) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name)
                else:
                    yield name, _size(entry.stat(follow_symlinks=False))


def _size(status: os.stat_result) -> int:
    return status.st_size if stat.S_ISREG(status.st_mode) else -1


def _digest(path: Path, sizes: dict[str, int]) -> str:
    """Return a hash over names and contents."""
    digest = hashlib.sha256()
    for name, size in sorted(sizes.items()):
        digest.update(f"{name}\0{size}\0".encode(errors="surrogateescape"))
        if size > 0:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(path / name if name else path, flags), "rb") as file:
                for at in range(0, size, READ_BYTES):
                    digest.update(file.read(min(READ_BYTES, size - at)))
    return digest.hexdigest()
