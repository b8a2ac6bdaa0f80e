"""Summary of a run for a terminal: scores, levels, outcomes, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lance_conformance import __version__
from lance_conformance.outcomes import MEANINGS, Outcome
from lance_conformance.outside_text import clean, first_line
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.repeat import block
from lance_conformance.reports.score import percent

MAX_LISTED = 20
"""Unexpected results printed; the report has all."""

MAX_REPEATED = 3
"""Unexpected results printed with what it takes to repeat them."""


def show(run: Run, console: Console, *, verbose: bool = False) -> None:
    """Print the summary of a run; `verbose` shows all that is known of every unexpected result."""
    who = run.claims.implementation
    checks = sum(len(result.checks) for result in run.results)
    console.print(
        Text(clean(f"{who['name']} {who['version']}"), "bold"),
        f"· suite {__version__} · {len(run.results)} cases, {checks} checks",
        highlight=False,
    )
    if run.subset:
        console.print(Text(run.subset, "yellow"), soft_wrap=True)
    if run.incomplete:
        console.print(Text(f"incomplete: {clean(run.incomplete)}", "yellow"), soft_wrap=True)
    if run.numbers:
        console.print(_numbers(run))
    else:
        console.print(Text("nothing was judged: no case is claimed", "yellow"))
    console.print(_scores(run))
    _levels(run, console)
    console.print(_outcomes(run))
    _unexpected(run, console, verbose=verbose)
    for text in run.reckoning.stale:
        told = f" {first_line(text)}"
        stale = Text.assemble(("known failures are stale:", "yellow"), told)
        console.print(stale, soft_wrap=True)


def _unexpected(run: Run, console: Console, *, verbose: bool) -> None:
    """List the unexpected results; the first of them, or all, with what it takes to repeat them."""
    unexpected = run.reckoning.unexpected
    listed = unexpected if verbose else unexpected[:MAX_LISTED]
    for number, result in enumerate(listed):
        detail = clean(result.detail) if verbose else first_line(result.detail)
        entry = run.reckoning.changed.get(result.case.id)
        listed_as = "" if entry is None else f" (listed as {entry.outcome}; known --update)"
        told = f" {clean(result.case.id)}  {detail}{listed_as}"
        console.print(Text.assemble((str(result.outcome), "red"), told), soft_wrap=True)
        if verbose or number < MAX_REPEATED:
            _lines(console, block(run, result))
        if verbose and result.stderr:
            _lines(console, ["standard error:", *clean(result.stderr).splitlines()])
    if len(unexpected) > len(listed):
        console.print(f"… and {len(unexpected) - len(listed)} more; -v or the report lists all")
    for result in run.reckoning.advised:
        told = f" {clean(result.case.id)}  advised against: {', '.join(result.case.clauses)}"
        console.print(Text.assemble((str(result.outcome), "yellow"), told), soft_wrap=True)


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
    """Name the levels reached, and of those with claimed cases what is in the way."""
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
    listed = Counter(r.outcome for r in run.results if r.case.id in run.reckoning.listed)
    table = Table("outcome", "cases", "known", "", box=None)
    for outcome in Outcome:
        if counts[outcome]:
            known = str(listed[outcome]) if listed[outcome] else ""
            table.add_row(str(outcome), str(counts[outcome]), known, MEANINGS[outcome])
    return table
