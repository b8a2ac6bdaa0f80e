"""`lance-conformance show ID`: a case, or a clause with its text, code and cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import cases, places, register, suite
from lance_conformance.cases import Case
from lance_conformance.commands import options


def show(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A case id or a clause id.")],
    fixtures: options.Fixtures = None,
) -> None:
    """Show what a case asks, or what a clause says, where it is checked and which cases test it."""
    every = cases.load(fixtures or places.fixtures())
    told = list(_clause(id_, every) if id_.startswith("L.") else _case(id_, every))
    if not told:
        raise typer.BadParameter(f"no case or clause {id_}")
    for line in told:
        typer.echo(line)


def _case(case_id: str, every: Sequence[Case]) -> Iterator[str]:
    for case in every:
        if case.id == case_id:
            yield f"{case.title}"
            yield f"{case.folder}"
            yield suite.canonical(case.manifest).rstrip()


def _clause(clause_id: str, every: Sequence[Case]) -> Iterator[str]:
    clause = register.load().get(clause_id)
    testing = [case for case in every if clause_id in case.clauses]
    if clause is not None:
        yield clause.text
        audience = ", ".join(clause.audience)
        yield f"{clause.level} · {audience} · since {clause.since} · {clause.anchor}"
        if clause.divergences:
            yield f"see {', '.join(clause.divergences)}"
        if clause.untestable:
            yield f"untestable: {clause.untestable}"
    elif testing:
        yield f"{clause_id} is not in the register"
    else:
        return
    for place in citations(clause_id, places.reference_sources()):
        yield f"code  {place}"
    for case in testing:
        yield f"case  {case.id}  [{case.kind}] {case.title}"


def citations(clause_id: str, sources: Path) -> Iterator[str]:
    """Yield `file:line` of every place of the sources that names a clause."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(clause_id)}(?![\w-]|\.\w)")
    for path in sorted(sources.rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if pattern.search(line):
                yield f"{path.relative_to(sources.parent).as_posix()}:{number}"
