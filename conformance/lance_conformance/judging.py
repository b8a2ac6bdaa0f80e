"""Judging: cases, adapter and known failures brought together into one run to report on."""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lance_conformance import cases, known, places, register, runner
from lance_conformance.cases import Selection
from lance_conformance.known import Reckoning
from lance_conformance.outcomes import Outcome
from lance_conformance.reports import score
from lance_conformance.reports.jsonl import Run
from lance_conformance.runner import Progress

REFERENCE = (sys.executable, "-m", "lance_conformance.adapters.reference")
"""The adapter that is judged when none is named."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to judge, and how."""

    command: Sequence[str] = REFERENCE
    selection: Selection = field(default_factory=Selection)
    fixtures: Path | None = None
    known: Path | None = None
    jobs: int = 1
    isolate: bool = False


def choose(order: Order) -> tuple[list[cases.Case], list[cases.Case]]:
    """Return the active cases of the suite, and those of the order's selection."""
    every = cases.load(order.fixtures or places.fixtures())
    return [case for case in every if case.is_active], cases.select(every, order.selection)


def judge(order: Order, progress: Progress | None = None) -> Run:
    """Run what is ordered. Raises AdapterUnusable, CaseError, KnownError, NotThere."""
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    listed = known.load(order.known) if order.known is not None else []
    active, chosen = choose(order)
    clauses = register.load()
    with tempfile.TemporaryDirectory(prefix="lance-conformance-") as folder:
        claims, results = runner.run(
            order.command,
            chosen,
            Path(os.path.realpath(folder)),
            jobs=order.jobs,
            isolate=order.isolate,
            progress=progress,
        )
    today = datetime.datetime.now(datetime.UTC).date()
    reckoning = known.reckon(results, listed, [case.id for case in active], today)
    return Run(
        claims=claims,
        results=results,
        reckoning=reckoning,
        active=active,
        register=clauses,
        profile=order.selection.profile,
        started=started,
        exit_code=exit_code(results, reckoning),
        scores=score.profiles(results),
        levels=score.levels(results, active, clauses),
    )


def exit_code(results: Sequence[runner.CaseResult], reckoning: Reckoning) -> int:
    """Return 3 when the adapter broke the protocol, 1 for surprises, 4 for a stale list, else 0."""
    if any(result.outcome == Outcome.INFRA for result in results):
        return 3
    if reckoning.unexpected:
        return 1
    return 4 if reckoning.stale else 0
