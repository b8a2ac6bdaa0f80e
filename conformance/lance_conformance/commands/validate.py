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

from lance_conformance import stored
from lance_conformance.commands.options import (
    ExecutorChoice,
    SparkMaster,
    StorageOptions,
    storage_options,
)
from lance_conformance.executors import executor_of
from lance_conformance.failures import Failure
from lance_conformance.views import findings as view


class NotThere(Failure):
    """A local path at which nothing is."""


REFUSED = NotThere, NotFound, Unreadable, StoreFailed, DataRefused, ExtraMissing
"""Nothing is there, or it cannot be reached."""


class Format(StrEnum):
    """What the findings are printed as."""

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
    """Report all findings. Exit 0: clean; 1: a MUST is broken; 2: nothing to read at a PATH.

    Looks at the latest version of a dataset, or at `--version`, and for the files of tagged ones.
    Of several paths all are reported before it ends, JSON in one array, and the worst decides.
    """
    if output is not None and (output.suffix not in view.TABLES or len(paths) > 1):
        raise typer.BadParameter(f"--output takes one path, and {', '.join(view.TABLES)}")
    check = partial(
        _checked,
        executor=partial(executor_of, executor, spark, "checked"),
        deep=deep,
        version=version,
        options=storage_options(storage_option),
        external=external,
    )
    reports, refused = _each(paths, check)
    if output is not None and not refused:
        view.write_table(paths[0], reports[paths[0]], output)
    _print(reports, format_, len(refused), several=len(paths) > 1)
    if refused:
        raise typer.BadParameter("; ".join(refused))
    if any(map(_is_broken, reports.values())):
        raise typer.Exit(1)


def _each(
    paths: Sequence[str], check: Callable[[str], Report]
) -> tuple[dict[str, Report], list[str]]:
    """Return the report of each path that can be read, and why the others cannot."""
    reports, refused = {}, []
    for path in dict.fromkeys(paths):
        try:
            reports[path] = check(path)
        except REFUSED as error:
            told = str(error)
            refused.append(told if path in told else f"{path}: {told}")
    return reports, refused


def _checked(
    path: str,
    *,
    executor: Callable[[], Executor],
    deep: bool,
    version: int | None,
    options: dict[str, str],
    external: bool,
) -> Report:
    """Return what there is to report of one path. Raises one of REFUSED."""
    place = _materialised(path)
    _check_there(place)
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
    """Print the findings of each path, and of several paths how many are clean."""
    if format_ is not Format.TEXT:
        form = view.to_json if format_ is Format.JSON else view.to_junit
        texts = [form(path, report.findings) for path, report in reports.items()]
        before, between, after = ("[", ",\n", "]") if format_ is Format.JSON else _JUNIT
        if texts:
            typer.echo(f"{before}{between.join(texts)}{after}" if several else texts[0])
        return
    for path, report in reports.items():
        for line in view.to_text(path, report):
            typer.echo(line)
    if several:
        broken = sum(map(_is_broken, reports.values()))
        clean = sum(not report.findings for report in reports.values())
        told = f"{len(reports) + num_refused} paths: {clean} clean, {broken} with a broken MUST"
        typer.echo(f"{told}, {num_refused} cannot be read" if num_refused else told)


_JUNIT = ("<testsuites>", "\n", "</testsuites>")
"""What is before, between and after the suites of several paths."""


def _materialised(path: str) -> str:
    """Return the path of an input of a case as a plain file or folder, any other as it is."""
    if not is_local(path) or Path(local_path(path)).exists():
        return path
    return str(stored.materialised(Path(local_path(path))))


def _check_there(path: str) -> None:
    """Raise NotThere for a local path where nothing is, Unreadable where that is hidden."""
    if is_local(path):
        try:
            with refusals(path):
                Path(local_path(path)).stat()
        except NotFound as error:
            raise NotThere(f"no such path: {path}") from error
