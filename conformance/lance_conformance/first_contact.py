"""First contact: an adapter's messages under the schema, and a dozen small cases with hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lance_conformance import protocol
from lance_conformance.cases import Case
from lance_conformance.outcomes import Outcome
from lance_conformance.requirements import missing
from lance_conformance.runner import CaseResult, Worker
from lance_conformance.session import Claims, Session

NUM_POSITIVE = 8
NUM_NEGATIVE = 4

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


def smoke_cases(cases: Sequence[Case], claims: Claims) -> list[Case]:
    """Return the smallest claimed cases: some to read, some to refuse."""
    claimed = [case for case in cases if case.is_active and missing(case, claims) is None]
    claimed.sort(key=lambda case: (_size(case), case.id))
    positive = [case for case in claimed if not case.is_negative and case.kind != "lint"]
    negative = [case for case in claimed if case.is_negative]
    return [*positive[:NUM_POSITIVE], *negative[:NUM_NEGATIVE]]


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


def _size(case: Case) -> int:
    root = case.input_root
    files = [root] if root.is_file() else [path for path in root.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)
