"""Options of `lance-conformance run` alone."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.cases import Case
from lance_conformance.failures import Failure
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.reports import files, journal
from lance_conformance.runner import CaseResult

ALL_FORMATS = ",".join(files.FORMATS)


class Isolation(StrEnum):
    """How long an adapter process lives."""

    REUSE = "reuse"
    ALWAYS = "always"


Known = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="List of known failures (TOML).")
]
Formats = Annotated[str, typer.Option(help="Formats, comma separated.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder for the reports, written case by case. Default: none.")
]
Shuffle = Annotated[int | None, typer.Option(metavar="SEED", help="Run in random order.")]
Isolate = Annotated[Isolation, typer.Option(help="`always` starts a process per case.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.01, help="Seconds for each request. Default: what the case allows."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Take the finished cases from the report in --out.")
]
TimeoutFactor = Annotated[
    float, typer.Option(min=0.01, metavar="F", help="Times the seconds that a request may take.")
]
FirstFailure = Annotated[
    bool, typer.Option("-x", "--first-failure", help="Stop at the first unexpected failure.")
]
MaxFailures = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Stop after N unexpected failures.")
]
Verbose = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Show rows, bytes and stderr of every unexpected result."),
]
Rerun = Annotated[
    Path | None,
    typer.Option(
        metavar="REPORT",
        exists=True,
        help="Run only what failed in an earlier report: report.jsonl, or its folder.",
    ),
]
Outcomes = Annotated[
    list[Outcome] | None,
    typer.Option("--outcome", help="With --rerun: the cases of this outcome. Repeatable."),
]


def ids_to_rerun(report: Path | None, outcomes: list[Outcome] | None) -> frozenset[str] | None:
    """Return the ids that a report has under one of the outcomes; by default, all but good ones.

    None without a report. Raises BadParameter.
    """
    if report is None:
        if outcomes:
            raise typer.BadParameter("--outcome chooses from a report: give it with --rerun REPORT")
        return None
    told = read_outcomes(report)
    wanted = frozenset(outcomes) if outcomes else frozenset(Outcome) - GOOD
    found = frozenset(name for name, outcome in told.items() if outcome in wanted)
    if not found:
        named = f" with outcome {' or '.join(outcomes)}" if outcomes else " that failed"
        raise typer.BadParameter(f"{report} has no case{named}")
    return found


def read_outcomes(report: Path) -> dict[str, Outcome]:
    """Return the outcome of each case of a report, finished or not. Raises BadParameter."""
    try:
        return journal.outcomes(report)
    except Failure as error:
        raise typer.BadParameter(str(error)) from error


def read_results(report: Path, chosen: Iterable[Case]) -> dict[str, CaseResult]:
    """Return the results of some cases that a report has. Raises BadParameter."""
    try:
        return journal.results(report, chosen)
    except Failure as error:
        raise typer.BadParameter(str(error)) from error
