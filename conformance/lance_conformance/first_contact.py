"""First contact: an adapter's messages under the schema, and a dozen small cases with hints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from lance_conformance import protocol
from lance_conformance.cases import Case
from lance_conformance.checks import alternative, expected_table
from lance_conformance.levels import LADDER
from lance_conformance.outcomes import Outcome
from lance_conformance.requirements import missing
from lance_conformance.runner import CaseResult, Worker
from lance_conformance.session import Claims, Session

NUM_POSITIVE = 8
NUM_NEGATIVE = 4

_RANK = {name: rank for rank, name in enumerate(LADDER)}

HINTS = {
    Outcome.FAIL: "compare the two rows above; `lance-conformance explain` shows the bytes",
    Outcome.REJECTS_VALID: "these bytes are right; what you do not support you may answer by "
    "`unsupported`, or not claim in `hello`",
    Outcome.ACCEPTS_INVALID: "these bytes break a clause: `lance-conformance show ID` says which",
    Outcome.PANIC: "check the bytes before you use them, and answer `reject`",
    Outcome.CRASH: "a refusal is an answer, not an exit; standard error says where it ended",
    Outcome.TIMEOUT: "did you flush standard output after the line?",
    Outcome.MEMORY: "bound every count by the bytes that remain before you allocate",
    Outcome.BAD_OUTPUT: "write an Arrow IPC *file*, not a stream, to the path in `out`; close it",
    Outcome.INPUT_MODIFIED: "open inputs read-only",
    Outcome.OVERCLAIM: "take it out of the capabilities in `hello`",
    Outcome.UNSUPPORTED: "no failure: it is counted as not claimed",
    Outcome.INFRA: "one JSON object per line, one line per request, nothing else on stdout",
}
"""What to look at first, by outcome."""


STEPS: tuple[Callable[[set[str], list[object]], bool], ...] = (
    lambda types, values: types == {"int32"} and bool(values) and None not in values,
    lambda types, values: types == {"int32"} and None in values and any(values),
    lambda types, values: types == {"string"} and any(values),
)
"""What an adapter is asked first: int32 without nulls, int32 with nulls, strings."""


def smoke_cases(cases: Sequence[Case], claims: Claims) -> list[Case]:
    """Return small claimed cases: first the steps of a first reader, more to read, some to refuse.

    Levels are taken in the order of the ladder, and of each the smallest case.
    """
    claimed = [case for case in cases if case.is_active and missing(case, claims) is None]
    claimed.sort(key=lambda case: (size(case), case.id))
    positive = [case for case in claimed if not case.is_negative and case.kind != "lint"]
    negative = [case for case in claimed if case.is_negative]
    positive.sort(key=lambda case: _RANK[case.level])
    steps = _steps(positive, claims)
    others = {case.level: case for case in reversed(positive) if case not in steps}
    rest = sorted(others.values(), key=lambda case: _RANK[case.level])
    return [*steps, *rest[: NUM_POSITIVE - len(steps)], *negative[:NUM_NEGATIVE]]


def _steps(positive: Sequence[Case], claims: Claims) -> list[Case]:
    """Return the first case of each step that has values of one column."""
    tables = [case for case in positive if case.kind in ("read-file", "read-dataset")]
    found: dict[int, Case] = {}
    for case in tables:
        types = set(case.requires.get("types", ()))
        if len(types) != 1 or len(found) == len(STEPS):
            continue
        table = expected_table(case, alternative(case, claims)).table
        values = [value for column in table.columns for value in column.to_pylist()]
        for number, fits in enumerate(STEPS):
            if number not in found and fits(types, values):
                found[number] = case
    return [found[number] for number in sorted(found)]


def talk(
    command: Sequence[str], cases: Sequence[Case], scratch: Path, log: list[str]
) -> Iterator[CaseResult]:
    """Run the smoke cases and yield their results; `log` receives every message of each."""

    def listen(direction: str, message: Mapping[str, object]) -> None:
        log.append(f"{direction} {protocol.encode(message).decode().rstrip()}")
        if direction == "→":
            log.extend(f"  our request is wrong: {w}" for w in protocol.check_request(message))

    session = Session(command, scratch, listen)
    try:
        worker = Worker(session)
        for case in smoke_cases(cases, session.claims()):
            yield worker.run(case)
        if not session.close():
            log.append("  after `bye` the adapter did not end with exit code 0 within 2 seconds")
    finally:
        session.restart()


def size(case: Case) -> int:
    """Return the bytes of a case's input."""
    root = case.input_root
    files = [root] if root.is_file() else [path for path in root.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)
