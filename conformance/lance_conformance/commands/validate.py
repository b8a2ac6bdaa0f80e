"""`lance-conformance validate PATH...`: every broken clause of files and datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from lanceref.core.errors import DataRefused, ExtraMissing, NotFound, StoreFailed, Unreadable
from lanceref.storage import is_local
from lanceref.storage.local_file import local_path, refusals
from lanceref_spark.jobs import Executor
from lanceref_spark.validation import Report, validate_with

from lance_conformance.command_error import CommandError
from lance_conformance.commands.executors import create_executor
from lance_conformance.commands.options import (
    ExecutorChoice,
    SparkMaster,
    StorageOptions,
    storage_options,
)
from lance_conformance.suite import case_storage
from lance_conformance.views import findings as view


class PathMissing(CommandError):
    """A local path that does not exist."""


UNREADABLE = PathMissing, NotFound, Unreadable, StoreFailed, DataRefused, ExtraMissing
"""Errors of paths that do not exist or cannot be read."""


class Format(StrEnum):
    """Output format of the findings."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


Version = Annotated[
    int | None, typer.Option(min=1, help="Version of a dataset.", show_default="the latest")
]


def validate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Data file, manifest, dataset directory, ..., or URI of one."
        ),
    ],
    deep: Annotated[bool, typer.Option(help="Also decode the data files of a dataset.")] = False,
    version: Version = None,
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
        typer.Option(
            help="Also write the findings of one path as a table: .lance, .parquet or .jsonl."
        ),
    ] = None,
) -> None:
    """Report all findings. Exit codes: 0 clean, 1 a MUST is broken, 2 a PATH cannot be read.

    Validates the latest version of a dataset, or `--version`, and checks that the files of tagged
    versions exist. Several paths are all reported, JSON as one array, and the worst one decides.
    """
    if output is not None and (output.suffix not in view.TABLES or len(paths) > 1):
        raise typer.BadParameter(f"--output takes one path, and {', '.join(view.TABLES)}")
    check = partial(
        _validate_path,
        executor=partial(create_executor, executor, spark, "checked"),
        deep=deep,
        version=version,
        options=storage_options(storage_option),
        external=external,
    )
    reports, refused = _validate_each(paths, check)
    if output is not None and not refused:
        view.write_table(paths[0], reports[paths[0]], output)
    _print(reports, format_, len(refused), several=len(paths) > 1)
    if refused:
        raise typer.BadParameter("; ".join(refused))
    if any(map(_is_broken, reports.values())):
        raise typer.Exit(1)


def _validate_each(
    paths: Sequence[str], check: Callable[[str], Report]
) -> tuple[dict[str, Report], list[str]]:
    """Return the report of each path that can be read, and why the others cannot."""
    reports, refused = {}, []
    for path in dict.fromkeys(paths):
        try:
            reports[path] = check(path)
        except UNREADABLE as error:
            message = str(error)
            refused.append(message if path in message else f"{path}: {message}")
    return reports, refused


def _validate_path(
    path: str,
    *,
    executor: Callable[[], Executor],
    deep: bool,
    version: int | None,
    options: dict[str, str],
    external: bool,
) -> Report:
    """Return the report of one path. Raises one of UNREADABLE."""
    place = _materialise(path)
    _check_exists(place)
    return validate_with(
        executor(),
        place,
        deep=deep,
        version=version,
        storage_options=options,
        allow_external=external,
    )


def _is_broken(report: Report) -> bool:
    return any(finding.severity == "must" for finding in report.findings)


def _print(
    reports: Mapping[str, Report], format_: Format, num_refused: int, *, several: bool
) -> None:
    """Print the findings of each path, and for several paths the number of clean ones."""
    if format_ is not Format.TEXT:
        form = view.to_json if format_ is Format.JSON else view.to_junit
        texts = [form(path, report.findings) for path, report in reports.items()]
        before, between, after = ("[", ",\n", "]") if format_ is Format.JSON else _JUNIT_PARTS
        if texts:
            typer.echo(f"{before}{between.join(texts)}{after}" if several else texts[0])
        return
    for path, report in reports.items():
        for line in view.to_text(path, report):
            typer.echo(line)
    if several:
        broken = sum(map(_is_broken, reports.values()))
        clean = sum(not report.findings for report in reports.values())
        counts = f"{len(reports) + num_refused} paths: {clean} clean, {broken} with a broken MUST"
        typer.echo(f"{counts}, {num_refused} cannot be read" if num_refused else counts)


_JUNIT_PARTS = ("<testsuites>", "\n", "</testsuites>")
"""Text before, between and after the suites of several paths."""


def _materialise(path: str) -> str:
    """Return the materialised path of an input of a case, other paths unchanged."""
    if not is_local(path) or Path(local_path(path)).exists():
        return path
    return str(case_storage.materialise(Path(local_path(path))))


def _check_exists(path: str) -> None:
    """Raise PathMissing for a missing local path, Unreadable for an inaccessible one."""
    if is_local(path):
        try:
            with refusals(path):
                Path(local_path(path)).stat()
        except NotFound as error:
            raise PathMissing(f"no such path: {path}") from error
