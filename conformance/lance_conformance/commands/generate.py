"""`lance-conformance generate`: make fixtures from their recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import suite
from lance_conformance.cases import matches
from lance_conformance.recipes.build import build, clauses_kept
from lance_conformance.recipes.model import Negative, Recipe


def generate(
    out: Annotated[Path, typer.Option(help="Folder of the fixtures; cases that exist are kept.")],
    only: Annotated[str, typer.Option(help="Make only the cases whose id matches.")] = "**",
) -> None:
    """Write the cases that do not exist yet below OUT. Needs the oracle, which makes the inputs."""
    from lance_conformance.recipes.tables import ALL, RECIPES

    chosen: dict[str, Recipe] = {r.id: r for r in ALL if matches(only, r.id)}
    for recipe in list(chosen.values()):
        if isinstance(recipe, Negative):
            chosen[recipe.parent] = RECIPES[recipe.parent]
    written = build(chosen.values(), clauses_kept(ALL), out)
    suite.write(out)
    typer.echo(f"{len(written)} cases written below {out}")
