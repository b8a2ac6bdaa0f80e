"""One run of the suite: selection of cases, judging an adapter, comparison with known failures."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lance_conformance import __version__, resources
from lance_conformance.judging import known_failures, runner
from lance_conformance.judging.known_failures import KnownFailure, Triage
from lance_conformance.judging.runner import CaseResult, Progress, RunResults
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.protocol.cancellation import CancelToken
from lance_conformance.protocol.scratch import scratch_folder
from lance_conformance.protocol.session import Claims
from lance_conformance.reports import jsonl, score
from lance_conformance.reports.journal import UNFINISHED, Journal, resume
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.rerun import shown_command
from lance_conformance.specification import register
from lance_conformance.suite import cases, profiles, subset
from lance_conformance.suite.cases import Selection
from lance_conformance.untrusted_text import printable

REFERENCE = (sys.executable, "-m", "lance_conformance.adapters.reference")
"""The default adapter."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run.

    `journal` is the folder to which finished cases are written; `resume` reuses those in it.
    `timeout` replaces the seconds that cases allow for a request, `timeout_factor` multiplies them;
    `max_failures` unexpected results end the run.
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


CaseSelection = tuple[list[cases.Case], list[cases.Case]]
"""The active cases of the suite, and those of a selection."""


def select_cases(options: RunOptions) -> CaseSelection:
    """Return the active cases of the suite, and the selected ones."""
    every = cases.load(options.fixtures)
    return [case for case in every if case.is_active], cases.select(every, options.selection)


def run_suite(
    options: RunOptions,
    progress: Progress | None = None,
    stop: CancelToken | None = None,
    choice: CaseSelection | None = None,
) -> Run:
    """Run the selected cases, with a journal if a folder is given.

    `choice` is the result of `select_cases`, if already known. A cancelled run is incomplete.
    Raises AdapterUnusable, CannotResume, CaseError, KnownError, ResourceMissing; Cancelled before
    the adapter has answered `hello`.
    """
    if stop is None:
        with CancelToken() as own:
            return run_suite(options, progress, own, choice)
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    known = known_failures.load(options.known) if options.known is not None else []
    active, chosen = choice or select_cases(options)
    subset_text = describe_subset(options, active)
    with scratch_folder() as folder:
        make_header = partial(
            jsonl.header,
            profile=options.selection.profile,
            selection=_selection_fields(options),
            started=started,
            incomplete=UNFINISHED,
            subset=subset_text,
        )
        limit = _FailureLimit(options.max_failures, known, stop)
        finished = _run_remaining(options, chosen, folder, stop, make_header, limit, progress)
    results, incomplete = _complete_results(finished, chosen, stop)
    clauses = register.load()
    triage = known_failures.triage(results, known, _suite_ids(options, active), _today(), clauses)
    code = 128 + stop.signal if incomplete and stop.signal else exit_code(results, triage)
    return Run(
        claims=finished.claims,
        results=results,
        triage=triage,
        active=active,
        register=clauses,
        profile=options.selection.profile,
        started=started,
        exit_code=code,
        selection=_selection_fields(options),
        incomplete=incomplete,
        subset=subset_text,
        repeat_with=_repeat_with(options),
        scores=score.profiles(results),
        levels=score.levels(results, active, clauses),
    )


class _FailureLimit:
    """Cancels a run after a maximum number of unexpected failures."""

    def __init__(self, most: int | None, listed: Sequence[KnownFailure], stop: CancelToken) -> None:
        self._most = most
        self._listed = listed
        self._stop = stop
        self._today = _today()
        self._ids: list[str] = []

    def count(self, result: CaseResult) -> None:
        """Count a finished case."""
        if result.outcome in GOOD or known_failures.matching_entry(
            result, self._listed, self._today
        ):
            return
        self._ids.append(result.case.id)
        if self._most is not None and len(self._ids) >= self._most:
            self._stop.cancel(f"{self._most} unexpected failure{'s' * (self._most > 1)}")


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def describe_subset(options: RunOptions, active: Sequence[cases.Case]) -> str:
    """Return a line about the subset of the suite in the folder, empty for the full suite."""
    whole = subset.full_suite(options.fixtures or resources.fixtures())
    if whole is None:
        return ""
    name = options.selection.profile
    present = profiles.counts(case.manifest for case in active)[name]
    line = f"suite {__version__} (subset: {whole.num_cases:,} of {whole.profiles['all']:,} cases)"
    missing = whole.profiles[name] - present
    if name == "all" or not missing:
        return line
    expected = f"{whole.profiles[name]:,} cases of the profile {name}"
    return f"{line}; {missing:,} of {expected} are not in it"


def _suite_ids(options: RunOptions, active: Sequence[cases.Case]) -> Sequence[str]:
    """Return all ids of the suite, also where the folder has a subset."""
    whole = subset.full_suite(options.fixtures or resources.fixtures())
    return whole.ids if whole is not None else [case.id for case in active]


def _run_remaining(
    options: RunOptions,
    chosen: Sequence[cases.Case],
    folder: Path,
    stop: CancelToken,
    make_header: Callable[[Claims], dict[str, Any]],
    failures: _FailureLimit,
    progress: Progress | None,
) -> RunResults:
    """Run the cases that are not in the journal yet; return all results.

    `head` builds the header of the journal.
    """
    sessions = runner.open_sessions(options.command, folder, options.jobs, stop)
    try:
        header = make_header(sessions[0].claims())
        done = resume(options.journal, header, chosen) if options.journal and options.resume else []
        done_ids = {result.case.id for result in done}
        with (
            Journal(options.journal, header, done) if options.journal else nullcontext() as journal
        ):

            def on_result(result: CaseResult) -> None:
                if journal is not None:
                    journal.add(result)
                if progress is not None:
                    progress(result)
                failures.count(result)

            for result in done:
                if progress is not None:
                    progress(result)
            found = runner.run_cases(
                sessions,
                [case for case in chosen if case.id not in done_ids],
                stop,
                isolate=options.isolate,
                timeout=options.timeout,
                timeout_factor=options.timeout_factor,
                progress=on_result,
            )
    finally:
        sessions[0].restart()
    return RunResults(found.claims, [*done, *found.results], found.failure)


def _complete_results(
    found: RunResults, chosen: Sequence[cases.Case], stop: CancelToken
) -> tuple[list[CaseResult], str]:
    """Return the results by id, and the reason why some are missing, if the run was cancelled.

    If the adapter became unusable, each remaining case has a result of outcome `infra`.
    """
    results = {result.case.id: result for result in found.results}
    if found.failure is not None:
        reason = printable(str(found.failure))
        results = {case.id: runner.not_run(case, reason) for case in chosen} | results
    incomplete = ""
    if len(results) < len(chosen):
        incomplete = f"stopped by {stop.reason} after {len(results)} of {len(chosen)} cases"
    return [results[name] for name in sorted(results)], incomplete


def _repeat_with(options: RunOptions) -> tuple[str, ...]:
    """Return the options and the adapter command that repeat a run of a case."""
    folder = () if options.fixtures is None else ("--fixtures", str(options.fixtures))
    adapter = () if options.command == REFERENCE else ("--", *options.command)
    return shown_command((*folder, *adapter))


def _selection_fields(options: RunOptions) -> dict[str, object]:
    """Return the options that affect the results, without the profile."""
    chosen = {
        "only": list(options.selection.only),
        "clauses": list(options.selection.clauses),
        "levels": list(options.selection.levels),
        "kinds": list(options.selection.kinds),
        "exclude": list(options.selection.exclude),
        "ids": sorted(options.selection.ids or ()),
        "timeout": options.timeout,
        "timeout_factor": options.timeout_factor if options.timeout_factor != 1 else None,
        "isolate": options.isolate,
    }
    return {key: value for key, value in chosen.items() if value}


def exit_code(results: Sequence[runner.CaseResult], triage: Triage) -> int:
    """Return 3 for a protocol violation, 1 for unexpected outcomes, 4 for a stale list, else 0."""
    if any(result.outcome == Outcome.INFRA for result in results):
        return 3
    if triage.unexpected:
        return 1
    return 4 if triage.stale else 0
