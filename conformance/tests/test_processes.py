"""Processes, inputs and scratch folders of a run: limits, signals, and remaining files."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from lance_conformance import process_tree, schemas
from lance_conformance.protocol import adapter_process, scratch
from lance_conformance.protocol.input_copy import copy_input, is_unchanged, take_snapshot
from lance_conformance.reports import files
from lance_conformance.reports.journal import CannotResume
from lance_conformance.resources import fixtures
from lance_conformance.runs.suite_run import RunOptions, run_suite
from lance_conformance.suite.case_storage import case_folder

pytestmark = pytest.mark.xdist_group("processes")
COMMAND = (sys.executable, "-m", "lance_conformance.cli", "run")


def lines(out: Path) -> list[dict[str, object]]:
    """Return the objects of a report, none before there is one."""
    path = out / "report.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def start(fixtures: Path, out: Path, scratch: Path, *more: str) -> subprocess.Popen[bytes]:
    """Start a run of the command."""
    scratch.mkdir(exist_ok=True)
    command = [*COMMAND, "--fixtures", str(fixtures), "--out", str(out), *more]
    return subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)})


def without_start(out: Path) -> list[dict[str, object]]:
    """Return a report but for the time of its start."""
    header, *rest = lines(out)
    return [{**header, "started": ""}, *rest]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_keeps_what_is_finished(number, code, long_suite, tmp_path, fake, monkeypatch):
    """The finished cases are reported, and `resume` runs the others: the report is the same."""
    out, scratch, whole = tmp_path / "out", tmp_path / "scratch", tmp_path / "whole"
    running = start(long_suite, out, scratch, "--", *fake("slow"))
    while len(lines(out)) < 3 and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(number)

    assert code == running.wait(60)
    header, *cases, footer = lines(out)
    assert 2 <= len(cases) < 6
    assert (
        f"stopped by {signal.Signals(number).name} after {len(cases)} of 6 cases"
        == (header["incomplete"])
    )
    assert code == footer["exit_code"]
    assert [] == list(scratch.iterdir())
    assert (out / "junit.xml").exists()
    assert "Incomplete" in (out / "summary.md").read_text("utf-8")

    monkeypatch.setenv("FAKE_SECONDS", "0")
    order = RunOptions(fake("slow"), fixtures=long_suite)
    files.write(run_suite(replace(order, journal=out, resume=True)), out)
    files.write(run_suite(order), whole)
    assert without_start(whole) == without_start(out)
    assert 6 * 5 == len((out / "timings.jsonl").read_text("utf-8").splitlines())
    with pytest.raises(CannotResume):
        run_suite(RunOptions(fake("perfect"), fixtures=long_suite, journal=out, resume=True))


FAKES = Path(__file__).parent / "fakes"
CASE = "file/2.1/levels/list"
MOST_MB = 256
"""What any mode may add to the memory of the runner."""

OUTCOMES = {
    "bad-output": (
        "link fifo device folder none empty junk sparse zstd-bomb lz4-bomb null-bomb batch-bomb "
        "truncated dictionary-bomb run-bomb bad-text other-place tensor"
    ),
    "fail": "wide nested zone far-date twice-named metadata pickle",
    "rejects-valid": (
        "name-markup name-controls name-huge name-empty message-markup message-controls "
        "message-long padded child daemon daemon-bare flood ignores-term no-bye bye-flood late "
        "close-in filled-scratch"
    ),
    "unsupported": "unsupported",
    "infra": (
        "adapter-error not-utf-8 deep-list deep-object big-integer big-text infinity nan id-true "
        "id-other key-twice two-answers no-newline dies-for-good"
    ),
    "timeout": "drip half-line stopped",
    "crash": "exit exit-in-line killed close-out",
    "input-modified": (
        "no-scratch linked-scratch locked-scratch input-fifo input-device input-sparse"
    ),
}
"""Modes by the outcome they give."""

MODES = {mode: outcome for outcome, modes in OUTCOMES.items() for mode in modes.split()}
ALSO = {"locked-scratch": "bad-output", "truncated": "fail"}
"""Another outcome, as rights or a race of the adapter with itself have it."""


@dataclass(frozen=True)
class Judged:
    """What the runner said of each mode, and the folders it worked in."""

    rows: dict[str, dict[str, Any]]
    out: Path
    scratch: Path
    victim: Path


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """All modes, one after another, by a runner of their own."""
    root = tmp_path_factory.mktemp("hostile")
    folders = [root / name for name in ("cases", "out", "scratch", "victim", "tables")]
    cases, out, scratch, victim, tables = folders
    for folder in folders[1:]:
        folder.mkdir()
    shutil.copytree(case_folder(fixtures() / CASE), cases / CASE)
    (victim / "kept").touch()
    subprocess.run([sys.executable, str(FAKES / "hostile_tables.py"), str(tables)], check=True)
    own = {"TMPDIR": scratch, "HOSTILE_VICTIM": victim, "HOSTILE_TABLES": tables}
    environment = os.environ | {name: str(path) for name, path in own.items()}
    runner = str(FAKES / "hostile_run.py")
    command = [sys.executable, runner, str(cases), str(out), "none", *MODES]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    return Judged({row["mode"]: row for row in rows}, out, scratch, victim)


@pytest.mark.skipif(sys.platform != "linux", reason="processes that left are found on Linux only")
@pytest.mark.parametrize("mode", MODES)
def test_runner_survives(mode, judged):
    """Each mode has its outcome; the reports parse; no process is left."""
    row = judged.rows[mode]

    assert row["outcomes"][0] in (MODES[mode], ALSO.get(mode)), row["details"]
    assert [] == row["processes"]
    assert row["peak_mb"] - judged.rows["none"]["peak_mb"] < MOST_MB
    _parse(judged.out / mode)


def _parse(folder: Path) -> None:
    """Parse every report of a folder."""
    lines = (folder / "report.jsonl").read_text("utf-8").splitlines()
    assert 3 == len(lines)
    for line in lines:
        assert [] == schemas.problems("report", json.loads(line))
    ElementTree.parse(folder / "junit.xml")
    ElementTree.parse(folder / "badge.svg")
    json.loads((folder / "badge.json").read_text("utf-8"))
    page = (folder / "report.html").read_text("utf-8")
    HTMLParser().feed(page)
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert re.search(r"(?<!\\)<", (folder / "summary.md").read_text("utf-8")) is None
    assert "\x1b]" not in (folder / "terminal.txt").read_text("utf-8")


def test_nothing_is_left(judged):
    """Scratch folders are removed, and nothing else is touched."""
    assert set(MODES) <= judged.rows.keys()
    assert [] == list(judged.scratch.iterdir())
    assert ["dead", "kept"] == sorted(path.name for path in judged.victim.iterdir())


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="found by /proc, on Linux only")
@pytest.mark.parametrize("script", ["sleep 4711", "setsid sleep 4711", "setsid -f sleep 4711"])
def test_children_end_with_their_root(tmp_path, script):
    """Also one that left the session, and one whose parent is gone."""
    assert process_tree.adopt_orphans()
    mark, pids = f"test-{os.getpid()}", tmp_path / "pids"
    script = script.replace("sleep", f"sh -c 'echo $$ >> {pids}; exec sleep 4711' #")
    root = subprocess.Popen(
        ["/bin/sh", "-c", f"{script}\nsleep 4711"],
        env={**os.environ, process_tree.MARKER: mark},
        start_new_session=True,
    )
    try:
        while not pids.exists() or not pids.read_text().endswith("\n"):
            time.sleep(0.01)
    finally:
        root.kill()
        process_tree.kill_tree(root.pid, mark)
        root.wait()

    assert not any(is_running(int(pid)) for pid in pids.read_text().split())


@pytest.mark.skipif(sys.platform != "linux", reason="found by /proc, on Linux only")
def test_others_are_left_alone():
    """A child of this process without the mark goes on."""
    with subprocess.Popen(["sleep", "4711"]) as other:
        root = subprocess.Popen(["sleep", "4711"], start_new_session=True)
        root.kill()
        process_tree.kill_tree(root.pid, "no such mark")
        root.wait()
        went_on = other.poll() is None
        other.kill()

    assert went_on


SHELL = "{limit} while read line; do echo $(ulimit -S -v) $(ulimit -H -v); done"
"""Answers every line with the soft and the hard limit of the address space, in KiB."""


def limits(limit: str, memory_mb: int, folder: Path) -> list[str]:
    """Return the soft and the hard limit of a process that sets `limit` at its start."""
    process = adapter_process.AdapterProcess(["/bin/sh", "-c", SHELL.format(limit=limit)], folder)
    try:
        process.exchange(b"\n", 60)
        process.note_base_memory()
        process.limit_memory(memory_mb)
        return process.exchange(b"\n", 60).decode().split()
    finally:
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a live process are Linux's")
def test_memory_limit_keeps_below_a_hard_limit(tmp_path):
    """The soft limit is what the request allows, or the hard limit where that is lower."""
    soft, hard = limits("", 100, tmp_path)

    assert 100 * 1024 <= int(soft) < 200 * 1024
    assert "unlimited" == hard
    assert ["500000", "500000"] == limits("ulimit -v 500000;", 4096, tmp_path)
    assert ["500000"] == limits("ulimit -S -v 400000; ulimit -H -v 500000;", 4096, tmp_path)[1:]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The copy of a folder with two files."""
    source = tmp_path / "source"
    (source / "data").mkdir(parents=True)
    (source / "data" / "a").write_bytes(b"12345678")
    (source / "b").write_bytes(b"")
    (tmp_path / "work").mkdir()
    return copy_input(source, tmp_path / "work")


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    make(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: (table / "data" / "a").write_bytes(b"12345679"),
        lambda table: os.truncate(table / "data" / "a", 1 << 40),
        lambda table: (table / "b").unlink(),
        lambda table: (table / "c").touch(),
        lambda table: (table / "link").symlink_to("/dev/zero"),
        lambda table: replaced(table / "data" / "a", os.mkfifo),
        lambda table: replaced(table / "data" / "a", lambda path: path.symlink_to("/dev/zero")),
        lambda table: replaced(table / "data" / "a", lambda path: path.mkdir()),
        lambda table: table.rename(table.with_name("elsewhere")),
    ],
)
def test_a_change_is_seen(table, change):
    """Other bytes, files, links and kinds of file are changes; nothing endless is opened."""
    before = take_snapshot(table)
    assert is_unchanged(table, before)
    change(table)

    assert not is_unchanged(table, before)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file outside, in a folder that links point to."""
    path = tmp_path / "victim" / "kept"
    path.parent.mkdir()
    path.touch()
    return path


def test_a_scratch_folder_goes_with_all_it_holds(kept):
    """Locked folders too; links are not followed."""
    with scratch.scratch_folder() as folder:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "link").symlink_to(kept.parent)
        (folder / "a" / "b").chmod(0)
        (folder / "a").chmod(0)

    assert not folder.exists()
    assert kept.exists()


@pytest.mark.parametrize("linked", ["parent", "parent/1"])
def test_a_fresh_folder_is_empty_and_its_own(kept, tmp_path, linked):
    """A link, a file or an old folder in its place, or in its parent's, gives way."""
    (tmp_path / linked).parent.mkdir(exist_ok=True)
    (tmp_path / linked).symlink_to(kept.parent)
    first = scratch.fresh_folder(tmp_path / "parent", "1")
    (first / "old").touch()
    second = scratch.fresh_folder(tmp_path / "parent", "1")

    assert first == second
    assert [] == list(second.iterdir())
    assert second.resolve() == second
    assert kept.exists()


def test_remove_and_open_up_take_what_is_there(kept, tmp_path):
    """A folder that is not there is none to remove; a link is removed, its rights are kept."""
    link = tmp_path / "link"
    link.symlink_to(kept.parent)
    kept.parent.chmod(0o755)
    scratch.make_accessible(link)
    scratch.remove_folder(link)
    scratch.remove_folder(tmp_path / "none")

    assert 0o755 == kept.parent.stat().st_mode & 0o777
    assert kept.exists()
    assert not link.is_symlink()
