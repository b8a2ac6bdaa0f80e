"""Campaigns: each part end to end, children, deeds, and the contract of the runner."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lance_conformance
import pylanceref
import pytest
from lance_conformance.campaigns import child
from lance_conformance.campaigns.__main__ import TOOLS, load
from lance_conformance.campaigns.child import ask
from lance_conformance.campaigns.faults.deeds import begin, do, faults
from lance_conformance.known_divergences import entries

TINY = {
    "files": {"differential": 5, "written": 4, "odd": 2},
    "damage": {"files": 80, "tables": 2, "flips": 5},
    "queries": {"grammar": 20, "full_text": 1, "nearest": 1, "answers": 1},
    "histories": {"plain": 2, "indexed": 1, "conflicts": 3, "releases": 10_000},
    "faults": {"concurrency": 98, "crash": 1000, "crash_cloud": 1, "kills": 1, "spark": 1},
    "recall": {"vectors": 1, "rabitq": 30},
}
"""Number of cases of every part."""

ONE = {
    "queries/full_text": "full_text/simple/*",
    "faults/concurrency": "concurrency/local/addresses, V1 names/appends, mixed",
    "faults/crash": "crash/addresses, V1 names/tag, refused",
    "recall/vectors": "vectors/places/IVF_FLAT/*",
    "histories/releases": "releases/0.20.0/type:int32",
}
"""Patterns where the whole part would take long."""

LONG = ("faults/concurrency", "faults/crash_cloud", "faults/kills", "faults/spark")
"""Parts with a server, with rounds of kills or with Spark."""

MARKS = {part: [pytest.mark.nightly] for part in (*LONG, "histories/releases")}


PARTS = [
    pytest.param(name, part, count, id=f"{name}-{part}", marks=MARKS.get(f"{name}/{part}", []))
    for name, some in TINY.items()
    for part, count in some.items()
]


def _runs(name, part, count, tmp_path):
    """Run a part in a process of its own: children are forked before the oracle has threads."""
    options = {"--seed": 1, "--count": count, "--resume": tmp_path}
    options["--only"] = ONE.get(f"{name}/{part}", part)
    arguments = [str(word) for option in options.items() for word in option]
    command = [sys.executable, "-m", "lance_conformance.campaigns", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "part", "count"), PARTS)
def test_a_part_agrees(name, part, count, tmp_path):
    """A few cases of each part end without a difference, and the report has a line of the part."""
    ended = _runs(name, part, count, tmp_path)

    assert 0 == ended.returncode, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert f"\n{part} " in ended.stdout


def test_known_divergences_are_named_once():
    """No two entries of the list match the same facts, and each names a part of a campaign."""
    places = {f"{name}/{part.name}" for name in TOOLS for part in load(name).parts}
    facts = [(one.campaign, str(one.where)) for one in entries()]

    assert len(facts) == len(set(facts))
    assert {one.campaign for one in entries()} <= places


def test_nothing_in_the_wheel_imports_a_campaign():
    """The wheel leaves the campaigns out: what a subcommand needs lies elsewhere."""
    package = Path(lance_conformance.__file__).parent
    modules = [
        path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "campaigns"
    ]

    assert modules
    assert [] == [
        path.name for path in modules if "lance_conformance.campaigns" in path.read_text("utf-8")
    ]


def _hold(size: int) -> list[str]:
    return [str(len(bytearray(size)) + sum(bytearray(size)[:: 2**12]))]


def _kill() -> list[str]:
    os.write(2, b"last words")
    os.kill(os.getpid(), signal.SIGKILL)
    return ["alive"]


def _raise() -> list[str]:
    raise ValueError("not caught")


def test_a_death_is_an_answer():
    """The signal and the error output are reported; an exception nobody caught is no answer."""
    ended = ask(_kill)

    assert (None, signal.SIGKILL, "last words") == (ended.answer, ended.signal, ended.told)
    assert (None, 0) == (ask(_raise).answer, ask(_raise).signal)


def test_memory_is_measured_above_the_baseline():
    """What is held shows, and what the parent holds does not."""
    ballast = bytearray(100 * 2**20)

    assert 60 * 2**20 < ask(lambda: _hold(64 * 2**20)).peak_bytes
    assert 0.4 * len(ballast) > ask(lambda: _hold(2**10)).peak_bytes


def test_memory_is_limited():
    """Beyond the address space there is none."""
    assert ask(lambda: _hold(child.ADDRESS_SPACE)).answer is None


NUMBERS = 2
DEEDS = ("append", "delete", "increment", "increment", "upsert", "insert")
DONE = list(zip(DEEDS, (0, 1, 0, 0, 0, 1), strict=True))


@pytest.fixture
def rows(tmp_path):
    """The rows after some deeds."""
    path = str(tmp_path / "t")
    begin(path, NUMBERS, {}, stable=True, v2_names=True)
    for deed in [*DONE, ("compact", 0)]:
        do(pylanceref, path, deed, {})
    return pylanceref.dataset(path).to_table()


def _found(rows, done, doubtful=()):
    return list(faults(rows, done, doubtful, NUMBERS))


def test_deeds_that_were_done_are_found(rows):
    """All of them; one in doubt may be done or not."""
    assert [] == _found(rows, DONE)
    assert [] == _found(rows, DONE[:3], DONE[3:])
    assert [] == _found(rows, DONE, [("append", 1), ("increment", 0)])


@pytest.mark.parametrize("number", range(len(DONE)))
def test_deeds_that_nobody_did_are_a_fault(rows, number):
    """As are those that were done twice, or are lost."""
    without = DONE[:number] + DONE[number + 1 :]

    assert 1 == len(_found(rows, without))
