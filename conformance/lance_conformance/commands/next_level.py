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
    verdicts = run_options.read_verdicts(report) if report is not None else {}
    told = {id_: outcome for id_, (outcome, _) in verdicts.items()}
    active = [case for case in cases.load(fixtures) if case.is_active]
    name = first_unreached(active, told)
    if name is None:
        typer.echo("every level is reached")
        return
    members = [case for case in active if case.level == name]
    passed, total = _passed(members, told)
    level = levels.LADDER[name]
    typer.echo(f"{name}: {level.title} ({passed} of {total} cases that count pass)")
    if level.rungs:
        rungs = " and ".join(map(str, level.rungs))
        typer.echo(f"rung {rungs} of {CHAPTER}")
    for case in to_start_with(members, told):
        typer.echo(f"  {case.id}  [{_ended(verdicts.get(case.id))}] {case.title}")
    typer.echo(f"lance-conformance run --level {name} -- CMD")


def _passed(members: Sequence[Case], told: Mapping[str, Outcome]) -> tuple[int, int]:
    """Return how many cases pass, and how many count for the level: those with a MUST."""
    counted = _with_must(members)
    passed = sum(told.get(case.id) == Outcome.PASS for case in counted)
    return passed, passed + len(levels.in_the_way([case.manifest for case in counted], told))


def _with_must(members: Sequence[Case]) -> list[Case]:
    clauses = register.load()
    return [case for case in members if register.has_must(case.clauses, clauses)]


def _ended(verdict: tuple[Outcome, str] | None) -> str:
    """Return how a case ended, and of an unsupported one what was not claimed."""
    if verdict is None:
        return "not run"
    outcome, detail = verdict
    return f"{outcome}, {first_line(detail)}" if outcome == Outcome.UNSUPPORTED else str(outcome)


def first_unreached(active: Sequence[Case], told: Mapping[str, Outcome]) -> str | None:
    """Return the first level of the ladder with a case in the way, or none that passes.

    Levels before the first with a case in the report come last. None: every level is reached.
    """
    counted = _with_must(active)
    run = {case.level for case in counted if case.id in told}
    waiting = {case.level for case in counted} - {
        case.level for case in counted if told.get(case.id) == Outcome.PASS
    }
    for name in levels.LADDER:
        members = [case.manifest for case in counted if case.level == name]
        waiting |= {name} if levels.in_the_way(members, told) else set()
    ladder = list(levels.LADDER)
    first = next((at for at, name in enumerate(ladder) if name in run), 0)
    return next((name for name in ladder[first:] + ladder[:first] if name in waiting), None)


def to_start_with(members: Sequence[Case], told: Mapping[str, Outcome]) -> list[Case]:
    """Return up to five cases that do not pass: those to read first, and the small ones first."""
    missing = [case for case in members if told.get(case.id) != Outcome.PASS]
    way = {one["id"] for one in levels.in_the_way([case.manifest for case in members], told)}
    missing = [case for case in missing if case.id in way or not way]
    missing.sort(key=lambda case: (case.is_negative, first_contact.size(case), case.id))
    return missing[:NUM_CASES]
