"""`lance-conformance validate PATH`: every broken clause of a file or dataset."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from lanceref.core.errors import DataRefused, ExtraMissing, NotFound, StoreFailed, Unreadable
from lanceref.storage import is_local, local_path, refusals
from lanceref_spark.validation import validate_with

from lance_conformance import stored
from lance_conformance.commands.options import (
    ExecutorChoice,
    SparkMaster,
    StorageOptions,
    storage_options,
)
from lance_conformance.executors import executor_of
from lance_conformance.views import findings as view

REFUSED = NotFound, Unreadable, StoreFailed, DataRefused, ExtraMissing
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
    external: Annotated[
        bool,
        typer.Option(
            "--external/--no-external",
            help="Whether base paths, URIs and links of a dataset may lead out of its folder.",
        ),
    ] = True,
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
    try:
        place = _materialised(path)
        _check_there(place)
        report = validate_with(
            executor_of(executor, spark, "checked"),
            place,
            deep=deep,
            storage_options=storage_options(storage_option),
            allow_external=external,
        )
    except REFUSED as error:
        told = str(error)
        raise typer.BadParameter(told if path in told else f"{path}: {told}") from error
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


def _materialised(path: str) -> str:
    """Return the path of an input of a case as a plain file or folder, any other as it is."""
    if not is_local(path) or Path(local_path(path)).exists():
        return path
    return str(stored.materialised(Path(local_path(path))))


def _check_there(path: str) -> None:
    """Raise BadParameter for a local path where nothing is, Unreadable where that is hidden."""
    if is_local(path):
        try:
            with refusals(path):
                Path(local_path(path)).stat()
        except NotFound as error:
            raise typer.BadParameter(f"no such path: {path}") from error
