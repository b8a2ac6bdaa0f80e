"""Page: the matrix as a JSON document, and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lance_conformance import __version__
from lance_conformance.matrix import moves
from lance_conformance.matrix.floors import NOT_RUN, floors, newest_differing
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.outcomes import Outcome
from lance_conformance.reports.score import NUMBERS
from lance_conformance.suite import violation_policy
from lance_conformance.suite.cases import Case

HELD_BY = 3
"""Most cases that are named for a floor."""

BAD = ("fail", "rejects-valid", "accepts-invalid", "panic", "crash", "timeout", "memory")
"""Outcomes with a column; the others are summed."""


def document(
    cases: Sequence[Case], releases: Sequence[ReportData], others: Sequence[ReportData]
) -> dict[str, Any]:
    """Return the matrix: releases oldest first, then other implementations."""
    versions = [one.version for one in releases]
    return {
        "suite": __version__,
        "releases": versions,
        "implementations": [
            {"name": one.name, "version": one.version, **one.totals} for one in (*releases, *others)
        ],
        "floors": [
            {"feature": f.feature, "cases": f.cases, "since": f.since, "held_by": list(f.held_by)}
            for f in (floors(cases, releases) if releases else ())
        ],
        "read": [_row(case, releases, others) for case in cases],
        "written": {
            case.id: {one.label: one.written[case.id] for one in releases if case.id in one.written}
            for case in cases
            if any(case.id in one.written for one in releases)
        },
    }


def _row(
    case: Case, releases: Sequence[ReportData], others: Sequence[ReportData]
) -> dict[str, Any]:
    outcomes = {one.version: one.outcomes.get(case.id, NOT_RUN) for one in releases}
    row: dict[str, Any] = {"case": case.id, "kind": case.kind, "releases": outcomes}
    row["right"] = violation_policy.correct_answers(case)
    if outcomes:
        row["differs_first"] = newest_differing(outcomes, list(outcomes))
    row["others"] = {one.label: one.outcomes.get(case.id, NOT_RUN) for one in others}
    return row


def render(matrix: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return the page; with an earlier matrix it has the changes since that, by reason."""
    return "\n".join(_lines(matrix, before)) + "\n"


def _lines(matrix: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    yield f"# Matrix: every implementation on every case of suite {matrix['suite']}"
    yield from ("", "Made by `lance-conformance matrix`; the document is `matrix.json` beside it.")
    yield from ("", "## Implementations", "")
    yield f"| implementation | {' | '.join(NUMBERS)} | correct | breadth |"
    yield "|---" * (3 + len(NUMBERS)) + "|"
    for one in matrix["implementations"]:
        yield _numbers(one)
    yield from ("", "## Outcomes", "")
    yield f"| implementation | pass | {' | '.join(BAD)} | other | unclaimed |"
    yield "|---" * (4 + len(BAD)) + "|"
    for one in matrix["implementations"]:
        yield _outcomes(one)
    if before is not None:
        yield from moves.lines(before, matrix)
    if matrix["floors"]:
        yield from _floors(matrix)
    if matrix["written"]:
        yield from _written(matrix)


def _numbers(one: Mapping[str, Any]) -> str:
    parts = [one.get("numbers", {}).get(name) for name in NUMBERS]
    cells = [f"{p['share']} ({p['good']} of {p['cases']})" if p else "" for p in parts]
    score = one["scores"].get("format", {})
    cells += [score.get("correctness", ""), score.get("breadth", "")]
    return f"| {one['name']} {one['version']} | {' | '.join(cells)} |"


def _outcomes(one: Mapping[str, Any]) -> str:
    counts = dict(one["outcomes"])
    passed, unclaimed = (counts.pop(name, 0) for name in ("pass", "unsupported"))
    bad = [counts.pop(name, 0) for name in BAD]
    cells = [passed, *bad, sum(counts.values()), unclaimed]
    return f"| {one['name']} {one['version']} | {' | '.join(str(cell) for cell in cells)} |"


def _floors(matrix: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## Downgrade floors", "")
    yield "A table that has the feature can be read by this release of pylance and every later one"
    yield f"of the matrix ({', '.join(matrix['releases'])}). A dash: by none, for the named cases."
    yield from ("", "| feature | cases | since | what the release before it gets wrong |")
    yield "|---|---|---|---|"
    for floor in matrix["floors"]:
        names = [f"`{name.rpartition('/')[2]}`" for name in floor["held_by"][:HELD_BY]]
        more = len(floor["held_by"]) - len(names)
        failing = ", ".join(names) + (f" and {more} more" if more else "")
        yield f"| `{floor['feature']}` | {floor['cases']} | {floor['since'] or '–'} | {failing} |"


def _written(matrix: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## Tables that releases write, read by the reference", "")
    yield "The table of every fixture, written in the fixture's file version."
    kinds = [str(Outcome.PASS), "invalid", "fail", "rejects-valid", "refused"]
    yield from ("", f"| release | {' | '.join(kinds)} | other |", "|---" * (2 + len(kinds)) + "|")
    counts: dict[str, Counter[str]] = {}
    for outcomes in matrix["written"].values():
        for label, outcome in outcomes.items():
            counts.setdefault(label, Counter())[outcome] += 1
    for label, sums in counts.items():
        cells = [sums.pop(kind, 0) for kind in kinds]
        yield f"| {label} | {' | '.join(str(cell) for cell in cells)} | {sums.total()} |"
