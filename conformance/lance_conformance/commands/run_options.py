"""Options of `lance-conformance run`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.command_error import CommandError
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.reports import files, journal
from lance_conformance.suite.cases import Case

ALL_FORMATS = ",".join(files.FORMATS)


class Isolation(StrEnum):
    """Lifetime of an adapter process."""

    REUSE = "reuse"
    ALWAYS = "always"


Known = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="List of known failures (TOML).")
]
Formats = Annotated[str, typer.Option(help="Formats, comma separated.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder of the reports, written case by case. Default: none.")
]
Shuffle = Annotated[int | None, typer.Option(metavar="SEED", help="Run in random order.")]
Isolate = Annotated[Isolation, typer.Option(help="`always` starts a process per case.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.01, help="Seconds for each request. Default: what the case allows."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Reuse the finished cases of the report in --out.")
]
TimeoutFactor = Annotated[
    float, typer.Option(min=0.01, metavar="F", help="Factor on the time limit of each request.")
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
        help="Run only the cases that failed in an earlier report: report.jsonl, or its folder.",
    ),
]
Outcomes = Annotated[
    list[Outcome] | None,
    typer.Option("--outcome", help="With --rerun: the cases of this outcome. Repeatable."),
]


def ids_to_rerun(report: Path | None, outcomes: list[Outcome] | None) -> frozenset[str] | None:
    """Return the ids of a report with one of the outcomes, by default those of failures.

    None without a report. Raises BadParameter.
    """
    if report is None:
        if outcomes:
            raise typer.BadParameter("--outcome chooses from a report: give it with --rerun REPORT")
        return None
    outcome_of = read_outcomes(report)
    chosen = frozenset(outcomes) if outcomes else frozenset(Outcome) - GOOD
    found = frozenset(name for name, outcome in outcome_of.items() if outcome in chosen)
    if not found:
        named = f" with outcome {' or '.join(outcomes)}" if outcomes else " that failed"
        raise typer.BadParameter(f"{report} has no case{named}")
    return found


def read_outcomes(report: Path) -> dict[str, Outcome]:
    """Return the outcome of each case of a report, finished or not. Raises BadParameter."""
    try:
        return journal.outcomes(report)
    except CommandError as error:
        raise typer.BadParameter(str(error)) from error


def read_results(report: Path, chosen: Iterable[Case]) -> dict[str, CaseResult]:
    """Return the results of some cases in a report. Raises BadParameter."""
    try:
        return journal.results(report, chosen)
    except CommandError as error:
        raise typer.BadParameter(str(error)) from error
