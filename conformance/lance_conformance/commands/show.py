"""`lance-conformance show ID`: a case, a clause with its code and cases, or a divergence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

import lance_conformance
from lance_conformance import resources
from lance_conformance.commands import options
from lance_conformance.specification import divergences, register
from lance_conformance.suite import case_storage, cases
from lance_conformance.suite.cases import Case
from lance_conformance.untrusted_text import truncated

MAX_LINE = 400
"""Maximum number of characters of a line of a manifest."""


def show(
    id_: Annotated[str, typer.Argument(metavar="ID", help="Id of a case, clause or divergence.")],
    fixtures: options.Fixtures = None,
) -> None:
    """Show a case, a clause with its text and the cases that test it, or a divergence."""
    loaded = cases.load(fixtures)
    describe = {"L.": _clause, "D.": _divergence}.get(id_[:2], _case)
    lines = list(describe(id_, loaded))
    if not lines:
        ids = [*(case.id for case in loaded), *register.load(), *divergences.load()]
        hint = options.near(id_, ids)
        raise typer.BadParameter(f"no case, clause or divergence {id_}. {hint}".rstrip(". "))
    for line in lines:
        typer.echo(line)


def _case(case_id: str, every: Sequence[Case]) -> Iterator[str]:
    for case in every:
        if case.id == case_id:
            yield f"{case.title}"
            yield f"{case.source_folder}"
            yield f"files: lance-conformance copy DIR --only {case.id}"
            yield from _recipe(case_id)
            manifest = case_storage.manifest_text(case.manifest).rstrip().splitlines()
            yield from (truncated(line, MAX_LINE) for line in manifest)


def _recipe(case_id: str) -> Iterator[str]:
    """Yield the file and line of the recipe of a case, if it has one."""
    from lance_conformance.recipes.cases import RECIPES

    if case_id in RECIPES:
        place = RECIPES[case_id].place
        file = Path(place.file).relative_to(Path(lance_conformance.__file__).parents[1])
        yield f"recipe {file.as_posix()}:{place.line}"


def _clause(clause_id: str, every: Sequence[Case]) -> Iterator[str]:
    clause = register.load().get(clause_id)
    testing = [case for case in every if clause_id in case.clauses]
    if clause is not None:
        yield clause.text
        audience = ", ".join(clause.audience)
        yield f"{clause.level} · {audience} · since {clause.since} · {clause.anchor}"
        if clause.violation:
            yield f"violation {clause.violation}"
        if clause.divergences:
            yield f"see {', '.join(clause.divergences)}"
        if clause.untestable:
            yield f"untestable: {clause.untestable}"
    elif testing:
        yield f"{clause_id} is not in the register"
    else:
        return
    for place in citations(clause_id, resources.reference_sources()):
        yield f"code  {place}"
    for case in testing:
        yield f"case  {case.id}  [{case.kind}] {case.title}"


def _divergence(id_: str, every: Sequence[Case]) -> Iterator[str]:
    entry = divergences.load().get(id_)
    if entry is None:
        return
    yield entry.text
    yield from (f"{name}: {value}" for name, value in entry.rows.items())
    for clause in register.load().values():
        if id_ in clause.divergences:
            yield f"clause  {clause.id}"
    if entry.severity:
        yield f"script  spec/defects/{entry.script}"


def citations(clause_id: str, sources: Path) -> Iterator[str]:
    """Yield `file:line` of every line of the sources that cites a clause."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(clause_id)}(?![\w-]|\.\w)")
    for path in sorted(sources.rglob("*.py")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if pattern.search(line):
                yield f"{path.relative_to(sources.parent).as_posix()}:{number}"
