"""Campaigns: each part end to end, child processes, and the check of a workload."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lance_conformance
import pylanceref
import pytest
from lance_conformance.campaigns import child
from lance_conformance.campaigns.__main__ import CAMPAIGNS, load
from lance_conformance.campaigns.child import run_in_child
from lance_conformance.campaigns.faults.workload import create_table, row_errors, run_operation
from lance_conformance.specification.known_divergences import entries

COUNTS = {
    "files": {"differential": 5, "written": 4, "noncanonical": 2},
    "damage": {"files": 80, "tables": 2, "flips": 5},
    "queries": {"grammar": 20, "full_text": 1, "nearest": 1, "answers": 1},
    "histories": {"plain": 2, "indexed": 1, "conflicts": 3, "releases": 10_000},
    "faults": {"concurrency": 98, "crash": 1000, "crash_cloud": 1, "kills": 1, "spark": 1},
    "recall": {"vectors": 1, "rabitq": 30},
}
"""Number of cases of every part."""

SMALL = {
    "queries/full_text": "full_text/simple/*",
    "faults/concurrency": "concurrency/local/addresses, V1 names/appends, mixed",
    "faults/crash": "crash/addresses, V1 names/tag, refused",
    "recall/vectors": "vectors/places/IVF_FLAT/*",
    "histories/releases": "releases/0.20.0/type:int32",
}
"""Patterns of cases of slow parts."""

LONG = ("faults/concurrency", "faults/crash_cloud", "faults/kills", "faults/spark")
"""Parts with a server, with rounds of kills or with Spark."""

MARKS = {part: [pytest.mark.nightly] for part in (*LONG, "histories/releases")}

PARTS = [
    pytest.param(name, part, count, id=f"{name}-{part}", marks=MARKS.get(f"{name}/{part}", []))
    for name, some in COUNTS.items()
    for part, count in some.items()
]


def _run(name, part, count, tmp_path):
    """Run a part in a subprocess, which forks children before the oracle has threads."""
    options = {"--seed": 1, "--count": count, "--resume": tmp_path}
    options["--only"] = SMALL.get(f"{name}/{part}", part)
    arguments = [str(word) for option in options.items() for word in option]
    command = [sys.executable, "-m", "lance_conformance.campaigns", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "part", "count"), PARTS)
def test_a_part_agrees(name, part, count, tmp_path):
    """A few cases of each part end without a difference, and the report has a line of the part."""
    result = _run(name, part, count, tmp_path)

    assert 0 == result.returncode, result.stdout[-3000:] + result.stderr[-3000:]
    assert f"\n{part} " in result.stdout


def test_known_divergences_are_named_once():
    """No two entries of the list match the same facts, and each names a part of a campaign."""
    places = {f"{name}/{part.name}" for name in CAMPAIGNS for part in load(name).parts}
    facts = [(one.campaign, str(one.where)) for one in entries()]

    assert len(facts) == len(set(facts))
    assert {one.campaign for one in entries()} <= places


def test_nothing_in_the_wheel_imports_a_campaign():
    """Campaigns are not in the wheel, so no other module imports one."""
    package = Path(lance_conformance.__file__).parent
    modules = [
        path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "campaigns"
    ]

    assert modules
    assert [] == [
        path.name for path in modules if "lance_conformance.campaigns" in path.read_text("utf-8")
    ]


def _allocate(size: int) -> list[str]:
    return [str(len(bytearray(size)) + sum(bytearray(size)[:: 2**12]))]


def _kill() -> list[str]:
    os.write(2, b"last output")
    os.kill(os.getpid(), signal.SIGKILL)
    return ["alive"]


def _raise() -> list[str]:
    raise ValueError("not caught")


def test_a_killed_child_is_reported():
    """With its signal and error output; an uncaught exception gives no result."""
    killed, raised = run_in_child(_kill), run_in_child(_raise)

    assert (None, signal.SIGKILL, "last output") == (killed.result, killed.signal, killed.stderr)
    assert (None, 0) == (raised.result, raised.signal)


def test_memory_is_measured_above_the_baseline():
    """Memory of the child counts, memory of the parent does not."""
    ballast = bytearray(100 * 2**20)

    assert 60 * 2**20 < run_in_child(lambda: _allocate(64 * 2**20)).peak_bytes
    assert 0.4 * len(ballast) > run_in_child(lambda: _allocate(2**10)).peak_bytes


def test_memory_is_limited():
    """An allocation beyond the address space fails."""
    assert run_in_child(lambda: _allocate(child.ADDRESS_SPACE)).result is None


NUMBERS = 2
KINDS = ("append", "delete", "increment", "increment", "upsert", "insert")
DONE = list(zip(KINDS, (0, 1, 0, 0, 0, 1), strict=True))


@pytest.fixture
def rows(tmp_path):
    """The rows after some operations."""
    path = str(tmp_path / "t")
    create_table(path, NUMBERS, {}, stable=True, v2_names=True)
    for operation in [*DONE, ("compact", 0)]:
        run_operation(pylanceref, path, operation, {})
    return pylanceref.dataset(path).to_table()


def test_effects_of_operations_are_found(rows):
    """All of them; an uncertain operation may have its effect or not."""
    assert [] == list(row_errors(rows, DONE, (), NUMBERS))
    assert [] == list(row_errors(rows, DONE[:3], DONE[3:], NUMBERS))
    assert [] == list(row_errors(rows, DONE, [("append", 1), ("increment", 0)], NUMBERS))


@pytest.mark.parametrize("number", range(len(DONE)))
def test_an_effect_without_its_operation_is_an_error(rows, number):
    """So is an effect that occurs twice, or is lost."""
    assert 1 == len(list(row_errors(rows, DONE[:number] + DONE[number + 1 :], (), NUMBERS)))
