"""Markdown view: the summary that a CI job shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lance_conformance import __version__
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.score import percent
from lance_conformance.untrusted_text import first_line, markdown_code, markdown_prose, truncated

MAX_LISTED = 50
"""Maximum number of failures listed; the other reports have all."""

MAX_DETAIL = 160
"""Maximum number of characters of a detail."""


def render(run: Run) -> str:
    """Return the summary."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    implementation = run.claims.implementation
    named = markdown_prose(f"{implementation['name']} {implementation['version']}")
    yield f"# {named}: Lance conformance {__version__}"
    yield ""
    if run.subset:
        yield from (markdown_prose(run.subset), "")
    if run.incomplete:
        yield from (f"**Incomplete**: {markdown_prose(run.incomplete)}", "")
    yield "| | share | cases |"
    yield "|---|---|---|"
    for name, part in run.numbers.items():
        yield f"| **{name}** | **{percent(part.share)}** | {part.good} of {part.cases} |"
    yield ""
    yield "| profile | correct | of claimed | breadth | cases claimed |"
    yield "|---|---|---|---|---|"
    for name, score in run.scores.items():
        yield (
            f"| {name} | {percent(score.correctness)} | {score.clauses_correct} of "
            f"{score.clauses_claimed} clauses | {percent(score.breadth)} | "
            f"{score.cases_claimed} of {score.cases} |"
        )
    yield ""
    claimed = {name: level for name, level in run.levels.items() if level.claimed}
    if claimed:
        yield from ("| level | | cases that count | |", "|---|---|---|---|")
    for name, level in claimed.items():
        mark = "reached" if level.reached else "not reached"
        yield f"| {name} | {mark} | {level.passed} of {level.total} | {level.why} |"
    yield ""
    yield "| outcome | cases | meaning |"
    yield "|---|---|---|"
    counts = Counter(result.outcome for result in run.results)
    for outcome in Outcome:
        if counts[outcome]:
            yield f"| {outcome} | {counts[outcome]} | {MEANINGS[outcome]} |"
    yield from _failures("Unexpected", list(run.triage.unexpected))
    yield from _failures("Against the advice of a clause", list(run.triage.advised))
    if run.triage.stale:
        yield from ("", "## Stale entries of the known failures", "")
        yield from (f"* {markdown_prose(text)}" for text in run.triage.stale)
    yield from _failures(
        "Known failures", [r for r in run.results if r.case.id in run.triage.listed]
    )


def _failures(title: str, results: list[CaseResult]) -> Iterator[str]:
    if not results:
        return
    yield from (
        "",
        f"## {title} ({len(results)})",
        "",
        "| case | outcome | detail |",
        "|---|---|---|",
    )
    for result in results[:MAX_LISTED]:
        name = markdown_code(result.case.id, cell=True)
        detail = markdown_prose(truncated(first_line(result.detail), MAX_DETAIL))
        yield f"| {name} | {result.outcome} | {detail} |"
    if len(results) > MAX_LISTED:
        yield f"| … and {len(results) - MAX_LISTED} more | | |"
