"""Summary of a run for a terminal: scores, levels, outcomes, and next steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lance_conformance import __version__
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.rerun import rerun_lines
from lance_conformance.reports.score import percent
from lance_conformance.untrusted_text import first_line, printable

MAX_LISTED = 20
"""Maximum number of unexpected results printed; the report has all."""

MAX_REPEATED = 3
"""Maximum number of unexpected results printed with their rerun commands."""


def print_summary(run: Run, console: Console, *, verbose: bool = False) -> None:
    """Print the summary of a run; `verbose` shows all details of unexpected results."""
    implementation = run.claims.implementation
    checks = sum(len(result.checks) for result in run.results)
    console.print(
        Text(printable(f"{implementation['name']} {implementation['version']}"), "bold"),
        f"· suite {__version__} · {len(run.results)} cases, {checks} checks",
        highlight=False,
    )
    if run.subset:
        console.print(Text(run.subset, "yellow"), soft_wrap=True)
    if run.incomplete:
        console.print(Text(f"incomplete: {printable(run.incomplete)}", "yellow"), soft_wrap=True)
    if run.numbers:
        console.print(_numbers(run))
    else:
        console.print(Text("no case was judged: none is claimed", "yellow"))
    console.print(_scores(run))
    _levels(run, console)
    console.print(_outcomes(run))
    _unexpected(run, console, verbose=verbose)
    for text in run.triage.stale:
        entry = f" {first_line(text)}"
        stale = Text.assemble(("known failures are stale:", "yellow"), entry)
        console.print(stale, soft_wrap=True)


def _unexpected(run: Run, console: Console, *, verbose: bool) -> None:
    """List the unexpected results; the first of them, or all, with their rerun commands."""
    unexpected = run.triage.unexpected
    listed = unexpected if verbose else unexpected[:MAX_LISTED]
    for number, result in enumerate(listed):
        detail = printable(result.detail) if verbose else first_line(result.detail)
        entry = run.triage.changed.get(result.case.id)
        listed_as = "" if entry is None else f" (listed as {entry.outcome}; known --update)"
        line = f" {printable(result.case.id)}  {detail}{listed_as}"
        console.print(Text.assemble((str(result.outcome), "red"), line), soft_wrap=True)
        if verbose or number < MAX_REPEATED:
            _lines(console, rerun_lines(run, result))
        if verbose and result.stderr:
            _lines(console, ["standard error:", *printable(result.stderr).splitlines()])
    if len(unexpected) > len(listed):
        console.print(f"… and {len(unexpected) - len(listed)} more; -v or the report lists all")
    for result in run.triage.advised:
        line = f" {printable(result.case.id)}  advised against: {', '.join(result.case.clauses)}"
        console.print(Text.assemble((str(result.outcome), "yellow"), line), soft_wrap=True)


def _lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(Text(f"    {line}", "dim"), soft_wrap=True)


def _numbers(run: Run) -> Table:
    table = Table("", "share", "claimed cases", box=None)
    for name, part in run.numbers.items():
        table.add_row(Text(name, "bold"), percent(part.share), f"{part.good} of {part.cases}")
    return table


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


def _levels(run: Run, console: Console) -> None:
    """Print the levels reached, and what blocks others with claimed cases."""
    reached = [name for name, level in run.levels.items() if level.reached]
    if reached:
        console.print(Text(f"levels reached: {', '.join(reached)}", "green"))
    others = [(n, level) for n, level in run.levels.items() if level.claimed and not level.reached]
    if not others:
        return
    table = Table("level not reached", "cases that count", "", box=None)
    for name, level in others[:MAX_LISTED]:
        table.add_row(name, f"{level.passed} of {level.total}", level.why)
    console.print(table)
    if len(others) > MAX_LISTED:
        console.print(f"… and {len(others) - MAX_LISTED} more; the report has all levels")


def _outcomes(run: Run) -> Table:
    counts = Counter(result.outcome for result in run.results)
    listed = Counter(r.outcome for r in run.results if r.case.id in run.triage.listed)
    table = Table("outcome", "cases", "known", "", box=None)
    for outcome in Outcome:
        if counts[outcome]:
            known = str(listed[outcome]) if listed[outcome] else ""
            table.add_row(str(outcome), str(counts[outcome]), known, MEANINGS[outcome])
    return table
