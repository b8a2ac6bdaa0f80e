"""Outcomes: what a case can come to, from best to worst."""

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
    Outcome.PASS: "answered as the format asks",
    Outcome.UNSUPPORTED: "the implementation does not claim this",
    Outcome.FAIL: "a wrong answer",
    Outcome.REJECTS_VALID: "refuses bytes that are right",
    Outcome.ACCEPTS_INVALID: "reads bytes that must be refused, or calls them valid",
    Outcome.OVERCLAIM: "claims a capability and then does not have it",
    Outcome.BAD_OUTPUT: "the output is not a valid Arrow IPC file",
    Outcome.INPUT_MODIFIED: "changed its input",
    Outcome.PANIC: "refuses by a panic",
    Outcome.FLAKY_CRASH: "died, and passed when run again alone",
    Outcome.TIMEOUT: "no answer in time",
    Outcome.MEMORY: "died of the memory limit",
    Outcome.CRASH: "died",
    Outcome.INFRA: "the adapter broke the protocol",
}
"""One line a reader of a report can start from."""

DEATHS = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.MEMORY})
"""Outcomes that cost the process; the case is run once more, alone."""

GOOD = frozenset({Outcome.PASS, Outcome.UNSUPPORTED})
"""Outcomes that need no entry in a list of known failures."""

_ORDER = {outcome: rank for rank, outcome in enumerate(Outcome)}


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the worst of `outcomes`, which is the outcome of the whole."""
    return max(outcomes, key=_ORDER.__getitem__, default=Outcome.PASS)
