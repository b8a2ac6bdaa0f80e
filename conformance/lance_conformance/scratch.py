"""Scratch: folders that adapters work in, made and removed whatever an adapter did to them.

An adapter may remove its folder, put a link in its place, or take away the right to enter it.
Nothing outside is followed or removed.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a fresh folder, and remove it with all it holds when the block ends."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="lance-conformance-")))
    try:
        yield folder
    finally:
        open_up(folder)
        remove(folder)


def fresh_folder(parent: Path, name: str) -> Path:
    """Make a folder below `parent`, which is made anew where it is no folder of its own."""
    for one in (parent, parent / name):
        if one.is_symlink() or (one.exists() and not one.is_dir()):
            one.unlink()
    folder = parent / name
    remove(folder)
    folder.mkdir(parents=True)
    return folder


def remove(folder: Path) -> None:
    """Remove a folder as far as it can be; a link is removed and not followed."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def open_up(folder: Path) -> None:
    """Make every folder below one enterable, when no adapter runs any more."""
    waiting = [folder]
    while waiting:
        one = waiting.pop()
        try:
            if not stat.S_ISDIR(one.lstat().st_mode):
                continue
            one.chmod(0o700)
            with os.scandir(one) as entries:
                waiting += [Path(e.path) for e in entries if e.is_dir(follow_symlinks=False)]
        except OSError:
            continue
