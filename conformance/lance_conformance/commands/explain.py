"""`lance-conformance explain FILE`: the annotated bytes of one file."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from lanceref.files import open_source
from lanceref.inspection import explain_source
from lanceref.storage import is_local, store_options
from lanceref.storage.local_file import local_path

from lance_conformance.commands import options
from lance_conformance.commands.options import StorageOptions, storage_options
from lance_conformance.commands.validate import UNREADABLE
from lance_conformance.reports import hexdump
from lance_conformance.suite import case_storage, cases
from lance_conformance.views import explanation as view


def explain(
    file: Annotated[
        str,
        typer.Argument(
            help="Data file, manifest, transaction or deletion file; its URI; or the id of a case."
        ),
    ],
    hex_: Annotated[bool, typer.Option("--hex", help="Show the bytes of every leaf.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page to this path.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the tree as JSON.")] = False,
    kinds: Annotated[bool, typer.Option(help="Print only the bytes per kind of leaf.")] = False,
    at: Annotated[
        str | None,
        typer.Option(metavar="OFFSET", help="Print the owners of one byte, as in 96 or 0x60."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print only the data of a top-level column.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Print only N levels of the tree.")
    ] = None,
    storage_option: StorageOptions = None,
    fixtures: options.Fixtures = None,
) -> None:
    """Show what every byte of FILE is: its owner, range, value and clause.

    For a case, FILE is the patched file of its input, or the file that the reports show.
    """
    part = view.SpanFilter(_parse_offset(at), column, depth)
    if part != view.NO_FILTER and (html is not None or json_ or kinds):
        raise typer.BadParameter("--at, --column and --depth only apply to text output")
    file = _resolve_file(file, fixtures)
    if is_local(file) and Path(local_path(file)).is_dir():
        raise typer.BadParameter(_directory_hint(file, Path(local_path(file))))
    try:
        source = open_source(file, store_options(storage_options(storage_option)))
        found = explain_source(source)
    except UNREADABLE as error:
        raise typer.BadParameter(str(error)) from error
    if html is not None:
        html.write_text(view.to_html(found, bytes(source.read(0, source.size))), encoding="utf-8")
        typer.echo(f"wrote {html}")
    elif json_:
        typer.echo(view.to_json(found))
    else:
        data = bytes(source.read(0, source.size)) if hex_ else None
        _print(view.summary(found) if kinds else view.to_text(found, data, _width(), part), file)
    if any(finding.severity == "must" for finding in found.findings):
        raise typer.Exit(1)


def _width() -> int:
    return shutil.get_terminal_size((view.WIDTH, 0)).columns


def _print(lines: Iterable[str], file: str) -> None:
    """Print lines about a file. Raises BadParameter where the requested part does not exist."""
    try:
        for line in lines:
            typer.echo(line)
    except LookupError as error:
        raise typer.BadParameter(f"{file}: {error}") from error


def _parse_offset(text: str | None) -> int | None:
    """Return an offset in decimal digits, or hexadecimal after 0x. Raises BadParameter."""
    try:
        return None if text is None else int(text, 0)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not an offset", param_hint="--at") from error


def _resolve_file(name: str, fixtures: Path | None) -> str:
    """Return the file that reports show for a case id; other names are returned unchanged."""
    if not is_local(name) or Path(local_path(name)).exists():
        return name
    if not cases.is_id(name):
        return str(case_storage.materialise(Path(local_path(name))))
    found = next((case for case in cases.load(fixtures) if case.id == name), None)
    path = hexdump.shown_file(found) if found is not None else None
    return name if path is None else str(path)


def _directory_hint(name: str, folder: Path) -> str:
    """Return a hint for a directory, which `explain` does not accept."""
    if (folder / "_versions").is_dir():
        return (
            f"{name} is a table; explain takes one file of it, such as one of its data/ or "
            f"_versions/. For the whole table: lance-conformance validate {name}"
        )
    return f"{name} is a directory; explain takes one file"
