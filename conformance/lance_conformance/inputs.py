"""Inputs: the copy of a case's input that an adapter is given, and whether it was left alone.

The copy is looked at without following links or opening what is no regular file: an adapter may
have put anything in its place.
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
class Snapshot:
    """Names and sizes of the files of an input (-1: not a regular file), and their contents."""

    sizes: dict[str, int]
    digest: str


def copy_input(source: Path, folder: Path) -> Path:
    """Copy the input of a case below `folder` under a neutral name; return the copy.

    A table that is still to be made has a place and no folder.
    """
    if not source.exists():
        return folder / "table.lance"
    if source.is_dir():
        return Path(shutil.copytree(source, folder / "table.lance"))
    return Path(shutil.copyfile(source, folder / "input.lance"))


def snapshot(given: Path) -> Snapshot:
    """Return what an input holds."""
    sizes = dict(_files(given))
    return Snapshot(sizes, _digest(given, sizes))


def is_unchanged(given: Path, before: Snapshot) -> bool:
    """Whether an input holds what it held before: no other file, no other byte."""
    try:
        sizes: dict[str, int] = {}
        for name, size in _files(given):
            if before.sizes.get(name) != size:
                return False
            sizes[name] = size
        return sizes == before.sizes and _digest(given, sizes) == before.digest
    except OSError:
        return False


def _files(given: Path) -> Iterator[tuple[str, int]]:
    """Yield the files of an input by name, with their sizes; nothing when there is none."""
    try:
        told = given.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(told.st_mode):
        yield "", _size(told)
        return
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(given / folder) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                else:
                    yield name, _size(entry.stat(follow_symlinks=False))


def _size(told: os.stat_result) -> int:
    return told.st_size if stat.S_ISREG(told.st_mode) else -1


def _digest(given: Path, sizes: dict[str, int]) -> str:
    """Return a hash over names and contents."""
    digest = hashlib.sha256()
    for name, size in sorted(sizes.items()):
        digest.update(f"{name}\0{size}\0".encode(errors="surrogateescape"))
        if size > 0:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(given / name if name else given, flags), "rb") as file:
                for at in range(0, size, READ_BYTES):
                    digest.update(file.read(min(READ_BYTES, size - at)))
    return digest.hexdigest()
