"""`lance-conformance known`: bring a list of known failures up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import known_edit
from lance_conformance.commands import options
from lance_conformance.commands.progress import judge
from lance_conformance.judging import Order


def known(
    command: options.Command = None,
    file: Annotated[Path, typer.Option("--known", help="The list; made by --update.")] = Path(
        "known.toml"
    ),
    update: Annotated[
        bool, typer.Option("--update", help="Drop, correct and add entries.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Only drop what is stale.")] = False,
    issue: Annotated[str, typer.Option(help="Link or divergence id for new entries.")] = "",
    profile: options.Profile = "format",
    jobs: options.Jobs = 1,
    fixtures: options.Fixtures = None,
) -> None:
    """Run the cases and rewrite the list of known failures; its comments stay."""
    if update == prune:
        raise typer.BadParameter("choose --update or --prune")
    if issue and not known_edit.is_issue(issue):
        raise typer.BadParameter("neither a link nor a divergence id", param_hint="--issue")
    order = Order(
        options.adapter(command), options.selection(profile, None, None), fixtures, jobs=jobs
    )
    judged = judge(order, options.choice(order))
    if judged.incomplete:
        typer.echo(f"{judged.incomplete}: {file} stays as it is", err=True)
        raise typer.Exit(judged.exit_code)
    results = judged.results
    if prune:
        edit = known_edit.prune(file, results)
    else:
        edit = known_edit.update(file, results, issue)
    if edit.added and not known_edit.is_issue(issue):
        told = "give new entries a link or a divergence id with --issue:"
        raise typer.BadParameter("\n  ".join([told, *edit.added]))
    file.write_text(edit.text, encoding="utf-8")
    for what in ("dropped", "changed", "added"):
        for case in getattr(edit, what):
            typer.echo(f"{what} {case}")
