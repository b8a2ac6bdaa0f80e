"""Tests of the runner: every way to misbehave gives exactly its outcome."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lance_conformance import cases, runner
from lance_conformance.cases import Case
from lance_conformance.inputs import copy_input
from lance_conformance.judging import REFERENCE
from lance_conformance.outcomes import Outcome
from lance_conformance.recipes.build import build
from lance_conformance.recipes.cases import RECIPES
from lance_conformance.runner import Worker
from lance_conformance.session import AdapterUnusable, Session

READ, NEGATIVE, LINT = "toy/any/read/columns", "toy/any/read/neg-broken", "toy/any/read/odd"

OUTCOMES = {
    "perfect": Outcome.PASS,
    "slow": Outcome.PASS,
    "wrong-answer": Outcome.FAIL,
    "rejects-all": Outcome.REJECTS_VALID,
    "unsupported": Outcome.UNSUPPORTED,
    "overclaims": Outcome.OVERCLAIM,
    "bad-output": Outcome.BAD_OUTPUT,
    "modifies-input": Outcome.INPUT_MODIFIED,
    "panics": Outcome.PANIC,
    "silent": Outcome.TIMEOUT,
    "memory-hog": Outcome.MEMORY,
    "crash": Outcome.CRASH,
    "exit": Outcome.CRASH,
    "flaky": Outcome.FLAKY_CRASH,
    "bad-json": Outcome.INFRA,
    "two-lines": Outcome.INFRA,
    "wrong-id": Outcome.INFRA,
    "unknown-field": Outcome.INFRA,
    "adapter-error": Outcome.INFRA,
}
"""Outcome of the case to read, by the mode of the fake."""

Sessions = Callable[[str], Session]


def by_id(root: Path) -> dict[str, Case]:
    return {case.id: case for case in cases.load(root)}


def impatient(case: Case) -> Case:
    """The case with a second to answer."""
    return replace(case, manifest={**case.manifest, "limits": {"seconds": 1, "memory_mb": 512}})


@pytest.mark.parametrize(("mode", "outcome"), OUTCOMES.items())
def test_each_misbehaviour_has_its_outcome(
    mode: str, outcome: Outcome, toy_suite: Path, open_session: Sessions
) -> None:
    """A fake gives the outcome of its mode, and the next case finds a working process."""
    session = open_session(mode)
    try:
        case = by_id(toy_suite)[READ]
        if outcome == Outcome.TIMEOUT:
            case = impatient(case)
        result = Worker(session).run(case)

        assert outcome == result.outcome, result.detail
        assert "perfect" != mode or result.detail == ""
        assert session.claims().implementation["name"] == f"fake-{mode}"
    finally:
        session.restart()


def test_perfect_fake_passes_everything(toy_suite: Path, open_session: Sessions) -> None:
    """Reading, refusing and reporting as expected passes, check by check, in one process."""
    session = open_session("perfect")
    worker = Worker(session)
    results = {case.id: worker.run(case) for case in cases.load(toy_suite)}

    assert {Outcome.PASS} == {result.outcome for result in results.values()}
    reading = ["full", "projection", "range", "take", "validate"]
    assert reading == [c.name for c in results[READ].checks]
    assert ["full", "validate"] == [c.name for c in results[NEGATIVE].checks]
    assert "validate" == results[LINT].checks[-1].name
    assert 1 == session.starts
    assert session.close()


def test_reading_what_must_be_refused(toy_suite: Path, open_session: Sessions) -> None:
    """An `ok` to bytes that must be refused is accepts-invalid."""
    session = open_session("accepts-all")
    result = Worker(session).run(by_id(toy_suite)[NEGATIVE])
    session.close()

    assert Outcome.ACCEPTS_INVALID == result.outcome


def test_death_leaves_its_words(toy_suite: Path, open_session: Sessions) -> None:
    """A crash tells the signal and keeps what was written to standard error."""
    session = open_session("crash")
    result = Worker(session).run(by_id(toy_suite)[READ])

    assert "SIGSEGV" in result.detail
    assert "about to die" in result.stderr


def test_killing_takes_the_children_along(toy_suite: Path, open_session: Sessions) -> None:
    """After a timeout no process that the adapter started is left."""
    session = open_session("silent-with-child")
    Worker(session).run(impatient(by_id(toy_suite)[READ]))
    session.restart()
    child = int((session.scratch / "child.pid").read_text())
    for _ in range(100):
        if not _is_running(child):
            break
        time.sleep(0.02)

    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc").exists()
    return status.read_text().split()[2] not in "ZX"


def test_adapter_that_does_not_greet_is_unusable(
    toy_suite: Path, tmp_path: Path, fake: Callable[[str], list[str]]
) -> None:
    """Without a hello nothing is judged, and the error shows what the adapter wrote."""
    with pytest.raises(AdapterUnusable, match="no hello from me"):
        runner.run(fake("exits-at-hello"), cases.load(toy_suite), tmp_path / "scratch")


def test_command_that_does_not_exist_is_unusable(tmp_path: Path) -> None:
    """A command that cannot be started is an unusable adapter."""
    with pytest.raises(AdapterUnusable, match="cannot start"):
        runner.run([str(tmp_path / "none")], [], tmp_path / "scratch")


def test_isolation_starts_a_process_per_case(toy_suite: Path, open_session: Sessions) -> None:
    """With isolation every case has a process of its own."""
    session = open_session("perfect")
    worker = Worker(session, isolate=True)
    for case in cases.load(toy_suite):
        worker.run(case)
    session.close()

    assert 3 == session.starts


def test_workers_share_the_cases(
    toy_suite: Path, tmp_path: Path, fake: Callable[[str], list[str]]
) -> None:
    """Two adapters side by side give each case once, in the order of ids."""
    seen: list[str] = []
    _, results = runner.run(
        fake("perfect"),
        cases.load(toy_suite)[::-1],
        tmp_path / "scratch",
        jobs=2,
        progress=lambda result: seen.append(result.case.id),
    )

    assert [READ, NEGATIVE, LINT] == [result.case.id for result in results]
    assert sorted(seen) == [READ, NEGATIVE, LINT]


def test_inputs_have_neutral_names(tmp_path: Path, toy_suite: Path) -> None:
    """The copy of an input says nothing of the case it comes from."""
    copied = copy_input(toy_suite / NEGATIVE / "data.lance", tmp_path)
    folder = copy_input(toy_suite / NEGATIVE, tmp_path)

    assert "input.lance" == copied.name
    assert "table.lance" == folder.name


def test_two_runs_tell_the_same(toy_suite: Path, tmp_path: Path, fake) -> None:
    """Details hold nothing that differs between runs with the same outcomes."""
    for mode in ("crash", "bad-output"):
        first, second = (
            runner.run(fake(mode), cases.load(toy_suite), tmp_path / mode / str(number))[1]
            for number in range(2)
        )

        assert first == second


def test_each_actor_of_a_case_is_a_process_of_its_own(tmp_path: Path) -> None:
    """Two writers append after one version; both commits stand, and the frozen input too."""
    root = tmp_path / "cases"
    build([RECIPES["txn/any/rows/two-appends"]], {}, root)
    (case,) = cases.load(root)
    before = (case.folder / "case.json").read_bytes()
    session = Session(REFERENCE, tmp_path / "scratch")
    result = Worker(session).run(case)

    assert Outcome.PASS == result.outcome, result.detail
    assert ["step 1", "step 2", "self", "reference", "manifest"] == [c.name for c in result.checks]
    assert (tmp_path / "scratch" / "actor1").is_dir()
    assert session.close()
    assert before == (case.folder / "case.json").read_bytes()
