"""Runner: sends the checks of each case to an adapter and collects the results.

Each case gets a fresh folder below the scratch directory, with a copy of its input under a name
that says nothing; the copy is compared with the input after each check, and made anew when it
was changed. A case that cost the process is
run once more, alone in a fresh one. An adapter that cannot be started again, or that only loses
time, ends the run: the other cases are not run.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from lance_conformance.cases import Case
from lance_conformance.checks import READING, VALIDATE, Check, alternative, expand
from lance_conformance.inputs import Snapshot, copy_input, is_unchanged, snapshot
from lance_conformance.judge import Verdict, judge
from lance_conformance.outcomes import DEATHS, GOOD, Outcome, worst
from lance_conformance.outside_text import MAX_TEXT, clean, shortened
from lance_conformance.requirements import missing
from lance_conformance.scratch import fresh_folder, remove
from lance_conformance.session import AdapterUnusable, Answer, Claims, Limits, Session
from lance_conformance.stop import Stop, Stopped
from lance_conformance.volatile import steady

LOST_SECONDS = 600.0
"""Time that cases in a row may cost which each ended the process, before the run is given up."""

NOT_RUN = "not run: "
"""How the detail of a case begins that the adapter was never asked about."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Verdict on one check; `reject` is how the adapter refused, if it did."""

    name: str
    outcome: Outcome
    detail: str = ""
    stderr: str = ""
    reject: dict[str, str] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Outcome of one case: that of its worst check."""

    case: Case
    outcome: Outcome
    checks: tuple[CheckResult, ...] = ()
    detail: str = ""

    @property
    def read(self) -> Outcome:
        """The outcome of the case apart from what `validate` answered."""
        others = [check.outcome for check in self.checks if check.name != VALIDATE]
        if self.outcome == Outcome.UNSUPPORTED or not self.checks:
            return self.outcome
        return worst(others) if others else Outcome.UNSUPPORTED

    @property
    def stderr(self) -> str:
        """What the adapter wrote during the checks that went wrong."""
        return "".join(check.stderr for check in self.checks if check.outcome not in GOOD)


Progress = Callable[[CaseResult], None]
"""Called with each result as it comes."""


class Worker:
    """One session and the cases it is given."""

    def __init__(
        self,
        session: Session,
        *,
        isolate: bool = False,
        timeout: float | None = None,
        timeout_factor: float = 1.0,
    ) -> None:
        self.session = session
        self._isolate = isolate
        self._timeout = timeout
        self._timeout_factor = timeout_factor
        self._num_requests = 0
        self._lost = 0.0

    def run(self, case: Case) -> CaseResult:
        """Run a case; once more alone if it cost the process.

        Raises AdapterUnusable when it cannot be started, or has only lost time for long, and
        Stopped when the end of the run is asked for.
        """
        if self._lost > LOST_SECONDS:
            raise AdapterUnusable(f"the last cases cost the process and {self._lost:.0f} s")
        if self._isolate:
            self.session.restart()
        begin = time.perf_counter()
        result = self._attempt(case)
        if result.outcome not in DEATHS:
            self._lost = 0.0
            return result
        result = self._again(case, result)
        self._lost += time.perf_counter() - begin
        return result

    def _again(self, case: Case, result: CaseResult) -> CaseResult:
        self.session.restart()
        again = self._attempt(case)
        self.session.restart()
        if again.outcome == Outcome.PASS:
            return replace(result, outcome=Outcome.FLAKY_CRASH)
        return result

    def _attempt(self, case: Case) -> CaseResult:
        claims = self.session.claims()
        lacking = missing(case, claims)
        if lacking is not None:
            return CaseResult(case, Outcome.UNSUPPORTED, (), f"not claimed: {lacking}")
        try:
            if case.has_steps:
                return _conclude(case, claims, self._act(case, claims))
            return _conclude(case, claims, self._ask(case, claims))
        except OSError as error:
            told = self._clean(f"the scratch folder cannot be used: {error}")
            return CaseResult(case, Outcome.INFRA, (), told)

    def _act(self, case: Case, claims: Claims) -> list[CheckResult]:
        """Take the steps of a case: its first actor is this session, each other one its own."""
        from lance_conformance.acting import act  # most runs take no step: it needs the reference

        folder = self._folder()
        given = copy_input(case.input_root, folder)
        sessions: dict[str, Session] = {}

        def ask(actor: str, op: str, fields: Mapping[str, object]) -> Answer:
            if actor not in sessions:
                new = self.session.another(f"actor{len(sessions)}") if sessions else self.session
                sessions[actor] = new
            return sessions[actor].ask(op, fields, self._limits(case))

        try:
            return [
                self._result(acted.name, acted.verdict, acted.answer, 0.0)
                for acted in act(case, alternative(case, claims), given, ask)
            ]
        finally:
            for session in sessions.values():
                if session is not self.session:
                    session.close()
            remove(folder)

    def _folder(self) -> Path:
        """Make a fresh folder, whose name says nothing."""
        self._num_requests += 1
        return fresh_folder(self.session.scratch, str(self._num_requests))

    def _limits(self, case: Case) -> Limits:
        seconds = case.limits.seconds if self._timeout is None else self._timeout
        return replace(case.limits, seconds=seconds * self._timeout_factor)

    def _ask(self, case: Case, claims: Claims) -> list[CheckResult]:
        """Make the checks of a case on one copy of its input, until one ends the process."""
        results: list[CheckResult] = []
        folder, given, before = self._copy(case)
        try:
            for check in expand(case, claims):
                out = folder / f"{check.name}.arrow"
                result = self._check(case, check, given, out)
                if not is_unchanged(given, before):
                    result = _with_changed_input(result)
                    remove(folder)
                    folder, given, before = self._copy(case)
                results.append(result)
                if result.outcome in DEATHS | {Outcome.INFRA}:
                    break
        finally:
            remove(folder)
        return results

    def _copy(self, case: Case) -> tuple[Path, Path, Snapshot]:
        """Return a fresh folder, the copy of a case's input in it, and what that holds."""
        folder = self._folder()
        given = copy_input(case.input_root, folder)
        return folder, given, snapshot(given)

    def _check(self, case: Case, check: Check, given: Path, out: Path) -> CheckResult:
        fields: dict[str, object] = {
            "uri" if "uri" in case.manifest["input"] else "path": str(given)
        }
        fields |= check.args
        if check.op in READING:
            fields["out"] = str(out)
        begin = time.perf_counter()
        answer = self.session.ask(check.op, fields, self._limits(case))
        seconds = time.perf_counter() - begin
        return self._result(check.name, self._verdict(case, check, answer, out), answer, seconds)

    def _result(self, name: str, verdict: Verdict, answer: Answer, seconds: float) -> CheckResult:
        reject = dict((answer.response or {}).get("reject", {}))
        detail, stderr = self._clean(verdict.detail), self._clean(answer.stderr[-MAX_TEXT:])
        reject = {key: self._clean(str(value)) for key, value in reject.items()}
        return CheckResult(name, verdict.outcome, detail, stderr, reject, seconds)

    def _verdict(self, case: Case, check: Check, answer: Answer, out: Path) -> Verdict:
        if answer.response is None:
            return Verdict(answer.outcome, answer.detail)
        return judge(case, check, answer.response, out)

    def _clean(self, text: str) -> str:
        return shortened(clean(steady(text, self.session.scratch)), MAX_TEXT)


def _with_changed_input(result: CheckResult) -> CheckResult:
    """Return a result after which the copy of the input is not what it was."""
    if worst((result.outcome, Outcome.INPUT_MODIFIED)) == result.outcome:
        return result
    changed = "the copy of the input is not what it was"
    return replace(result, outcome=Outcome.INPUT_MODIFIED, detail=changed)


def _conclude(case: Case, claims: Claims, results: list[CheckResult]) -> CaseResult:
    outcome = worst(result.outcome for result in results)
    detail = next((r.detail for r in results if r.outcome == outcome), "")
    if case.kind == "lint" and outcome == Outcome.PASS and VALIDATE not in claims.capabilities:
        done = "refused, as it may be" if any(r.reject for r in results) else "reads as it should"
        told = f"{done}; not claimed: operation validate"
        return CaseResult(case, Outcome.UNSUPPORTED, tuple(results), told)
    if (
        case.is_negative
        and outcome == Outcome.ACCEPTS_INVALID
        and results[0].outcome == Outcome.PASS
    ):
        detail = f"{'refused' if results[0].reject else 'right'} when read, but {detail}"
    return CaseResult(case, outcome, tuple(results), detail)


@dataclass(slots=True)
class Collected:
    """What a run came to: results by id; `failure` says why the other cases were not run."""

    claims: Claims
    results: list[CaseResult]
    failure: AdapterUnusable | None = None


def run(
    command: Sequence[str],
    cases: Sequence[Case],
    scratch: Path,
    *,
    jobs: int = 1,
    isolate: bool = False,
    progress: Progress | None = None,
) -> tuple[Claims, list[CaseResult]]:
    """Run cases with `jobs` adapters; return what the adapter claims and the results by id.

    Raises AdapterUnusable.
    """
    with Stop() as stop:
        sessions = open_sessions(command, scratch, jobs, stop)
        found = collect(sessions, cases, stop, isolate=isolate, progress=progress)
    if found.failure is not None:
        raise found.failure
    return found.claims, found.results


def open_sessions(command: Sequence[str], scratch: Path, jobs: int, stop: Stop) -> list[Session]:
    """Return `jobs` sessions with an adapter, each with a scratch folder of its own."""
    return [Session(command, scratch / f"w{number}", stop=stop) for number in range(jobs)]


def collect(
    sessions: Sequence[Session],
    cases: Sequence[Case],
    stop: Stop,
    *,
    isolate: bool = False,
    timeout: float | None = None,
    timeout_factor: float = 1.0,
    progress: Progress | None = None,
) -> Collected:
    """Run cases until all are done, the stop is asked for, or the adapter cannot go on.

    Raises AdapterUnusable when the adapter does not even greet.
    """
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    found = Collected(sessions[0].claims(), [])

    def work(session: Session) -> None:
        worker = Worker(session, isolate=isolate, timeout=timeout, timeout_factor=timeout_factor)
        try:
            while not stop and (case := _next(waiting)) is not None:
                result = worker.run(case)
                found.results.append(result)
                if progress is not None:
                    progress(result)
            session.close()
        except AdapterUnusable as error:
            found.failure = error
            stop.ask(str(error))
        except Stopped:
            pass  # the case is not finished, and is not reported
        except BaseException as error:
            stop.ask(repr(error))
            raise
        finally:
            session.restart()

    with ThreadPoolExecutor(len(sessions)) as executor:
        try:
            for future in [executor.submit(work, session) for session in sessions]:
                future.result()
        except BaseException as error:
            stop.ask(repr(error))
            raise
    found.results.sort(key=lambda result: result.case.id)
    return found


def not_run(case: Case, reason: str) -> CaseResult:
    """Return the result of a case that the adapter was never asked about."""
    return CaseResult(case, Outcome.INFRA, (), f"{NOT_RUN}{reason.splitlines()[0]}")


def _next(waiting: queue.SimpleQueue[Case]) -> Case | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None
