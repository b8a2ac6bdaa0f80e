"""Local files, written: their names, their mode, and what a failure leaves."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lanceref.storage import LocalSink, make_folder

from tests.table_deeds import DEEDS


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """Set the umask until the block ends."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022, 0o002])
@pytest.mark.parametrize("name", ["INVERTED", "delete", "tag", "branch", "blobs", "append to 0.1"])
def test_the_umask_decides_who_may_read(tmp_path: Path, name: str, mask: int) -> None:
    """Every file and folder of a table has what the umask leaves of 666 and 777."""
    with umask(mask):
        DEEDS[name].prepare(tmp_path / "t")
        DEEDS[name].act(pylanceref.dataset(tmp_path / "t"))
        options = {"manifest_store": f"sqlite://{tmp_path}/deep/m.db"}
        pylanceref.write_dataset(pa.table({"x": [1]}), tmp_path / "s", storage_options=options)

    modes = {(one.is_dir(), one.stat().st_mode & 0o777) for one in tmp_path.rglob("*")}

    assert {(True, 0o777 & ~mask), (False, 0o666 & ~mask)} == modes


def test_an_aborted_file_leaves_nothing(tmp_path: Path) -> None:
    """Neither its name nor a temporary one; aborting a whole file changes nothing."""
    gone, kept = (LocalSink(str(tmp_path / "new" / name)) for name in ("gone", "kept"))
    kept.write(b"12")
    kept.close()
    kept.abort()
    gone.abort()

    assert ["kept"] == [one.name for one in (tmp_path / "new").iterdir()]


def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path: Path, monkeypatch) -> None:
    """Where a file system has no flush of folders, everything is flushed."""
    real, synced = os.fsync, []

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "sync", lambda: synced.append(1))

    make_folder(tmp_path / "a" / "b")

    assert synced
    assert (tmp_path / "a" / "b").is_dir()
