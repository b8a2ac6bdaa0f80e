"""`lance-conformance known`: update a list of known failures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.commands.progress import run_with_progress
from lance_conformance.judging import known_failures_edit
from lance_conformance.runs.suite_run import RunOptions


def known(
    command: options.Command = None,
    file: Annotated[Path, typer.Option("--known", help="The list; --update creates it.")] = Path(
        "known.toml"
    ),
    update: Annotated[
        bool, typer.Option("--update", help="Drop, correct and add entries.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Only drop stale entries.")] = False,
    issue: Annotated[str, typer.Option(help="Link or divergence id for new entries.")] = "",
    profile: options.Profile = "format",
    jobs: options.Jobs = 1,
    fixtures: options.Fixtures = None,
) -> None:
    """Run the cases and rewrite the list of known failures, with its comments."""
    if update == prune:
        raise typer.BadParameter("choose --update or --prune")
    if issue and not known_failures_edit.is_issue(issue):
        raise typer.BadParameter("neither a link nor a divergence id", param_hint="--issue")
    settings = RunOptions(
        options.adapter_command(command),
        options.selection(profile, None, None),
        fixtures,
        jobs=jobs,
    )
    judged = run_with_progress(settings, options.select_cases(settings))
    if judged.incomplete:
        typer.echo(f"{judged.incomplete}: {file} is unchanged", err=True)
        raise typer.Exit(judged.exit_code)
    results = judged.results
    if prune:
        edit = known_failures_edit.prune(file, results)
    else:
        edit = known_failures_edit.update(file, results, issue)
    if edit.added and not known_failures_edit.is_issue(issue):
        hint = "give new entries a link or a divergence id with --issue:"
        raise typer.BadParameter("\n  ".join([hint, *edit.added]))
    file.write_text(edit.text, encoding="utf-8")
    for what in ("dropped", "changed", "added"):
        for case in getattr(edit, what):
            typer.echo(f"{what} {case}")
