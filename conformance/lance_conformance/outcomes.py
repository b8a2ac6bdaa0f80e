"""Outcomes of a case, from best to worst."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Outcome(StrEnum):
    """The verdict on one case or one check of it; later members are worse."""

    PASS = "pass"
    UNSUPPORTED = "unsupported"
    FAIL = "fail"
    REJECTS_VALID = "rejects-valid"
    ACCEPTS_INVALID = "accepts-invalid"
    OVERCLAIM = "overclaim"
    BAD_OUTPUT = "bad-output"
    INPUT_MODIFIED = "input-modified"
    PANIC = "panic"
    FLAKY_CRASH = "flaky-crash"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    INFRA = "infra"


MEANINGS = {
    Outcome.PASS: "the response conforms to the format",
    Outcome.UNSUPPORTED: "the implementation does not claim this",
    Outcome.FAIL: "a wrong response",
    Outcome.REJECTS_VALID: "refuses valid bytes",
    Outcome.ACCEPTS_INVALID: "reads bytes that must be refused, or reports them as valid",
    Outcome.OVERCLAIM: "claims a capability that it does not have",
    Outcome.BAD_OUTPUT: "the output is not a valid Arrow IPC file",
    Outcome.INPUT_MODIFIED: "changed its input",
    Outcome.PANIC: "refuses with a panic",
    Outcome.FLAKY_CRASH: "died, and passed when rerun alone",
    Outcome.TIMEOUT: "no response in time",
    Outcome.MEMORY: "died of the memory limit",
    Outcome.CRASH: "died",
    Outcome.INFRA: "the adapter broke the protocol",
}
"""A line of explanation for readers of a report."""

DEATHS = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.MEMORY})
"""Outcomes that end the process; the case is rerun once, alone."""

GOOD = frozenset({Outcome.PASS, Outcome.UNSUPPORTED})
"""Outcomes that need no entry in a list of known failures."""

_SEVERITY = {outcome: rank for rank, outcome in enumerate(Outcome)}


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of `outcomes`, which is the outcome of the whole."""
    return max(outcomes, key=_SEVERITY.__getitem__, default=Outcome.PASS)
