"""Scratch folders of adapters, created and removed robustly.

An adapter may remove its folder, replace it by a link, or revoke permissions. Links are never
followed, and nothing outside is removed.
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
    """Provide a fresh folder, and remove it with its content when the block ends."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="lance-conformance-")))
    try:
        yield folder
    finally:
        make_accessible(folder)
        remove_folder(folder)


def fresh_folder(parent: Path, name: str) -> Path:
    """Create a folder below `parent`, which is recreated if it is not a real folder."""
    for one in (parent, parent / name):
        if one.is_symlink() or (one.exists() and not one.is_dir()):
            one.unlink()
    folder = parent / name
    remove_folder(folder)
    folder.mkdir(parents=True)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder as far as possible; a link is removed and not followed."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def make_accessible(folder: Path) -> None:
    """Make all folders below one accessible, when no adapter runs any more."""
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
