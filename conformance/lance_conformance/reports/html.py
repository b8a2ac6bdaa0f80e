"""HTML view: one static page without outside resources, light or dark as the system asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader

from lance_conformance import __version__
from lance_conformance.levels import LADDER
from lance_conformance.outcomes import DEATHS, MEANINGS, Outcome, worst
from lance_conformance.outside_text import clean
from lance_conformance.reports import hexdump, repeat
from lance_conformance.reports.jsonl import Run, expectation, standing
from lance_conformance.reports.score import by_clause, percent
from lance_conformance.runner import CaseResult

_FAMILIES = {
    Outcome.PASS: "good",
    Outcome.UNSUPPORTED: "open",
    **dict.fromkeys((*DEATHS, Outcome.PANIC, Outcome.FLAKY_CRASH, Outcome.INFRA), "dead"),
}
"""Colour family by outcome; all others are `wrong`."""


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One line of the clause table."""

    id: str
    level: str
    text: str
    positive: Sequence[CaseResult]
    negative: Sequence[CaseResult]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the bar of outcomes."""

    outcome: Outcome
    count: int
    percent: float


def family(outcome: Outcome) -> str:
    """Return the colour family of an outcome: good, open, wrong or dead."""
    return _FAMILIES.get(outcome, "wrong")


def render(run: Run) -> str:
    """Return the page."""
    return (
        _environment()
        .get_template("report.html")
        .render(
            run=run,
            shown_scores={n: s for n, s in run.scores.items() if n == run.profile} or run.scores,
            who=run.claims.implementation,
            shares=list(_shares(run.results)),
            clauses=list(_clauses(run)),
            num_checks=sum(len(result.checks) for result in run.results),
            standing=lambda result: standing(run, result),
            repeated=lambda case: repeat.commands(run, case),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("lance_conformance", "reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )
    environment.globals.update(
        passing=_passing,
        link=_link,
        percent=percent,
        family=family,
        meanings=MEANINGS,
        expectation=expectation,
        hexview=hexdump.view,
        ladder=LADDER,
        version=__version__,
    )
    return environment


def _cleaned(value: object) -> object:
    """Return a value as it is put into the page: text from outside clean, markup as it is."""
    return clean(value) if type(value) is str else value


def _link(address: str) -> str:
    """Return an address that may be followed; empty for one that could run a script."""
    return address if address.startswith(("https://", "http://")) else ""


def _shares(results: Sequence[CaseResult]) -> Iterator[Share]:
    counts = Counter(result.outcome for result in results)
    for outcome in Outcome:
        if counts[outcome]:
            yield Share(outcome, counts[outcome], 100 * counts[outcome] / len(results))


def _clauses(run: Run) -> Iterator[ClauseRow]:
    for clause_id, results in by_clause(run.results).items():
        clause = run.register.get(clause_id)
        negative = [result for result in results if _is_negative(result, clause_id)]
        claimed = [r.outcome for r in results if r.outcome != Outcome.UNSUPPORTED]
        yield ClauseRow(
            clause_id,
            clause.level if clause else "",
            clause.text if clause else "",
            [result for result in results if result not in negative],
            negative,
            worst(claimed) if claimed else Outcome.UNSUPPORTED,
        )


def _passing(results: Sequence[CaseResult]) -> str:
    """Return how many of the claimed cases pass."""
    if not results:
        return "–"
    claimed = [result for result in results if result.outcome != Outcome.UNSUPPORTED]
    if not claimed:
        return "not claimed"
    return f"{sum(result.outcome == Outcome.PASS for result in claimed)} of {len(claimed)}"


def _is_negative(result: CaseResult, clause_id: str) -> bool:
    roles = {c["id"]: c["role"] for c in result.case.manifest["clauses"]}
    return bool(roles[clause_id] == "negative")
