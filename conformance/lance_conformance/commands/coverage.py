"""`lance-conformance coverage`: the parts of the format that the fixtures cover."""

from __future__ import annotations

from typing import Annotated

import typer

from lance_conformance.commands import options
from lance_conformance.coverage import clauses, survey
from lance_conformance.specification import register
from lance_conformance.suite import cases
from lance_conformance.views import coverage as view
from lance_conformance.views.coverage import CoverageReport


def coverage(
    fixtures: options.Fixtures = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Count bytes with an owner, fields, values, widths and clauses in the fixtures.

    Exit 1 when something that could occur does not, or a byte has no owner.
    """
    found = report(cases.load(fixtures))
    if json_:
        typer.echo(view.to_json(found))
    else:
        for line in view.to_text(found):
            typer.echo(line)
    if found.gaps or found.survey.unowned:
        raise typer.Exit(1)


def report(every: list[cases.Case]) -> CoverageReport:
    """Return the coverage of some cases."""
    pairs = clauses.count_cases(register.load(), every)
    return CoverageReport(survey.survey(every), survey.axes(), pairs)
