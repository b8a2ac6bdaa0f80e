"""`lance-conformance next`: the next level, and the cases to start with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from lance_conformance.commands import options, run_options
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import Outcome
from lance_conformance.runs import adapter_check
from lance_conformance.specification import register
from lance_conformance.suite import cases, levels
from lance_conformance.suite.cases import Case
from lance_conformance.untrusted_text import first_line

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
    """Print the next level after a report, and the cases to start with.

    Levels are in the order of the chapter for a first reader: those of files of 2.1 first. Those
    before the first level with a case in the report come last.
    """
    active = {case.id: case for case in cases.load(fixtures) if case.is_active}
    found = run_options.read_results(report, active.values()) if report is not None else {}
    outcomes = {id_: result.read_outcome for id_, result in found.items()}
    manifests = (case.manifest for case in active.values())
    counted = levels.cases_by_level(manifests, register.load())
    name = first_unreached_level(counted, outcomes)
    if name is None:
        typer.echo("every level is reached")
        return
    passed = sum(outcomes.get(one["id"]) == Outcome.PASS for one in counted[name])
    total = passed + len(levels.blocking_cases(counted[name], outcomes))
    level = levels.LADDER[name]
    typer.echo(f"{name}: {level.title} ({passed} of {total} cases that count pass)")
    if level.rungs:
        rungs = " and ".join(map(str, level.rungs))
        typer.echo(f"rung {rungs} of {CHAPTER}")
    for case in starting_cases([active[one["id"]] for one in counted[name]], outcomes):
        typer.echo(f"  {case.id}  [{_result_text(found.get(case.id))}] {case.title}")
    typer.echo(f"lance-conformance run --level {name} -- CMD")


def _result_text(result: CaseResult | None) -> str:
    """Return the outcome of a case, with the missing claim of an unsupported one."""
    if result is None:
        return "not run"
    outcome, detail = result.read_outcome, first_line(result.detail)
    return f"{outcome}, {detail}" if outcome == Outcome.UNSUPPORTED else str(outcome)


def first_unreached_level(
    counted: Mapping[str, Sequence[levels.Manifest]], outcomes: Mapping[str, Outcome]
) -> str | None:
    """Return the first level with a blocking case; None: every level is reached.

    Levels before the first with a case in the report come last.
    """
    names = list(counted)
    run = (
        at for at, name in enumerate(names) if any(one["id"] in outcomes for one in counted[name])
    )
    first = next(run, 0)
    order = names[first:] + names[:first]
    return next((name for name in order if levels.blocking_cases(counted[name], outcomes)), None)


def starting_cases(members: Sequence[Case], outcomes: Mapping[str, Outcome]) -> list[Case]:
    """Return up to five cases that do not pass: valid ones first, small ones first."""
    missing = [case for case in members if outcomes.get(case.id) != Outcome.PASS]
    blocking = {
        one["id"] for one in levels.blocking_cases([case.manifest for case in members], outcomes)
    }
    missing = [case for case in missing if case.id in blocking or not blocking]
    missing.sort(key=lambda case: (case.is_negative, adapter_check.input_size(case), case.id))
    return missing[:NUM_CASES]
