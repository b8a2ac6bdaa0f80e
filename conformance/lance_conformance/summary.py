"""Summary of a run for a terminal: scores, levels, outcomes, and what to do next."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lance_conformance import __version__
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.score import percent

MAX_LISTED = 20
"""Unexpected results printed; the report has all."""


def show(run: Run, console: Console) -> None:
    """Print the summary of a run."""
    who = run.claims.implementation
    checks = sum(len(result.checks) for result in run.results)
    console.print(
        f"[bold]{escape(who['name'])} {escape(who['version'])}[/bold] · suite {__version__} · "
        f"{len(run.results)} cases, {checks} checks"
    )
    console.print(_scores(run))
    for name, level in run.levels.items():
        console.print(f"level {name}: {'reached' if level.reached else 'not reached'}, {level.why}")
    console.print(_outcomes(run))
    unexpected = run.reckoning.unexpected
    for result in unexpected[:MAX_LISTED]:
        line = (result.detail.splitlines() or [""])[0]
        console.print(
            f"[red]{result.outcome}[/red] {result.case.id}  {escape(line)}", soft_wrap=True
        )
    if len(unexpected) > MAX_LISTED:
        console.print(f"… and {len(unexpected) - MAX_LISTED} more; the report lists all")
    for text in run.reckoning.stale:
        console.print(f"[yellow]known failures are stale:[/yellow] {escape(text)}", soft_wrap=True)


def _scores(run: Run) -> Table:
    table = Table("profile", "correct", "clauses", "breadth", "cases claimed", box=None)
    for name, score in run.scores.items():
        table.add_row(
            name,
            percent(score.correctness),
            f"{score.clauses_correct} of {score.clauses_claimed}",
            percent(score.breadth),
            f"{score.cases_claimed} of {score.cases}",
        )
    return table


def _outcomes(run: Run) -> Table:
    counts = Counter(result.outcome for result in run.results)
    listed = Counter(r.outcome for r in run.results if r.case.id in run.reckoning.listed)
    table = Table("outcome", "cases", "known", "", box=None)
    for outcome in Outcome:
        if counts[outcome]:
            known = str(listed[outcome]) if listed[outcome] else ""
            table.add_row(str(outcome), str(counts[outcome]), known, MEANINGS[outcome])
    return table
