"""`lance-conformance fmt`: manifests in canonical form."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lance_conformance import resources
from lance_conformance.commands import options
from lance_conformance.suite import suite_file
from lance_conformance.suite.cases import MANIFEST


def fmt(
    check: Annotated[
        bool, typer.Option("--check", help="Only report, exit 1 if any differs.")
    ] = False,
    fixtures: options.Fixtures = None,
) -> None:
    """Write every manifest with keys in schema order, one line per member."""
    root = fixtures or resources.fixtures()
    differing = 0
    for path in sorted(root.rglob(MANIFEST)):
        text = path.read_text("utf-8")
        canonical = suite_file.canonical_text(json.loads(text))
        if text == canonical:
            continue
        differing += 1
        typer.echo(
            f"{path.parent.relative_to(root).as_posix()}: {'not canonical' if check else 'written'}"
        )
        if not check:
            path.write_text(canonical, encoding="utf-8")
    if check and differing:
        raise typer.Exit(1)
