"""HTML view: one static page without outside resources, light or dark as the system asks."""

from __future__ import annotations

import base64
import json
import zlib
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


@dataclass(slots=True)
class Cell:
    """The claimed cases of one area in one version: how many there are, and how many pass."""

    passed: int = 0
    claimed: int = 0

    @property
    def share(self) -> float:
        """The part of the claimed cases that pass."""
        return self.passed / self.claimed


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
            areas=(areas := _areas(run.results)),
            versions=sorted({version for cells in areas.values() for version in cells}),
            packed_bytes=_packed_bytes(run.results),
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
        has_bytes=hexdump.shown_file,
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


def _areas(results: Sequence[CaseResult]) -> dict[str, dict[str, Cell]]:
    """Return the cells of the heat map by area (`file/bitpack`) and version (`2.1` or `any`)."""
    areas: dict[str, dict[str, Cell]] = {}
    for result in results:  # an id has three parts or more
        if result.outcome != Outcome.UNSUPPORTED:
            family_name, version, topic = result.case.id.split("/")[:3]
            cell = areas.setdefault(f"{family_name}/{topic}", {}).setdefault(version, Cell())
            cell.claimed += 1
            cell.passed += result.outcome == Outcome.PASS
    return dict(sorted(areas.items()))


def _packed_bytes(results: Sequence[CaseResult]) -> str:
    """Return the hex views of all cases by id, as JSON that is deflated and then in base64.

    A page unpacks it when a case is opened; written out, the views would be most of the page.
    """
    views = {result.case.id: hexdump.view(result.case) for result in results}
    runs = {case: _runs(view) for case, view in views.items() if view is not None}
    text = json.dumps(runs, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def _runs(view: hexdump.View) -> list[object]:
    """Return the title of a view, its first offset, and its runs (hex, owner, shade, patched)."""
    runs: list[list[object]] = []
    for segment in (segment for line in view.lines for segment in line.segments):
        run = [segment.title, segment.shade, segment.patched]
        packed = segment.hex.replace(" ", "")
        if runs and runs[-1][1:] == run:
            runs[-1][0] = f"{runs[-1][0]}{packed}"
        else:
            runs.append([packed, *run])
    title = f"{view.name}, bytes {view.start} to {view.end} of {view.size}"
    return [clean(title), view.start, runs]


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
