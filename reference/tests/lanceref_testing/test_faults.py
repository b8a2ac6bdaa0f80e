"""Faults: steps are counted, and the process ends or fails at the chosen one."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from lanceref.storage import open_store
from lanceref_testing.faults import Crash, Fault, Meanwhile, faulty
from pylanceref import dataset, write_dataset

ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64())})


def test_the_steps_of_a_write_come_in_their_order(tmp_path: Path) -> None:
    """A new table is a data file, a transaction, the manifest and the hint."""
    with faulty(Fault()) as fault:
        write_dataset(ROWS, tmp_path / "t")

    folders = [step.split("/")[0] for step in fault.steps]

    assert [
        "create data",
        "close data",
        "put _transactions",
        "put_if_absent _versions",
        "put _versions",
    ] == folders


@pytest.mark.parametrize("after", [False, True])
def test_after_a_crash_at_any_step_the_next_writer_commits(tmp_path: Path, after: bool) -> None:
    """After a crash the rows are those of the acknowledged commits."""
    write_dataset(ROWS, tmp_path / "t")
    for at in range(1, 6):
        before = dataset(tmp_path / "t").count_rows()
        with pytest.raises(Crash), faulty(Fault(at, after=after)):
            write_dataset(ROWS, tmp_path / "t", mode="append")

        grew = 3 if at + after > 4 else 0  # the manifest exists

        assert before + grew == dataset(tmp_path / "t").count_rows()


def test_after_a_crash_no_step_is_done(tmp_path: Path) -> None:
    """After the crash neither later steps nor an abort change the store."""
    with faulty(Fault(1)):
        store = open_store(tmp_path)
    with pytest.raises(Crash):
        store.put("a", b"1")
    with pytest.raises(Crash):
        store.put("b", b"1")
    with pytest.raises(Crash):
        store.delete("b")

    assert [] == list(store.walk(""))


def test_an_error_happens_once(tmp_path: Path) -> None:
    """A failed step is an OSError, and later steps are done."""
    with faulty(Fault(1, "error")):
        store = open_store(tmp_path)
    with pytest.raises(OSError, match="on purpose"):
        store.put("a", b"1")
    store.put("b", b"1")

    assert [False, True] == [store.exists(path) for path in "ab"]


def _run(code: str, folder: Path) -> int:
    lines = "import sys\nfrom lanceref.storage import open_store\nfrom lanceref_testing.faults "
    lines += "import Fault, faulty, watch_calls\n" + code
    command = [sys.executable, "-c", lines, str(folder)]
    return subprocess.run(command, check=False, timeout=120).returncode


def test_a_process_is_killed_between_two_calls(tmp_path: Path) -> None:
    """Before the link that publishes an object there is only its temporary file."""
    put = "watch_calls(fault, sys.argv[1])\nopen_store(sys.argv[1]).put_if_absent('a', b'1')\n"
    count = f"fault = Fault()\n{put}"
    count += "sys.exit([call.split()[0] for call in fault.steps].index('os.link') + 1)\n"
    link = _run(count, tmp_path / "counted")

    assert -signal.SIGKILL == _run(f"fault = Fault({link}, 'kill')\n{put}", tmp_path / "killed")
    (left,) = open_store(tmp_path / "killed").list("")
    assert left.startswith(".tmp")


def test_something_else_happens_before_a_step(tmp_path: Path) -> None:
    """Another writer acts once before a step, at which the fault may still end the process."""
    seen: list[bool] = []
    store = open_store(tmp_path)
    for at in (0, 2):
        other = Meanwhile(at, before=2, other=lambda at=at: seen.append(store.exists(f"b{at}")))
        with faulty(other):
            wrapped = open_store(tmp_path)
        wrapped.put(f"a{at}", b"1")
        with contextlib.suppress(Crash):
            wrapped.put(f"b{at}", b"1")
        assert (at == 0) == store.exists(f"b{at}")

    assert [False, False] == seen
