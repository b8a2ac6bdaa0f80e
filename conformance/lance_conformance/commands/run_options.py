"""Options of `lance-conformance run` alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.reports import files

ALL_FORMATS = ",".join(files.FORMATS)


class Isolation(StrEnum):
    """How long an adapter process lives."""

    REUSE = "reuse"
    ALWAYS = "always"


Known = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="List of known failures (TOML)."),
]
Formats = Annotated[str, typer.Option(help="Formats, comma separated.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for the reports, written case by case. Default: none."),
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
