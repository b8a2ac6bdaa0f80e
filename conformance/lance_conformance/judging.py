"""Judging: cases, adapter and known failures brought together into one run to report on."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lance_conformance import __version__, cases, known, places, profiles, register, runner, subset
from lance_conformance.cases import Selection
from lance_conformance.known import Known, Reckoning
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.outside_text import clean
from lance_conformance.reports import jsonl, score
from lance_conformance.reports.journal import UNFINISHED, Journal, resumed
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.repeat import shown_command
from lance_conformance.runner import CaseResult, Collected, Progress
from lance_conformance.scratch import scratch_folder
from lance_conformance.session import Claims
from lance_conformance.stop import Stop

REFERENCE = (sys.executable, "-m", "lance_conformance.adapters.reference")
"""The adapter that is judged when none is named."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to judge, and how.

    `journal` is the folder where finished cases are written at once, and with `resume` taken from;
    `timeout` replaces the seconds that cases allow for a request, and `timeout_factor` multiplies
    them; `max_failures` unexpected results end the run.
    """

    command: Sequence[str] = REFERENCE
    selection: Selection = field(default_factory=Selection)
    fixtures: Path | None = None
    known: Path | None = None
    jobs: int = 1
    isolate: bool = False
    timeout: float | None = None
    journal: Path | None = None
    resume: bool = False
    timeout_factor: float = 1.0
    max_failures: int | None = None


Choice = tuple[list[cases.Case], list[cases.Case]]
"""The active cases of the suite, and those of a selection."""


def choose(order: Order) -> Choice:
    """Return the active cases of the suite, and those of the order's selection."""
    every = cases.load(order.fixtures)
    return [case for case in every if case.is_active], cases.select(every, order.selection)


def judge(
    order: Order,
    progress: Progress | None = None,
    stop: Stop | None = None,
    choice: Choice | None = None,
) -> Run:
    """Run what is ordered, and keep its journal where a folder is named.

    `choice` is what `choose` returned for the order, where it was called before. A `stop` that is
    asked for gives an incomplete run. Raises AdapterUnusable, CannotResume, CaseError, KnownError,
    NotThere; Stopped when the adapter has not greeted by then.
    """
    if stop is None:
        with Stop() as own:
            return judge(order, progress, own, choice)
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    listed = known.load(order.known) if order.known is not None else []
    active, chosen = choice or choose(order)
    part = subset_line(order, active)
    with scratch_folder() as folder:
        head = partial(
            jsonl.header,
            profile=order.selection.profile,
            selection=_told(order),
            started=started,
            incomplete=UNFINISHED,
            subset=part,
        )
        enough = _Failures(order.max_failures, listed, stop)
        found = _collect(order, chosen, folder, stop, head, enough, progress)
    results, incomplete = _whole(found, chosen, stop)
    clauses = register.load()
    reckoning = known.reckon(results, listed, _ids(order, active), _today(), clauses)
    code = 128 + stop.signal if incomplete and stop.signal else exit_code(results, reckoning)
    return Run(
        claims=found.claims,
        results=results,
        reckoning=reckoning,
        active=active,
        register=clauses,
        profile=order.selection.profile,
        started=started,
        exit_code=code,
        selection=_told(order),
        incomplete=incomplete,
        subset=part,
        repeat_with=_repeat_with(order),
        scores=score.profiles(results),
        levels=score.levels(results, active, clauses),
    )


class _Failures:
    """Asks for the end of a run once so many results were neither good nor known."""

    def __init__(self, most: int | None, listed: Sequence[Known], stop: Stop) -> None:
        self._most = most
        self._listed = listed
        self._stop = stop
        self._today = _today()
        self._ids: list[str] = []

    def count(self, result: CaseResult) -> None:
        """Take a finished case."""
        if result.outcome in GOOD or known.entry_for(result, self._listed, self._today):
            return
        self._ids.append(result.case.id)
        if self._most is not None and len(self._ids) >= self._most:
            self._stop.ask(f"{self._most} unexpected failure{'s' * (self._most > 1)}")


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def subset_line(order: Order, active: Sequence[cases.Case]) -> str:
    """Return one line on the suite when the folder has a part of it, else nothing."""
    whole = subset.whole(order.fixtures or places.fixtures())
    if whole is None:
        return ""
    name = order.selection.profile
    there = profiles.counts(case.manifest for case in active)[name]
    line = f"suite {__version__} (subset: {whole.num_cases:,} of {whole.profiles['all']:,} cases)"
    missing = whole.profiles[name] - there
    if name == "all" or not missing:
        return line
    every = f"{whole.profiles[name]:,} cases of the profile {name}"
    return f"{line}; {missing:,} of {every} are not in it"


def _ids(order: Order, active: Sequence[cases.Case]) -> Sequence[str]:
    """Return the ids of the suite: those of the whole one where the folder has a subset."""
    whole = subset.whole(order.fixtures or places.fixtures())
    return whole.ids if whole is not None else [case.id for case in active]


def _collect(
    order: Order,
    chosen: Sequence[cases.Case],
    folder: Path,
    stop: Stop,
    head: Callable[[Claims], dict[str, Any]],
    failures: _Failures,
    progress: Progress | None,
) -> Collected:
    """Run the cases that are not in the journal yet; return these and the others together.

    `head` makes the header of the journal.
    """
    sessions = runner.open_sessions(order.command, folder, order.jobs, stop)
    try:
        header = head(sessions[0].claims())
        done = resumed(order.journal, header, chosen) if order.journal and order.resume else []
        past = {result.case.id for result in done}
        with Journal(order.journal, header, done) if order.journal else nullcontext() as journal:

            def tell(result: CaseResult) -> None:
                if journal is not None:
                    journal.add(result)
                if progress is not None:
                    progress(result)
                failures.count(result)

            for result in done:
                if progress is not None:
                    progress(result)
            found = runner.collect(
                sessions,
                [case for case in chosen if case.id not in past],
                stop,
                isolate=order.isolate,
                timeout=order.timeout,
                timeout_factor=order.timeout_factor,
                progress=tell,
            )
    finally:
        sessions[0].restart()
    return Collected(found.claims, [*done, *found.results], found.failure)


def _whole(
    found: Collected, chosen: Sequence[cases.Case], stop: Stop
) -> tuple[list[CaseResult], str]:
    """Return the results by id, and why some are missing: none is, unless the run was stopped.

    Where the adapter could not go on, each case that was not run has a result that says so.
    """
    results = {result.case.id: result for result in found.results}
    if found.failure is not None:
        reason = clean(str(found.failure))
        results = {case.id: runner.not_run(case, reason) for case in chosen} | results
    incomplete = ""
    if len(results) < len(chosen):
        incomplete = f"stopped by {stop.reason} after {len(results)} of {len(chosen)} cases"
    return [results[name] for name in sorted(results)], incomplete


def _repeat_with(order: Order) -> tuple[str, ...]:
    """Return the options and the adapter that one more run of a case needs."""
    folder = () if order.fixtures is None else ("--fixtures", str(order.fixtures))
    adapter = () if order.command == REFERENCE else ("--", *order.command)
    return shown_command((*folder, *adapter))


def _told(order: Order) -> dict[str, object]:
    """Return what of an order decides on its results, beside the profile."""
    chosen = {
        "only": list(order.selection.only),
        "clauses": list(order.selection.clauses),
        "levels": list(order.selection.levels),
        "kinds": list(order.selection.kinds),
        "exclude": list(order.selection.exclude),
        "ids": sorted(order.selection.ids or ()),
        "timeout": order.timeout,
        "timeout_factor": order.timeout_factor if order.timeout_factor != 1 else None,
        "isolate": order.isolate,
    }
    return {key: value for key, value in chosen.items() if value}


def exit_code(results: Sequence[runner.CaseResult], reckoning: Reckoning) -> int:
    """Return 3 when the adapter broke the protocol, 1 for surprises, 4 for a stale list, else 0."""
    if any(result.outcome == Outcome.INFRA for result in results):
        return 3
    if reckoning.unexpected:
        return 1
    return 4 if reckoning.stale else 0
