"""`lance-conformance next`: the level that comes next, and the cases to start with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance import cases, first_contact, levels, register
from lance_conformance.cases import Case
from lance_conformance.commands import options, run_options
from lance_conformance.outcomes import Outcome
from lance_conformance.outside_text import first_line
from lance_conformance.runner import CaseResult

NUM_CASES = 5
"""Cases to start with."""

CHAPTER = "spec/05-first-reader.md"


def next_level(
    report: Annotated[
        Path | None,
        typer.Argument(exists=True, help="report.jsonl, or its folder. Default: nothing passes."),
    ] = None,
    fixtures: options.Fixtures = None,
) -> None:
    """Say which level comes next after a report, and with which cases to start.

    Levels come in the order of the chapter for a first reader: those of files of 2.1 first. Those
    before the first level with a case in the report come last.
    """
    active = {case.id: case for case in cases.load(fixtures) if case.is_active}
    found = run_options.read_results(report, active.values()) if report is not None else {}
    told = {id_: result.read for id_, result in found.items()}
    manifests = (case.manifest for case in active.values())
    counted = levels.members(manifests, register.load())
    name = first_unreached(counted, told)
    if name is None:
        typer.echo("every level is reached")
        return
    passed = sum(told.get(one["id"]) == Outcome.PASS for one in counted[name])
    total = passed + len(levels.in_the_way(counted[name], told))
    level = levels.LADDER[name]
    typer.echo(f"{name}: {level.title} ({passed} of {total} cases that count pass)")
    if level.rungs:
        rungs = " and ".join(map(str, level.rungs))
        typer.echo(f"rung {rungs} of {CHAPTER}")
    for case in to_start_with([active[one["id"]] for one in counted[name]], told):
        typer.echo(f"  {case.id}  [{_ended(found.get(case.id))}] {case.title}")
    typer.echo(f"lance-conformance run --level {name} -- CMD")


def _ended(result: CaseResult | None) -> str:
    """Return how a case ended, and of an unsupported one what was not claimed."""
    if result is None:
        return "not run"
    told, detail = result.read, first_line(result.detail)
    return f"{told}, {detail}" if told == Outcome.UNSUPPORTED else str(told)


def first_unreached(
    counted: Mapping[str, Sequence[levels.Manifest]], told: Mapping[str, Outcome]
) -> str | None:
    """Return the first level with a case in the way; None: every level is reached.

    Levels before the first with a case in the report come last.
    """
    names = list(counted)
    run = (at for at, name in enumerate(names) if any(one["id"] in told for one in counted[name]))
    first = next(run, 0)
    order = names[first:] + names[:first]
    return next((name for name in order if levels.in_the_way(counted[name], told)), None)


def to_start_with(members: Sequence[Case], told: Mapping[str, Outcome]) -> list[Case]:
    """Return up to five cases that do not pass: those to read first, and the small ones first."""
    missing = [case for case in members if told.get(case.id) != Outcome.PASS]
    way = {one["id"] for one in levels.in_the_way([case.manifest for case in members], told)}
    missing = [case for case in missing if case.id in way or not way]
    missing.sort(key=lambda case: (case.is_negative, first_contact.size(case), case.id))
    return missing[:NUM_CASES]
