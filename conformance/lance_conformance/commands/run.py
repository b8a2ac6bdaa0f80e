"""`lance-conformance run`: judge an implementation on the cases of a profile."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from lance_conformance import judging, summary
from lance_conformance.commands import options
from lance_conformance.judging import Order
from lance_conformance.reports import files
from lance_conformance.reports.jsonl import Run
from lance_conformance.runner import CaseResult


class Isolation(StrEnum):
    """How long an adapter process lives."""

    REUSE = "reuse"
    ALWAYS = "always"


Out = Annotated[
    Path | None,
    typer.Option(callback=options.made, help="Folder for the reports. Default: none."),
]


def run(
    command: options.Command = None,
    profile: options.Profile = "format",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    jobs: options.Jobs = 1,
    known: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="List of known failures (TOML)."),
    ] = None,
    report: Annotated[str, typer.Option(help="Formats, comma separated.")] = ",".join(
        files.FORMATS
    ),
    out: Out = None,
    shuffle: Annotated[
        int | None, typer.Option(metavar="SEED", help="Run in random order.")
    ] = None,
    isolate: Annotated[
        Isolation, typer.Option(help="`always` starts a process per case.")
    ] = Isolation.REUSE,
    fixtures: options.Fixtures = None,
) -> None:
    """Judge the adapter CMD, or the bundled reference, and report clause by clause.

    Exit codes: 0 all as expected, 1 an unexpected outcome, 2 wrong use, 3 the adapter broke the
    protocol, 4 the list of known failures is out of date.
    """
    formats = [name for name in report.split(",") if name]
    unknown = sorted(set(formats) - set(files.FORMATS))
    if unknown:
        raise typer.BadParameter(f"no report format {unknown[0]}; there are {files.FORMATS}")
    order = Order(
        options.adapter(command),
        options.selection(profile, only, clause, shuffle),
        fixtures,
        known,
        jobs,
        isolate == Isolation.ALWAYS,
    )
    _, chosen = judging.choose(order)
    if not chosen:
        raise typer.BadParameter("no case is selected")
    console = Console()
    judged = judge(order, len(chosen))
    paths = files.write(judged, out, formats) if out is not None else []
    summary.show(judged, console)
    for path in paths:
        console.print(f"wrote {path}", soft_wrap=True, highlight=False)
    raise typer.Exit(judged.exit_code)


def judge(order: Order, num_cases: int) -> Run:
    """Judge with a progress bar on a terminal, quietly elsewhere."""
    bar = Progress(
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[last]}"),
        console=Console(stderr=True),
        transient=True,
        disable=not Console(stderr=True).is_terminal,
    )
    with bar:
        task = bar.add_task("judging", total=num_cases, last="")

        def advance(result: CaseResult) -> None:
            bar.update(task, advance=1, last=result.case.id)

        return judging.judge(order, advance)
