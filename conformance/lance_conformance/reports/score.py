"""Score: the numbers of cases, breadth and correctness per profile, and the levels reached.

The numbers count the claimed cases. What `validate` answers is a number of its own: it takes
nothing from those of reading, nor from a level. The rest is weighted by clause: many cases of one
clause weigh one. Breadth is how much of what there is was claimed, correctness how much of the
claimed is right; they are never mixed. A known failure is a failure here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lance_conformance.cases import Case
from lance_conformance.checks import VALIDATE
from lance_conformance.levels import Manifest, in_the_way, members
from lance_conformance.outcomes import DEATHS, Outcome
from lance_conformance.profiles import NEGATIVE_KINDS
from lance_conformance.register import Clause
from lance_conformance.runner import CaseResult


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
class Part:
    """So many cases of so many."""

    good: int
    cases: int

    @property
    def share(self) -> float:
        """A number from 0 to 1; 0 of no case."""
        return self.good / self.cases if self.cases else 0.0


NUMBERS = VALID, REFUSED, SURVIVED = "valid data read right", "damage refused", "survived"
"""The three numbers that lead every report."""

REPORTED = "validated right"
"""The fourth number, of who claims to validate."""

ACCIDENTS = DEATHS | {Outcome.PANIC, Outcome.FLAKY_CRASH}
"""Outcomes of an implementation that did not survive a case: crash, panic, hang, blow-up."""


def numbers(results: Iterable[CaseResult]) -> dict[str, Part]:
    """Return the numbers over the claimed cases; one without cases is left out."""
    claimed = [result for result in results if result.outcome != Outcome.UNSUPPORTED]
    asked = [result for result in claimed if result.case.kind != "lint"]
    read = [result for result in asked if result.read != Outcome.UNSUPPORTED]
    damaged = [result for result in read if result.case.kind in NEGATIVE_KINDS]
    valid = [result for result in read if result.case.kind not in NEGATIVE_KINDS]
    alive = sum(result.outcome not in ACCIDENTS for result in claimed)
    told = [one.outcome for result in claimed for one in result.checks if one.name == VALIDATE]
    parts = {
        VALID: Part(_passed(valid), len(valid)),
        REFUSED: Part(_passed(damaged), len(damaged)),
        SURVIVED: Part(alive, len(claimed)),
        REPORTED: Part(told.count(Outcome.PASS), len(told)),
    }
    return {name: part for name, part in parts.items() if part.cases}


def _passed(results: Iterable[CaseResult]) -> int:
    return sum(result.read == Outcome.PASS for result in results)


@dataclass(frozen=True, slots=True)
class Level:
    """How many cases of a level pass; `why` says what is in the way, `claimed` if any was asked."""

    passed: int
    total: int
    claimed: bool
    why: str

    @property
    def reached(self) -> bool:
        """Whether all cases that the level counts pass, and there is one."""
        return 0 < self.passed == self.total


MOST_NAMED = 3
"""Things that an adapter does not claim, named beside a level."""


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
    """Return the score of each profile that has cases; `unstable` is never scored."""
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
    """Return each level of which a case was run, in the order of the ladder.

    A level counts its cases that test a MUST, run or not: one is only reached when all were run.
    Those that are not claimed and not in the way are left out.
    """
    by_id = {result.case.id: result for result in results}
    tried = {result.case.level for result in results}
    every = members((case.manifest for case in active), register)
    return {name: _level(own, by_id) for name, own in every.items() if name in tried}


def _level(cases: Sequence[Manifest], by_id: Mapping[str, CaseResult]) -> Level:
    results = [by_id[case["id"]] for case in cases if case["id"] in by_id]
    told = {result.case.id: result.read for result in results}
    way = {one["id"] for one in in_the_way(cases, told)}
    counted = [result for result in results if result.case.id in way]
    unclaimed = [result for result in counted if result.read == Outcome.UNSUPPORTED]
    passed, not_run = _passed(results), len(cases) - len(results)
    total = passed + len(counted) + not_run
    reasons = [
        f"{count} of {total} cases {what}"
        for count, what in (
            (not_run, "not run"),
            (len(counted) - len(unclaimed), "wrong"),
            (len(unclaimed), f"not claimed{_named(unclaimed)}"),
        )
        if count
    ]
    why = ", ".join(reasons) or f"all {total} cases pass"
    claimed = any(result.read != Outcome.UNSUPPORTED for result in results)
    return Level(passed, total, claimed, why)


def _named(unclaimed: Iterable[CaseResult]) -> str:
    """Return in brackets the first things that were not claimed."""
    named = dict.fromkeys(one.detail.partition("not claimed: ")[2] for one in unclaimed)
    listed = [name for name in named if name][:MOST_NAMED]
    return f" ({', '.join(listed)})" if listed else ""


def percent(share: float) -> str:
    """Return a share as a percentage that says 100 only for all, and 0 only for none."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(share, 0.001), 0.999):.1%}"
