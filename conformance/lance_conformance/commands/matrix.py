"""`lance-conformance matrix`: releases of pylance and other implementations in one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.matrix import page, report_data, result, running
from lance_conformance.oracle import RELEASES
from lance_conformance.runs import suite_run
from lance_conformance.runs.suite_run import RunOptions


def matrix(
    release: Annotated[
        list[str] | None,
        typer.Option("--oracle", help="Release of pylance, in its own environment. Repeatable."),
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option(exists=True, file_okay=False, help="Folder of a report.jsonl. Repeatable."),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            callback=options.create_folder,
            help="Folder of the matrix; an earlier run is continued.",
        ),
    ] = Path("report/matrix"),
    before: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="An earlier matrix.json: show the changes."),
    ] = None,
    profile: options.Profile = "all",
    only: options.Only = None,
    fixtures: options.Fixtures = None,
) -> None:
    """Judge releases of pylance on every case, let them write every table, and show the results.

    Each release has its own environment below the cache folder. Writes matrix.json and matrix.md
    (downgrade floors, the first release that differs in a case), and a page for each release.
    """
    selection = options.selection(profile, only, None)
    unknown = sorted(set(release or ()) - set(RELEASES))
    if unknown:
        raise typer.BadParameter(f"{unknown[0]} is not a release of the matrix: {RELEASES}")
    if not release and not report:
        raise typer.BadParameter("name releases with --oracle, or reports with --report")
    chosen = [one for one in RELEASES if one in (release or ())]
    releases = [running.run(one, selection, fixtures, out) for one in chosen]
    earlier_reports = [report_data.read(folder) for folder in report or ()]
    releases += [one for one in earlier_reports if one.name == "pylance"]
    releases.sort(key=lambda one: report_data.order(one.version))
    others = [one for one in earlier_reports if one.name != "pylance"]
    _, cases = suite_run.select_cases(RunOptions(selection=selection, fixtures=fixtures))
    found = page.document(cases, releases, others)
    earlier = None if before is None else json.loads(before.read_text("utf-8"))
    (out / "matrix.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    (out / "matrix.md").write_text(page.render(found, earlier), encoding="utf-8")
    for one in (*releases, *others):
        name = f"{one.name}-{one.version}.md"
        (out / name).write_text(result.render(one, cases), encoding="utf-8")
    typer.echo(f"wrote {out / 'matrix.json'}, {out / 'matrix.md'}")
