"""Power cuts: what a commit names, and what was acknowledged, outlives them."""

from __future__ import annotations

from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import NotFound
from lanceref.storage import LocalSink, LocalStore

from tests.power_cut import PowerCut
from tests.table_deeds import DEEDS, early, plain, rows


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
        assert left.checkout_version((branch, None)).count_rows() == wanted.count_rows()
    _holds(cut, real)


@pytest.mark.parametrize("name", DEEDS)
def test_a_table_outlives_a_power_cut_at_its_commit(tmp_path: Path, name: str) -> None:
    """It opens at the old or the new version and validates; what returned is not lost."""
    real = tmp_path / "real" / "t"
    DEEDS[name].prepare(real)
    table = pylanceref.dataset(real)
    power = PowerCut(real.parent, tmp_path / "cuts")

    with power.watched():
        DEEDS[name].act(table)

    assert [] == power.unsettled, "named by a manifest before they are on the disk"
    for cut in power.snapshots:
        _holds(cut / "t", real)
    _is_acknowledged(power.snapshots[-1] / "t", real)


@pytest.mark.parametrize("prepare", [plain, early])
def test_a_new_table_is_there_or_not(tmp_path: Path, prepare) -> None:
    """Folders above the table that it makes itself are flushed too."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "made" / "with" / "t"
    power = PowerCut(tmp_path / "real", tmp_path / "cuts")

    with power.watched():
        prepare(real)

    assert [] == power.unsettled
    for cut in power.snapshots:
        if list((cut / "made/with/t").glob("_versions/*.manifest")):
            _holds(cut / "made/with/t", real)
    _is_acknowledged(power.snapshots[-1] / "made/with/t", real)


def test_a_clone_outlives_a_power_cut(tmp_path: Path) -> None:
    """Its copied files are on the disk before its manifest."""
    real = tmp_path / "real"
    plain(tmp_path / "source")
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")

    with power.watched():
        pylanceref.dataset(tmp_path / "source").deep_clone(str(real / "t"), None)

    assert [] == power.unsettled
    _is_acknowledged(power.snapshots[-1] / "t", real / "t")


def test_fragments_of_another_process_can_be_committed_after_a_cut(tmp_path: Path) -> None:
    """Files are durable once `write_fragments` returns, in a folder that is new as well."""
    real = tmp_path / "real"
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")

    with power.watched():
        fragments = pylanceref.fragment.write_fragments(rows(), real / "t")

    left = power.snapshots[-1] / "t"
    operation = pylanceref.LanceOperation.Overwrite(rows().schema, fragments)
    made = pylanceref.LanceDataset.commit(left, operation)

    assert rows().equals(made.to_table())
    assert [] == lanceref.validate(left, deep=True)


def test_a_folder_that_another_process_has_just_made_is_flushed(tmp_path: Path) -> None:
    """Up to the root of the store a sink flushes all folders: who made one may not have."""
    real = tmp_path / "real"
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")
    (real / "data").mkdir()

    with power.watched():
        LocalStore(str(real)).put("data/x", b"1")

    assert b"1" == (power.snapshots[-1] / "data/x").read_bytes()


def test_a_single_file_outlives_a_power_cut(tmp_path: Path) -> None:
    """`LanceFileWriter` has its file on the disk when it is closed."""
    real = tmp_path / "real"
    real.mkdir()
    power = PowerCut(real, tmp_path / "cuts")

    with power.watched(), pylanceref.file.LanceFileWriter(str(real / "x.lance")) as writer:
        writer.write_batch(pa.table({"a": [1, 2]}))

    assert (real / "x.lance").read_bytes() == (power.snapshots[-1] / "x.lance").read_bytes()


def test_a_table_that_may_be_lost_is_not_flushed(tmp_path: Path, monkeypatch) -> None:
    """With `durable` false no writer waits for the disk."""
    calls: list[int] = []
    monkeypatch.setattr("os.fsync", calls.append)
    options = {"durable": "false"}

    made = pylanceref.write_dataset(rows(), tmp_path / "t", storage_options=options)
    made.delete("a < 3")
    made.create_scalar_index("a", "BTREE")
    made.tags.create("one", 1)
    LocalSink(str(tmp_path / "x"), durable=False).close()

    assert [] == calls
    assert 297 == pylanceref.dataset(tmp_path / "t").count_rows()
