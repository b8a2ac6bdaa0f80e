"""`lance-conformance bench`: the speed of the reference and the oracle, compared with the goals."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.bench import engines
from lance_conformance.bench import run as measure
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import EVERY, GOALS, Verdict, judge
from lance_conformance.bench.run import Size
from lance_conformance.bench.tables import TABLES
from lance_conformance.commands import options

ALL = "all"
"""Value for all names."""

FULL = Size(read_mib=64, write_mib=24, rounds=3)
"""Default size of a run."""

QUICK = Size(read_mib=16, write_mib=8, rounds=3)
"""Size of a quick run, in which opening a file weighs more."""


def bench(
    versions: Annotated[str, typer.Option(help="File versions, comma separated.")] = ALL,
    tables: Annotated[str, typer.Option(help="Tables, comma separated.")] = ALL,
    only: Annotated[str, typer.Option(help="Goals, comma separated.")] = ALL,
    quick: Annotated[bool, typer.Option(help="Small tables, for a quick run.")] = False,
    mib: Annotated[int | None, typer.Option(help="Decoded MiB of a table that is read.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Timed rounds; the median counts.")] = None,
    strict: Annotated[bool, typer.Option(help="Exit 1 below a floor.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print figures and verdicts.")] = False,
) -> None:
    """Measure the reference and the oracle on one core, and compare them with the goals."""
    wanted_versions = _parse_names("version", versions, EVERY)
    wanted_tables = _parse_names("table", tables, TABLES)
    names = _parse_names("goal", only, dict.fromkeys(goal.name for goal in GOALS))
    goals = [goal for goal in GOALS if goal.name in names]
    usual = QUICK if quick else FULL
    size = Size(mib or usual.read_mib, usual.write_mib, rounds or usual.rounds)
    options.require_oracle()
    engines.pin_to_one_core()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for figure in measure.run(Path(folder), wanted_versions, wanted_tables, goals, size):
            figures.append(figure)
            typer.echo(_figure_line(figure), err=json_)
    verdicts = list(judge(goals, figures))
    if json_:
        typer.echo(_json(figures, verdicts))
    else:
        for verdict in verdicts:
            typer.echo(_verdict_line(verdict))
    if strict and any(verdict.word == "below" for verdict in verdicts):
        raise typer.Exit(1)


def _parse_names(what: str, names: str, known: Iterable[str]) -> list[str]:
    """Return the names of a list, all known ones for `ALL`."""
    listed = list(known) if names == ALL else names.split(",")
    if unknown := sorted(set(listed) - set(known)):
        raise typer.BadParameter(f"no {what} {', '.join(unknown)}")
    return listed


def _figure_line(figure: Figure) -> str:
    return (
        f"{figure.measure:<13} {figure.table:<10} {figure.version:<3}  ours {figure.ours:>10.4g}"
        f"  oracle {figure.oracle:>10.4g} {figure.unit:<8}  {figure.ratio:6.2f}"
    )


def _verdict_line(verdict: Verdict) -> str:
    goal, sign = verdict.goal, "<=" if verdict.goal.at_most else ">="
    return (
        f"{goal.name:<4} {goal.title:<29} {verdict.version:<4} {sign} {goal.goal:<4g}"
        f" floor {goal.floor:<4g}  found {verdict.value:7.2f}  mean {verdict.mean:6.2f}"
        f"  {verdict.word:<5}  {verdict.table}"
    )


def _json(figures: list[Figure], verdicts: list[Verdict]) -> str:
    judged = [
        {
            "goal": verdict.goal.name,
            "version": verdict.version,
            "wanted": verdict.goal.goal,
            "floor": verdict.goal.floor,
            "found": verdict.value,
            "worst": verdict.table,
            "mean": verdict.mean,
            "reaches": verdict.word,
        }
        for verdict in verdicts
    ]
    return json.dumps({"figures": [asdict(f) for f in figures], "verdicts": judged}, indent=1)
