"""Progress of a run: a bar on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import GOOD
from lance_conformance.protocol.cancellation import Cancelled, cancel_on_signals
from lance_conformance.reports.jsonl import Run
from lance_conformance.runs import suite_run
from lance_conformance.runs.suite_run import CaseSelection, RunOptions
from lance_conformance.untrusted_text import printable

LINE_SECONDS = 10.0
"""Time between two lines; a short run has none."""

OnResult = Callable[[CaseResult], None]


def run_with_progress(settings: RunOptions, choice: CaseSelection) -> Run:
    """Run the suite with progress on standard error; signals cancel it."""
    shown = _bar if Console(stderr=True).is_terminal else _lines
    with shown(len(choice[1])) as advance, cancel_on_signals() as stop:
        try:
            return suite_run.run_suite(settings, advance, stop, choice)
        except Cancelled:
            typer.echo(f"stopped by {stop.reason} before the adapter answered hello", err=True)
            raise typer.Exit(128 + stop.signal) from None


@contextmanager
def _bar(num_cases: int) -> Iterator[OnResult]:
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
        yield lambda result: bar.update(task, advance=1, last=printable(result.case.id))


@contextmanager
def _lines(num_cases: int) -> Iterator[OnResult]:
    finished: list[CaseResult] = []
    last = time.monotonic()

    def advance(result: CaseResult) -> None:
        nonlocal last
        finished.append(result)
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            failed = sum(result.outcome not in GOOD for result in finished)
            counts = f"judged {len(finished)} of {num_cases} cases, {failed} failed"
            typer.echo(f"{counts}; last {printable(result.case.id)}", err=True)

    yield advance
