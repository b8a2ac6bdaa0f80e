"""Scores: numbers of cases, breadth and correctness per profile, and the levels reached.

The numbers count the claimed cases. Results of `validate` are a separate number: they affect
neither those of reading nor a level. Breadth and correctness are weighted by clause, however many
cases it has. Breadth is the claimed share of all, correctness the correct share of the claimed;
they are never mixed. A known failure is a failure here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lance_conformance.judging.checks import VALIDATE
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import DEATHS, Outcome
from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case
from lance_conformance.suite.levels import Manifest, blocking_cases, cases_by_level
from lance_conformance.suite.profiles import NEGATIVE_KINDS


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one profile; shares are between 0 and 1."""

    breadth: float
    clauses: int
    clauses_claimed: int
    clauses_correct: int
    cases: int
    cases_claimed: int

    @property
    def correctness(self) -> float:
        """Share of claimed clauses whose every claimed case passes."""
        return self.clauses_correct / self.clauses_claimed if self.clauses_claimed else 0.0


@dataclass(frozen=True, slots=True)
class Ratio:
    """A number of good cases out of a number of cases."""

    good: int
    cases: int

    @property
    def share(self) -> float:
        """Share from 0 to 1; 0 without cases."""
        return self.good / self.cases if self.cases else 0.0


NUMBERS = VALID, REFUSED, SURVIVED = "valid data read right", "damage refused", "survived"
"""The three headline numbers of every report."""

REPORTED = "validated right"
"""The fourth number, of implementations that claim to validate."""

UNSAFE_OUTCOMES = DEATHS | {Outcome.PANIC, Outcome.FLAKY_CRASH}
"""Outcomes of a case that the implementation did not survive."""


def numbers(results: Iterable[CaseResult]) -> dict[str, Ratio]:
    """Return the numbers over the claimed cases, without those that have no cases."""
    claimed = [result for result in results if result.outcome != Outcome.UNSUPPORTED]
    readable = [result for result in claimed if result.case.kind != "lint"]
    read = [result for result in readable if result.read_outcome != Outcome.UNSUPPORTED]
    damaged = [result for result in read if result.case.kind in NEGATIVE_KINDS]
    valid = [result for result in read if result.case.kind not in NEGATIVE_KINDS]
    alive = sum(result.outcome not in UNSAFE_OUTCOMES for result in claimed)
    validate_outcomes = [
        one.outcome for result in claimed for one in result.checks if one.name == VALIDATE
    ]
    parts = {
        VALID: Ratio(_passed(valid), len(valid)),
        REFUSED: Ratio(_passed(damaged), len(damaged)),
        SURVIVED: Ratio(alive, len(claimed)),
        REPORTED: Ratio(validate_outcomes.count(Outcome.PASS), len(validate_outcomes)),
    }
    return {name: part for name, part in parts.items() if part.cases}


def _passed(results: Iterable[CaseResult]) -> int:
    return sum(result.read_outcome == Outcome.PASS for result in results)


@dataclass(frozen=True, slots=True)
class Level:
    """Passing cases of a level; `why` describes the blocking ones, `claimed` if any is claimed."""

    passed: int
    total: int
    claimed: bool
    why: str

    @property
    def reached(self) -> bool:
        """Whether the level has cases and all that count pass."""
        return 0 < self.passed == self.total


MAX_NAMED = 3
"""Maximum number of missing claims named for a level."""


def by_clause(results: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """Return the results of each clause, clauses in order."""
    found: defaultdict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        for clause in result.case.clauses:
            found[clause].append(result)
    return dict(sorted(found.items()))


def score(results: Sequence[CaseResult]) -> Score:
    """Return the score of the cases of one profile."""
    shares, claimed_clauses, correct = [], 0, 0
    for _, tested in by_clause(results).items():
        claimed = [result for result in tested if result.outcome != Outcome.UNSUPPORTED]
        shares.append(len(claimed) / len(tested))
        claimed_clauses += bool(claimed)
        correct += bool(claimed) and all(r.outcome == Outcome.PASS for r in claimed)
    return Score(
        breadth=sum(shares) / len(shares) if shares else 0.0,
        clauses=len(shares),
        clauses_claimed=claimed_clauses,
        clauses_correct=correct,
        cases=len(results),
        cases_claimed=sum(result.outcome != Outcome.UNSUPPORTED for result in results),
    )


def profiles(results: Sequence[CaseResult]) -> dict[str, Score]:
    """Return the score of each profile with cases; `unstable` is never scored."""
    found = {}
    for name in ("core", "format"):
        chosen = [
            r for r in results if name == r.case.profile or (name == "core" and r.case.is_core)
        ]
        if chosen:
            found[name] = score(chosen)
    return found


def levels(
    results: Sequence[CaseResult], active: Sequence[Case], register: Mapping[str, Clause]
) -> dict[str, Level]:
    """Return the levels with cases that were run, in the order of the ladder.

    A level counts its cases that test a MUST, run or not, so it is only reached when all were run.
    Unclaimed cases that do not block it are ignored.
    """
    by_id = {result.case.id: result for result in results}
    tried = {result.case.level for result in results}
    every = cases_by_level((case.manifest for case in active), register)
    return {name: _level(own, by_id) for name, own in every.items() if name in tried}


def _level(cases: Sequence[Manifest], by_id: Mapping[str, CaseResult]) -> Level:
    results = [by_id[case["id"]] for case in cases if case["id"] in by_id]
    outcomes = {result.case.id: result.read_outcome for result in results}
    blocking = {one["id"] for one in blocking_cases(cases, outcomes)}
    counted = [result for result in results if result.case.id in blocking]
    unclaimed = [result for result in counted if result.read_outcome == Outcome.UNSUPPORTED]
    passed, not_run = _passed(results), len(cases) - len(results)
    total = passed + len(counted) + not_run
    reasons = [
        f"{count} of {total} cases {what}"
        for count, what in (
            (not_run, "not run"),
            (len(counted) - len(unclaimed), "wrong"),
            (len(unclaimed), f"not claimed{_unclaimed_text(unclaimed)}"),
        )
        if count
    ]
    why = ", ".join(reasons) or f"all {total} cases pass"
    claimed = any(result.read_outcome != Outcome.UNSUPPORTED for result in results)
    return Level(passed, total, claimed, why)


def _unclaimed_text(unclaimed: Iterable[CaseResult]) -> str:
    """Return the first missing claims in brackets."""
    named = dict.fromkeys(one.detail.partition("not claimed: ")[2] for one in unclaimed)
    listed = [name for name in named if name][:MAX_NAMED]
    return f" ({', '.join(listed)})" if listed else ""


def percent(share: float) -> str:
    """Return a share as a percentage, which is 100 only for all and 0 only for none."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(share, 0.001), 0.999):.1%}"
