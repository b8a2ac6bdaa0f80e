"""`lance-conformance diff`: what changed between two reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import run_options
from lance_conformance.outcomes import GOOD
from lance_conformance.outside_text import clean
from lance_conformance.reports import journal

Report = Annotated[Path, typer.Argument(exists=True, help="report.jsonl, or its folder.")]


def diff(before: Report, after: Report) -> None:
    """Compare two reports: newly failing, newly passing, changed outcomes, cases of one alone.

    Exit codes: 0 nothing fails that did not before, 1 something does, or the second report is
    incomplete, 2 wrong use. A case that only the second report has is newly failing where it fails.
    """
    old, new = run_options.read_outcomes(before), run_options.read_outcomes(after)
    groups: dict[str, list[str]] = {
        "newly failing": [],
        "newly passing": [],
        "changed": [],
        "only before": [f"{name}: {old[name]}" for name in sorted(old.keys() - new.keys())],
        "only after": [],
    }
    for name, outcome in sorted(new.items()):
        was = old.get(name)
        if was == outcome:
            continue
        if outcome not in GOOD and (was is None or was in GOOD):
            group = "newly failing"
        elif was is None:
            group = "only after"
        elif was not in GOOD and outcome in GOOD:
            group = "newly passing"
        else:
            group = "changed"
        groups[group].append(f"{name}: {was or 'absent'} -> {outcome}")
    for group, lines in groups.items():
        if lines:
            typer.echo(f"{group} ({len(lines)})")
            for line in lines:
                typer.echo(f"  {clean(line)}")
    if not any(groups.values()):
        typer.echo(f"the same outcomes in all {len(new)} cases")
    left = {report: journal.unfinished(report) for report in (before, after)}
    for report, why in left.items():
        if why:
            typer.echo(f"incomplete: {clean(str(report))}: {clean(why)}")
    raise typer.Exit(1 if groups["newly failing"] or left[after] else 0)
