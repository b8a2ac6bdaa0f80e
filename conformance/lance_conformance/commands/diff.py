"""`lance-conformance diff`: the changes between two reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import run_options
from lance_conformance.outcomes import GOOD
from lance_conformance.reports import journal
from lance_conformance.untrusted_text import printable

Report = Annotated[Path, typer.Argument(exists=True, help="report.jsonl, or its folder.")]


def diff(before: Report, after: Report) -> None:
    """Compare two reports: newly failing, newly passing, changed outcomes, cases of only one.

    Exit codes: 0 no new failures, 1 new failures, or an incomplete second report, 2 wrong use. A
    failing case that only the second report has is newly failing.
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
                typer.echo(f"  {printable(line)}")
    if not any(groups.values()):
        typer.echo(f"the same outcomes in all {len(new)} cases")
    incomplete = {report: journal.incomplete_reason(report) for report in (before, after)}
    for report, why in incomplete.items():
        if why:
            typer.echo(f"incomplete: {printable(str(report))}: {printable(why)}")
    raise typer.Exit(1 if groups["newly failing"] or incomplete[after] else 0)
