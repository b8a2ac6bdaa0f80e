"""Progress of a run: a bar on a terminal, and elsewhere a plain line from time to time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lance_conformance import judging
from lance_conformance.judging import Choice, Order
from lance_conformance.outcomes import GOOD
from lance_conformance.outside_text import clean
from lance_conformance.reports.jsonl import Run
from lance_conformance.runner import CaseResult
from lance_conformance.stop import Stopped, on_signals

LINE_SECONDS = 10.0
"""Time between two plain lines: a short run has none."""

Told = Callable[[CaseResult], None]


def judge(order: Order, choice: Choice) -> Run:
    """Judge and show the progress on standard error; signals end it early."""
    shown = _bar if Console(stderr=True).is_terminal else _lines
    with shown(len(choice[1])) as advance, on_signals() as stop:
        try:
            return judging.judge(order, advance, stop, choice)
        except Stopped:
            typer.echo(f"stopped by {stop.reason} before the adapter answered hello", err=True)
            raise typer.Exit(128 + stop.signal) from None


@contextmanager
def _bar(num_cases: int) -> Iterator[Told]:
    bar = Progress(
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[last]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("judging", total=num_cases, last="")
        yield lambda result: bar.update(task, advance=1, last=clean(result.case.id))


@contextmanager
def _lines(num_cases: int) -> Iterator[Told]:
    finished: list[CaseResult] = []
    last = time.monotonic()

    def advance(result: CaseResult) -> None:
        nonlocal last
        finished.append(result)
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            failed = sum(result.outcome not in GOOD for result in finished)
            told = f"judged {len(finished)} of {num_cases} cases, {failed} failed"
            typer.echo(f"{told}; last {clean(result.case.id)}", err=True)

    yield advance
