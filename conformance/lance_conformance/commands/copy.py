"""`lance-conformance copy DIR`: the cases as plain files, for use without our runner."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import judging, places, suite
from lance_conformance.commands import options
from lance_conformance.judging import Order


def copy(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Target; made if it is not there.")],
    profile: options.Profile = "all",
    only: options.Only = None,
    clause: options.ClauseGlob = None,
    fixtures: options.Fixtures = None,
) -> None:
    """Copy the folders of the chosen cases to DIR."""
    source = fixtures or places.fixtures()
    order = Order(selection=options.selection(profile, only, clause), fixtures=source)
    _, chosen = judging.choose(order)
    for case in chosen:
        shutil.copytree(case.folder, folder / case.id, dirs_exist_ok=True)
    if (source / suite.SUITE).exists():
        shutil.copy(source / suite.SUITE, folder / suite.SUITE)
    typer.echo(f"copied {len(chosen)} cases to {folder}")
