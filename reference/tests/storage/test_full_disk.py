"""Full disks: no writer leaves a temporary file, and the table stays what it was."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest

from tests.full_disk import FullDisk
from tests.table_deeds import DEEDS

MOMENTS = 5
"""How many of a deed's calls are tried to fail, spread evenly."""


def _left(folder: Path) -> list[str]:
    """Return the temporary files."""
    return [str(one) for one in folder.rglob(".tmp*")]


WRITING = [name for name in DEEDS if name != "cleanup"]
"""The deeds that write files: a cleanup only deletes."""


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_leaves_no_temporary_file(tmp_path: Path, name: str) -> None:
    """An error names a file of the table, and the table is the one before or the new one."""
    DEEDS[name].prepare(tmp_path / "base")
    counted = FullDisk(1 << 30)
    shutil.copytree(tmp_path / "base", tmp_path / "whole")
    with counted.mounted():
        DEEDS[name].act(pylanceref.dataset(tmp_path / "whole"))
    for at in sorted({round(n * (counted.calls - 1) / MOMENTS) for n in range(MOMENTS + 1)}):
        real = tmp_path / f"t{at}"
        shutil.copytree(tmp_path / "base", real)
        before = pylanceref.dataset(real)
        once = at % 2 == 1
        disk = FullDisk(at, errno.EIO if once else errno.ENOSPC, once=once)
        try:
            with disk.mounted():
                DEEDS[name].act(pylanceref.dataset(real))
        except OSError as error:
            assert str(real) in str(error), f"call {at}: {error!r}"
        assert disk.struck
        assert [] == _left(real)
        after = pylanceref.dataset(real)
        assert after.version - before.version <= 2
        if after.version == before.version:
            assert after.to_table().equals(before.to_table())
        assert [] == lanceref.validate(real, deep=once)


@pytest.mark.parametrize("at", range(12))
def test_a_single_file_is_whole_or_not_there(tmp_path: Path, at: int) -> None:
    """`LanceFileWriter` without a block removes its file when the disk is full."""
    disk = FullDisk(at)
    path = tmp_path / "x.lance"
    with disk.mounted():
        try:
            writer = pylanceref.file.LanceFileWriter(str(path))
            writer.write_batch(pa.table({"a": [1, 2]}))
            writer.close()
        except OSError as error:
            assert "x.lance" in str(error)

    assert [] == _left(tmp_path)
    assert not path.exists() or [] == lanceref.validate(path)


def test_a_file_that_was_given_up_is_not_closed_in_silence(tmp_path: Path) -> None:
    """Who closes a file after a write of it failed learns that it is not there."""
    disk = FullDisk(0)
    sink = None
    with disk.mounted():
        sink = lanceref.storage.LocalSink(str(tmp_path / "x"))
        with pytest.raises(OSError, match="x"):
            sink.write(b"1")

    with pytest.raises(OSError, match="not written"):
        sink.close()
    assert [] == list(tmp_path.iterdir())
