"""Durability: full disks and power cuts lose no version that was acknowledged."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import lanceref
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref.storage import LocalStore
from lanceref.storage.local import LocalSink
from lanceref_testing.table_operations import OPERATIONS, REMOVALS, prepare, rows

from tests.full_disk import FullDisk
from tests.power_cut import PowerCut

ROWS = rows(*range(20))
MOMENTS = 5
"""How many calls of an operation are tried to fail, spread evenly."""


def _left(folder: Path) -> list[str]:
    """Return the temporary files."""
    return [str(one) for one in folder.rglob(".tmp*")]


WITHOUT = ("create", "drop", "delete tag", "delete branch")
"""Operations with another table before or after; a reference that was deleted may come back."""

DONE = [name for name in OPERATIONS if name not in WITHOUT]
WRITING = [name for name in DONE if name not in REMOVALS]
"""The operations that write files: the others only delete."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Callable[[str, Path], object]:
    """Copy the table that an operation is done to, which is written once for most."""
    made: dict[bool, Path] = {}

    def copy(name: str, path: Path) -> None:
        early = name.endswith("0.1")
        if early not in made:
            made[early] = tmp_path_factory.mktemp("base") / "t"
            prepare(pylanceref, name, str(made[early]))
        shutil.copytree(made[early], path)

    return copy


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk_leaves_no_temporary_file(tmp_path, name, copied):
    """An error names a file of the table, which stays the old version or becomes the new one."""
    counted = FullDisk(1 << 30)
    copied(name, tmp_path / "whole")
    with counted.mounted():
        OPERATIONS[name](pylanceref, str(tmp_path / "whole"))
    for at in sorted({round(n * (counted.calls - 1) / MOMENTS) for n in range(MOMENTS + 1)}):
        real = tmp_path / f"t{at}"
        copied(name, real)
        before = pylanceref.dataset(real)
        once = at % 2 == 1
        disk = FullDisk(at, errno.EIO if once else errno.ENOSPC, once=once)
        try:
            with disk.mounted():
                OPERATIONS[name](pylanceref, str(real))
        except OSError as error:
            assert str(real) in str(error), f"call {at}: {error!r}"
        assert disk.struck
        assert [] == _left(real)
        after = pylanceref.dataset(real)
        assert after.version - before.version <= 2
        if after.version == before.version:
            assert after.to_table().equals(before.to_table())
        assert [] == lanceref.validate(real, deep=once)


def test_a_file_that_was_given_up_is_not_closed_in_silence(tmp_path):
    """Closing a file after a failed write raises, since it is not there."""
    disk = FullDisk(0)
    sink = None
    with disk.mounted():
        sink = lanceref.storage.LocalSink(str(tmp_path / "x"))
        with pytest.raises(OSError, match="x"):
            sink.write(b"1")

    with pytest.raises(OSError, match="not written"):
        sink.close()
    assert [] == list(tmp_path.iterdir())


def _holds(cut: Path, real: Path) -> None:
    """The newest version of what is left is sound, and has the rows of that version."""
    left = pylanceref.dataset(cut)
    assert [] == lanceref.validate(cut, deep=True)
    try:
        wanted = pylanceref.dataset(real, version=left.version)
    except NotFound:  # cleaned up meanwhile
        return
    assert left.to_table().equals(wanted.to_table())


def _is_acknowledged(cut: Path, real: Path) -> None:
    """The versions, tags and branches that a caller got an answer for exist."""
    left, wanted = pylanceref.dataset(cut), pylanceref.dataset(real)
    assert wanted.version == left.version
    assert wanted.tags.list() == left.tags.list()
    assert list(wanted.branches.list()) == list(left.branches.list())
    for branch in wanted.branches.list():
        kept = (one.checkout_version((branch, None)) for one in (left, wanted))
        assert next(kept).count_rows() == next(kept).count_rows()
    _holds(cut, real)


@pytest.mark.parametrize("name", DONE)
def test_a_table_outlives_a_power_cut_at_its_commit(tmp_path, name, copied):
    """The table opens at the old or new version, validates, and has all that was acknowledged."""
    real = tmp_path / "real" / "t"
    copied(name, real)
    power = PowerCut(real.parent, tmp_path / "cuts")

    with power.watched():
        OPERATIONS[name](pylanceref, str(real))
    assert [] == power.unsettled, "named by a manifest before they are on the disk"
    for cut in power.snapshots:
        _holds(cut / "t", real)
    _is_acknowledged(power.snapshots[-1] / "t", real)


@pytest.mark.parametrize("name", ["append", "append to 0.1"])
def test_a_new_table_is_there_or_not(tmp_path, name):
    """Folders that a new table makes above itself are flushed too."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "made" / "with" / "t"
    power = PowerCut(tmp_path / "real", tmp_path / "cuts")

    with power.watched():
        prepare(pylanceref, name, str(real))
    assert [] == power.unsettled
    for cut in power.snapshots:
        if list((cut / "made/with/t").glob("_versions/*.manifest")):
            _holds(cut / "made/with/t", real)
    _is_acknowledged(power.snapshots[-1] / "made/with/t", real)


def test_fragments_of_another_process_can_be_committed_after_a_cut(tmp_path):
    """Files are durable once `write_fragments` returns, in a new folder as well."""
    real = tmp_path / "real"
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")

    with power.watched():
        fragments = pylanceref.fragment.write_fragments(ROWS, real / "t")

    left = power.snapshots[-1] / "t"
    operation = pylanceref.LanceOperation.Overwrite(ROWS.schema, fragments)
    made = pylanceref.LanceDataset.commit(left, operation)
    assert ROWS.equals(made.to_table())
    assert [] == lanceref.validate(left, deep=True)


def test_a_folder_that_another_process_has_just_made_is_flushed(tmp_path):
    """A sink flushes all folders up to the root, whoever made them."""
    real = tmp_path / "real"
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")
    (real / "data").mkdir()

    with power.watched():
        LocalStore(str(real)).put("data/x", b"1")
    assert b"1" == (power.snapshots[-1] / "data/x").read_bytes()


def test_a_table_that_may_be_lost_is_not_flushed(tmp_path, monkeypatch):
    """With `durable` false no writer waits for the disk."""
    calls: list[int] = []
    monkeypatch.setattr("os.fsync", calls.append)
    options = {"durable": "false"}

    made = pylanceref.write_dataset(ROWS, tmp_path / "t", storage_options=options)
    made.delete("id < 3")
    made.create_scalar_index("id", "BTREE")
    made.tags.create("one", 1)
    LocalSink(str(tmp_path / "x"), durable=False).close()
    with pytest.raises(ValueError, match="durable"):
        pylanceref.dataset(made.uri, storage_options={"durable": "no"})
    assert [] == calls
    assert 17 == pylanceref.dataset(tmp_path / "t").count_rows()
