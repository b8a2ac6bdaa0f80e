"""`lance-conformance validate PATH`: every broken clause of a file or dataset."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from lanceref.errors import DataRefused, ExtraMissing, NotFound, StoreFailed
from lanceref.storage import is_local, local_path
from lanceref.validation import validate_with

from lance_conformance.commands.options import (
    ExecutorChoice,
    SparkMaster,
    StorageOptions,
    storage_options,
)
from lance_conformance.executors import executor_of
from lance_conformance.views import findings as view

REFUSED = NotFound, StoreFailed, DataRefused, ExtraMissing
"""Nothing is there, or it cannot be reached."""


class Format(StrEnum):
    """What the findings are printed as."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def validate(
    path: Annotated[
        str, typer.Argument(help="Data file, manifest, dataset directory, ..., or URI of one.")
    ],
    deep: Annotated[bool, typer.Option(help="Also decode the data files of a dataset.")] = False,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TEXT,
    storage_option: StorageOptions = None,
    executor: ExecutorChoice = None,
    spark: SparkMaster = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Also write the findings as a table: a .lance, .parquet or .jsonl path."),
    ] = None,
) -> None:
    """Report all findings. Exit 0: clean; 1: a MUST is broken; 2: nothing to read at PATH."""
    if output is not None and output.suffix not in view.TABLES:
        raise typer.BadParameter(f"--output ends in one of {', '.join(view.TABLES)}")
    if is_local(path) and not Path(local_path(path)).exists():
        raise typer.BadParameter(f"no such path: {path}")
    try:
        report = validate_with(
            executor_of(executor, spark, "checked"),
            path,
            deep=deep,
            storage_options=storage_options(storage_option),
        )
    except PermissionError as error:
        raise typer.BadParameter(f"no permission to read {path}") from error
    except REFUSED as error:
        raise typer.BadParameter(f"{path}: {error}") from error
    found = report.findings
    if output is not None:
        view.write_table(path, report, output)
    if format_ is Format.JSON:
        typer.echo(view.to_json(path, found))
    elif format_ is Format.JUNIT:
        typer.echo(view.to_junit(path, found))
    else:
        for line in view.to_text(path, found):
            typer.echo(line)
    if any(finding.severity == "must" for finding in found):
        raise typer.Exit(1)
