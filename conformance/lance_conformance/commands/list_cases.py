"""`lance-conformance list`: the cases of a selection."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.runs.suite_run import RunOptions
from lance_conformance.suite import levels


def list_cases(
    profile: options.Profile = "all",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    level: options.Level = None,
    kind: options.Kind = None,
    exclude: options.Exclude = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the manifests, a line each.")
    ] = False,
    levels_: Annotated[
        bool,
        typer.Option("--levels", help="Print how many cases each level has, with a MUST or not."),
    ] = False,
    fixtures: options.Fixtures = None,
) -> None:
    """List ids, kinds and titles of the active cases, for use with or without our runner."""
    selected = options.selection(profile, only, clause, level=level, kind=kind, exclude=exclude)
    settings = RunOptions(selection=selected, fixtures=fixtures)
    found = options.selected_cases(settings)
    if levels_:
        for name, count in levels.count_by_level(case.manifest for case in found).items():
            typer.echo(f"{name:<20} {count:>5}  {levels.LADDER[name].title}")
        return
    for case in found:
        if json_:
            typer.echo(json.dumps(case.manifest, ensure_ascii=False))
        else:
            typer.echo(f"{case.id}  [{case.kind}] {case.title}")
