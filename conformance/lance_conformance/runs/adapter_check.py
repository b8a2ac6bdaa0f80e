"""The check of a new adapter: its messages against the schema, a dozen small cases, hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from lance_conformance.judging.checks import applicable_expectation, expected_table
from lance_conformance.judging.runner import CaseResult, Worker
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol import messages
from lance_conformance.protocol.session import Claims, Session
from lance_conformance.suite.cases import Case
from lance_conformance.suite.levels import LADDER
from lance_conformance.suite.requirements import missing_requirement

NUM_POSITIVE = 8
NUM_NEGATIVE = 4

_RANK = {name: rank for rank, name in enumerate(LADDER)}

HINTS = {
    Outcome.FAIL: "compare the two rows above; `lance-conformance explain` shows the bytes",
    Outcome.REJECTS_VALID: "these bytes are valid; if you do not support them, answer "
    "`unsupported`, or do not claim them in `hello`",
    Outcome.ACCEPTS_INVALID: "these bytes break a clause: `lance-conformance show ID` prints it",
    Outcome.PANIC: "validate the bytes before use, and answer `reject`",
    Outcome.CRASH: "refuse by a response, not by an exit; standard error shows where it ended",
    Outcome.TIMEOUT: "did you flush standard output after the line?",
    Outcome.MEMORY: "bound every count by the bytes that remain before you allocate",
    Outcome.BAD_OUTPUT: "write an Arrow IPC *file*, not a stream, to the path in `out`; close it",
    Outcome.INPUT_MODIFIED: "open inputs read-only",
    Outcome.OVERCLAIM: "remove it from the capabilities in `hello`",
    Outcome.UNSUPPORTED: "not a failure: the case counts as not claimed",
    Outcome.INFRA: "one JSON object per line, one line per request, nothing else on stdout",
}
"""The first thing to check, by outcome."""


FIRST_STEPS: tuple[Callable[[set[str], list[object]], bool], ...] = (
    lambda types, values: types == {"int32"} and bool(values) and None not in values,
    lambda types, values: types == {"int32"} and None in values and any(values),
    lambda types, values: types == {"string"} and any(values),
)
"""Conditions on the first cases: int32 without nulls, int32 with nulls, strings."""


def smoke_cases(cases: Sequence[Case], claims: Claims) -> list[Case]:
    """Return small claimed cases: those of `FIRST_STEPS`, more valid ones, some negative ones.

    Levels are taken in the order of the ladder, each by its smallest case.
    """
    claimed = [
        case for case in cases if case.is_active and missing_requirement(case, claims) is None
    ]
    claimed.sort(key=lambda case: (input_size(case), case.id))
    positive = [case for case in claimed if not case.is_negative and case.kind != "lint"]
    negative = [case for case in claimed if case.is_negative]
    positive.sort(key=lambda case: _RANK[case.level])
    steps = _first_step_cases(positive, claims)
    others = {case.level: case for case in reversed(positive) if case not in steps}
    rest = sorted(others.values(), key=lambda case: _RANK[case.level])
    return [*steps, *rest[: NUM_POSITIVE - len(steps)], *negative[:NUM_NEGATIVE]]


def _first_step_cases(positive: Sequence[Case], claims: Claims) -> list[Case]:
    """Return the first case of a single column that meets each condition."""
    tables = [case for case in positive if case.kind in ("read-file", "read-dataset")]
    found: dict[int, Case] = {}
    for case in tables:
        types = set(case.requires.get("types", ()))
        if len(types) != 1 or len(found) == len(FIRST_STEPS):
            continue
        table = expected_table(case, applicable_expectation(case, claims)).table
        values = [value for column in table.columns for value in column.to_pylist()]
        for number, fits in enumerate(FIRST_STEPS):
            if number not in found and fits(types, values):
                found[number] = case
    return [found[number] for number in sorted(found)]


def run_smoke_cases(
    command: Sequence[str], cases: Sequence[Case], scratch: Path, log: list[str]
) -> Iterator[CaseResult]:
    """Run the smoke cases and yield their results; `log` receives every message of each."""

    def record(direction: str, message: Mapping[str, object]) -> None:
        log.append(f"{direction} {messages.encode(message).decode().rstrip()}")
        if direction == "→":
            log.extend(
                f"  the runner's request is invalid: {w}"
                for w in messages.request_problems(message)
            )

    session = Session(command, scratch, record)
    try:
        worker = Worker(session)
        for case in smoke_cases(cases, session.claims()):
            yield worker.run(case)
        if not session.close():
            log.append("  the adapter did not exit with code 0 within 2 seconds after `bye`")
    finally:
        session.restart()


def input_size(case: Case) -> int:
    """Return the size of a case's input in bytes."""
    root = case.input_root
    files = [root] if root.is_file() else [path for path in root.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)
