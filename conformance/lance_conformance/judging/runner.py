"""Runner: sends the checks of each case to an adapter and collects the results.

Each case gets a fresh folder below the scratch directory, with a copy of its input under a neutral
name; the copy is compared with the input after each check, and replaced when it has changed. A case
that ended the process is rerun once, alone in a fresh process. The run ends when the adapter cannot
be restarted or only loses time; the remaining cases are not run.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from lance_conformance.judging.checks import (
    READING,
    VALIDATE,
    Check,
    applicable_expectation,
    build_checks,
)
from lance_conformance.judging.message_normalization import normalize_message
from lance_conformance.judging.verdicts import Verdict, judge_response
from lance_conformance.outcomes import DEATHS, GOOD, Outcome, worst
from lance_conformance.protocol.cancellation import Cancelled, CancelToken
from lance_conformance.protocol.input_copy import (
    InputSnapshot,
    copy_input,
    is_unchanged,
    take_snapshot,
)
from lance_conformance.protocol.scratch import fresh_folder, remove_folder
from lance_conformance.protocol.session import (
    AdapterUnusable,
    Claims,
    Limits,
    RequestResult,
    Session,
)
from lance_conformance.suite.cases import Case
from lance_conformance.suite.requirements import missing_requirement
from lance_conformance.untrusted_text import MAX_TEXT, printable, truncated

MAX_LOST_SECONDS = 600.0
"""Total time of consecutive cases that ended the process, after which the run is aborted."""

NOT_RUN = "not run: "
"""Prefix of the detail of a case that was not sent to the adapter."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Verdict on one check; `reject` is the refusal of the adapter, if any."""

    name: str
    outcome: Outcome
    detail: str = ""
    stderr: str = ""
    reject: dict[str, str] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Outcome of one case: the worst one of its checks."""

    case: Case
    outcome: Outcome
    checks: tuple[CheckResult, ...] = ()
    detail: str = ""

    @property
    def read_outcome(self) -> Outcome:
        """The outcome of the case without its `validate` check."""
        others = [check.outcome for check in self.checks if check.name != VALIDATE]
        if self.outcome == Outcome.UNSUPPORTED or not self.checks:
            return self.outcome
        return worst(others) if others else Outcome.UNSUPPORTED

    @property
    def stderr(self) -> str:
        """Standard error of the adapter during the checks that failed."""
        return "".join(check.stderr for check in self.checks if check.outcome not in GOOD)


Progress = Callable[[CaseResult], None]
"""Called with each result."""


class Worker:
    """Runs cases in one session."""

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
        """Run a case, and rerun it alone if it ended the process.

        Raises AdapterUnusable when the adapter cannot be started or only loses time, and Cancelled
        when the run is.
        """
        if self._lost > MAX_LOST_SECONDS:
            raise AdapterUnusable(f"the last cases cost the process and {self._lost:.0f} s")
        if self._isolate:
            self.session.restart()
        begin = time.perf_counter()
        result = self._attempt(case)
        if result.outcome not in DEATHS:
            self._lost = 0.0
            return result
        result = self._rerun_alone(case, result)
        self._lost += time.perf_counter() - begin
        return result

    def _rerun_alone(self, case: Case, result: CaseResult) -> CaseResult:
        self.session.restart()
        second = self._attempt(case)
        self.session.restart()
        if second.outcome == Outcome.PASS:
            return replace(result, outcome=Outcome.FLAKY_CRASH)
        return result

    def _attempt(self, case: Case) -> CaseResult:
        claims = self.session.claims()
        unclaimed = missing_requirement(case, claims)
        if unclaimed is not None:
            return CaseResult(case, Outcome.UNSUPPORTED, (), f"not claimed: {unclaimed}")
        try:
            if case.has_steps:
                return _case_result(case, claims, self._run_scenario(case, claims))
            return _case_result(case, claims, self._run_checks(case, claims))
        except OSError as error:
            message = self._clean(f"the scratch folder cannot be used: {error}")
            return CaseResult(case, Outcome.INFRA, (), message)

    def _run_scenario(self, case: Case, claims: Claims) -> list[CheckResult]:
        """Run the steps of a case; this session is the first actor, each other has its own."""
        from lance_conformance.judging.scenario import run_scenario  # imports the whole reference

        folder = self._folder()
        table_path = copy_input(case.input_root, folder)
        sessions: dict[str, Session] = {}

        def send(actor: str, op: str, fields: Mapping[str, object]) -> RequestResult:
            if actor not in sessions:
                name = f"actor{len(sessions)}"
                sessions[actor] = self.session.new_session(name) if sessions else self.session
            return sessions[actor].request(op, fields, self._limits(case))

        try:
            steps = run_scenario(case, applicable_expectation(case, claims), table_path, send)
            return [self._result(step.name, step.verdict, step.answer, 0.0) for step in steps]
        finally:
            for session in sessions.values():
                if session is not self.session:
                    session.close()
            remove_folder(folder)

    def _folder(self) -> Path:
        """Create a fresh folder with a neutral name."""
        self._num_requests += 1
        return fresh_folder(self.session.scratch, str(self._num_requests))

    def _limits(self, case: Case) -> Limits:
        seconds = case.limits.seconds if self._timeout is None else self._timeout
        return replace(case.limits, seconds=seconds * self._timeout_factor)

    def _run_checks(self, case: Case, claims: Claims) -> list[CheckResult]:
        """Run the checks of a case on one copy of its input, until one ends the process."""
        results: list[CheckResult] = []
        folder, input_path, before = self._copy(case)
        try:
            for check in build_checks(case, claims):
                out = folder / f"{check.name}.arrow"
                result = self._check(case, check, input_path, out)
                if not is_unchanged(input_path, before):
                    result = _input_modified(result)
                    remove_folder(folder)
                    folder, input_path, before = self._copy(case)
                results.append(result)
                if result.outcome in DEATHS | {Outcome.INFRA}:
                    break
        finally:
            remove_folder(folder)
        return results

    def _copy(self, case: Case) -> tuple[Path, Path, InputSnapshot]:
        """Return a fresh folder, the copy of a case's input in it, and a snapshot of the copy."""
        folder = self._folder()
        input_path = copy_input(case.input_root, folder)
        return folder, input_path, take_snapshot(input_path)

    def _check(self, case: Case, check: Check, input_path: Path, out: Path) -> CheckResult:
        fields: dict[str, object] = {
            "uri" if "uri" in case.manifest["input"] else "path": str(input_path)
        }
        fields |= check.args
        if check.op in READING:
            fields["out"] = str(out)
        begin = time.perf_counter()
        answer = self.session.request(check.op, fields, self._limits(case))
        seconds = time.perf_counter() - begin
        return self._result(check.name, self._verdict(case, check, answer, out), answer, seconds)

    def _result(
        self, name: str, verdict: Verdict, answer: RequestResult, seconds: float
    ) -> CheckResult:
        reject = dict((answer.response or {}).get("reject", {}))
        detail, stderr = self._clean(verdict.detail), self._clean(answer.stderr[-MAX_TEXT:])
        reject = {key: self._clean(str(value)) for key, value in reject.items()}
        return CheckResult(name, verdict.outcome, detail, stderr, reject, seconds)

    def _verdict(self, case: Case, check: Check, answer: RequestResult, out: Path) -> Verdict:
        if answer.response is None:
            return Verdict(answer.outcome, answer.detail)
        return judge_response(case, check, answer.response, out)

    def _clean(self, text: str) -> str:
        return truncated(printable(normalize_message(text, self.session.scratch)), MAX_TEXT)


def _input_modified(result: CheckResult) -> CheckResult:
    """Return the result of a check after which the copy of the input has changed."""
    if worst((result.outcome, Outcome.INPUT_MODIFIED)) == result.outcome:
        return result
    changed = "the copy of the input has changed"
    return replace(result, outcome=Outcome.INPUT_MODIFIED, detail=changed)


def _case_result(case: Case, claims: Claims, results: list[CheckResult]) -> CaseResult:
    outcome = worst(result.outcome for result in results)
    detail = next((r.detail for r in results if r.outcome == outcome), "")
    if case.kind == "lint" and outcome == Outcome.PASS and VALIDATE not in claims.capabilities:
        done = "refused, as permitted" if any(r.reject for r in results) else "read correctly"
        detail = f"{done}; not claimed: operation validate"
        return CaseResult(case, Outcome.UNSUPPORTED, tuple(results), detail)
    if (
        case.is_negative
        and outcome == Outcome.ACCEPTS_INVALID
        and results[0].outcome == Outcome.PASS
    ):
        detail = f"{'refused' if results[0].reject else 'right'} when read, but {detail}"
    return CaseResult(case, outcome, tuple(results), detail)


@dataclass(slots=True)
class RunResults:
    """The results of a run by id; `failure` is the reason why other cases were not run."""

    claims: Claims
    results: list[CaseResult]
    failure: AdapterUnusable | None = None


def run_adapter(
    command: Sequence[str],
    cases: Sequence[Case],
    scratch: Path,
    *,
    jobs: int = 1,
    isolate: bool = False,
    progress: Progress | None = None,
) -> tuple[Claims, list[CaseResult]]:
    """Run cases with `jobs` adapters; return the claims of the adapter and the results by id.

    Raises AdapterUnusable.
    """
    with CancelToken() as stop:
        sessions = open_sessions(command, scratch, jobs, stop)
        finished = run_cases(sessions, cases, stop, isolate=isolate, progress=progress)
    if finished.failure is not None:
        raise finished.failure
    return finished.claims, finished.results


def open_sessions(
    command: Sequence[str], scratch: Path, jobs: int, stop: CancelToken
) -> list[Session]:
    """Return `jobs` sessions with an adapter, each with its own scratch folder."""
    return [Session(command, scratch / f"w{number}", stop=stop) for number in range(jobs)]


def run_cases(
    sessions: Sequence[Session],
    cases: Sequence[Case],
    stop: CancelToken,
    *,
    isolate: bool = False,
    timeout: float | None = None,
    timeout_factor: float = 1.0,
    progress: Progress | None = None,
) -> RunResults:
    """Run cases until all are done, the run is cancelled, or the adapter is unusable.

    Raises AdapterUnusable when the adapter does not answer `hello`.
    """
    pending: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        pending.put(case)
    finished = RunResults(sessions[0].claims(), [])

    def work(session: Session) -> None:
        worker = Worker(session, isolate=isolate, timeout=timeout, timeout_factor=timeout_factor)
        try:
            while not stop and (case := _next(pending)) is not None:
                result = worker.run(case)
                finished.results.append(result)
                if progress is not None:
                    progress(result)
            session.close()
        except AdapterUnusable as error:
            finished.failure = error
            stop.cancel(str(error))
        except Cancelled:
            pass  # an unfinished case is not reported
        except BaseException as error:
            stop.cancel(repr(error))
            raise
        finally:
            session.restart()

    with ThreadPoolExecutor(len(sessions)) as executor:
        try:
            for future in [executor.submit(work, session) for session in sessions]:
                future.result()
        except BaseException as error:
            stop.cancel(repr(error))
            raise
    finished.results.sort(key=lambda result: result.case.id)
    return finished


def not_run(case: Case, reason: str) -> CaseResult:
    """Return the result of a case that was not sent to the adapter."""
    return CaseResult(case, Outcome.INFRA, (), f"{NOT_RUN}{reason.splitlines()[0]}")


def _next(pending: queue.SimpleQueue[Case]) -> Case | None:
    try:
        return pending.get_nowait()
    except queue.Empty:
        return None
