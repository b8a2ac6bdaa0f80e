"""`lance-conformance list`: the cases of a selection."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.judging import Order


def list_cases(
    profile: options.Profile = "all",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the manifests, a line each.")
    ] = False,
    fixtures: options.Fixtures = None,
) -> None:
    """List ids, kinds and titles of the active cases, for use with or without our runner."""
    order = Order(selection=options.selection(profile, only, clause), fixtures=fixtures)
    for case in options.chosen(order):
        if json_:
            typer.echo(json.dumps(case.manifest, ensure_ascii=False))
        else:
            typer.echo(f"{case.id}  [{case.kind}] {case.title}")
