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

from lance_conformance import cases, stored
from lance_conformance.commands import options
from lance_conformance.commands.options import StorageOptions, storage_options
from lance_conformance.commands.validate import REFUSED
from lance_conformance.reports import hexdump
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
    """Say what every byte of FILE is: its owner, range, value and clause.

    Of a case, FILE is the patched file of its input, or the first that the reports show.
    """
    part = view.Part(_offset(at), column, depth)
    if part != view.WHOLE and (html is not None or json_ or kinds):
        raise typer.BadParameter("--at, --column and --depth choose lines of the text alone")
    file = _of_case(file, fixtures)
    if is_local(file) and Path(local_path(file)).is_dir():
        raise typer.BadParameter(_directory(file, Path(local_path(file))))
    try:
        source = open_source(file, store_options(storage_options(storage_option)))
        found = explain_source(source)
    except REFUSED as error:
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
    """Print lines about a file. Raises BadParameter where it has not the part that is asked for."""
    try:
        for line in lines:
            typer.echo(line)
    except LookupError as error:
        raise typer.BadParameter(f"{file}: {error}") from error


def _offset(text: str | None) -> int | None:
    """Return an offset in decimal digits, or hexadecimal after 0x. Raises BadParameter."""
    try:
        return None if text is None else int(text, 0)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not an offset", param_hint="--at") from error


def _of_case(name: str, fixtures: Path | None) -> str:
    """Return the file that reports show of a case, where a name is the id of one."""
    if not is_local(name) or Path(local_path(name)).exists():
        return name
    if not cases.is_id(name):
        return str(stored.materialised(Path(local_path(name))))
    found = next((case for case in cases.load(fixtures) if case.id == name), None)
    path = hexdump.shown_file(found) if found is not None else None
    return name if path is None else str(path)


def _directory(name: str, folder: Path) -> str:
    """Return what to do with a directory, which `explain` does not take."""
    if (folder / "_versions").is_dir():
        return (
            f"{name} is a table; explain takes one file of it, such as one of its data/ or "
            f"_versions/. For the whole table: lance-conformance validate {name}"
        )
    return f"{name} is a directory; explain takes one file"
