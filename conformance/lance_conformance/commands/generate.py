"""`lance-conformance generate`: write fixtures from their recipes, or a corpus from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from lanceref.core.errors import ExtraMissing
from lanceref_spark.jobs import Executor

from lance_conformance.commands import options
from lance_conformance.commands.executors import create_executor
from lance_conformance.commands.options import ExecutorChoice, SparkMaster
from lance_conformance.recipes.build import build, clauses_shown
from lance_conformance.recipes.model import Negative, Recipe
from lance_conformance.suite import suite_file
from lance_conformance.suite.cases import matches_pattern

VERSIONS = "2.0,2.1,2.2,2.3"
"""File versions of a corpus."""

FAMILIES_OF_A_JOB = 20
"""Number of cases, with those derived from them, of one job."""


def generate(
    out: Annotated[Path, typer.Option(help="Folder of the fixtures; existing cases are kept.")],
    only: Annotated[str, typer.Option(help="Write only the cases whose id matches.")] = "**",
    corpus: Annotated[
        int | None,
        typer.Option(min=1, help="Write so many random files in each version instead of fixtures."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of a corpus.")] = 0,
    versions: Annotated[str, typer.Option(help="File versions of a corpus.")] = VERSIONS,
    oracle: Annotated[
        bool, typer.Option(help="Also read the files of a corpus with the oracle.")
    ] = True,
    executor: ExecutorChoice = None,
    spark: SparkMaster = None,
) -> None:
    """Write the cases that do not exist yet below OUT. Needs the oracle, which writes the inputs.

    With --corpus, write random files, their tables and an index, and read them back; the files are
    the same for every executor. Exit 1: a table read differs from the one written.
    """
    try:
        chosen = create_executor(executor, spark, "made")
    except ExtraMissing as error:
        raise typer.BadParameter(str(error)) from error
    if corpus is None or oracle:
        options.require_oracle("or give --no-oracle" if corpus else "")
    if corpus is not None:
        _corpus(chosen, out, corpus, versions.split(","), seed=seed, oracle=oracle)
        return
    families = _families(only)
    if not families:
        raise typer.BadParameter(f"no case matches {only}: ** stands for any number of folders")
    jobs = [
        families[start : start + FAMILIES_OF_A_JOB]
        for start in range(0, len(families), FAMILIES_OF_A_JOB)
    ]
    try:
        made = list(chosen.map(make_families, jobs, str(out.absolute())))
    except ExtraMissing as error:  # the recipe of a noncanonical file
        raise typer.BadParameter(str(error), param_hint="--only") from error
    written = [one for family in made for one in family]
    suite_file.write_suite(out)
    typer.echo(f"{len(written)} cases written below {out}")


def _families(only: str) -> list[tuple[str, ...]]:
    """Return the ids of the selected cases: each parent with its negatives."""
    from lance_conformance.recipes.cases import ALL

    families: dict[str, list[str]] = {}
    for recipe in ALL:
        if matches_pattern(only, recipe.id):
            parent = recipe.parent if isinstance(recipe, Negative) else recipe.id
            members = families.setdefault(parent, [parent])
            if recipe.id != parent:
                members.append(recipe.id)
    return [tuple(members) for members in families.values()]


def make_families(families: Sequence[tuple[str, ...]], out: str) -> list[str]:
    """Write the cases of a job, in any process; return the ids of the new ones."""
    from lance_conformance.recipes.cases import ALL, RECIPES

    chosen: list[Recipe] = [RECIPES[name] for members in families for name in members]
    return build(chosen, clauses_shown(ALL), Path(out))


def _corpus(
    executor: Executor, out: Path, count: int, versions: list[str], *, seed: int, oracle: bool
) -> None:
    """Write a corpus and print its differences. Exits with 1 if there are any."""
    if unknown := sorted(set(versions) - set(VERSIONS.split(","))):
        raise typer.BadParameter(f"no version {', '.join(unknown)}")
    from lance_conformance.random_files.corpus import INDEX, Corpus, make_corpus

    corpus = Corpus(str(out.absolute()), seed, oracle)
    try:
        entries = make_corpus(executor, corpus, count, versions)
    except ExtraMissing as error:
        raise typer.BadParameter(str(error), param_hint="--corpus") from error
    for entry in entries:
        for difference in entry.differences:
            typer.echo(f"{entry.case}: {difference}")
    labels = {label for entry in entries for label in entry.labels}
    refused = sum(entry.refused is not None for entry in entries)
    wrong = sum(bool(entry.differences) for entry in entries)
    typer.echo(
        f"{len(entries)} cases of {len(labels)} kinds below {corpus.out}, listed in {INDEX}; "
        f"{refused} refused by the writer, {wrong} not read as written"
    )
    if wrong:
        raise typer.Exit(1)
