"""Runner: sends the checks of each case to an adapter and collects the results.

Each case gets a fresh folder below the scratch directory, with a copy of its input under a name
that says nothing; the copy is compared with the input afterwards. A case that cost the process is
run once more, alone in a fresh one.
"""

from __future__ import annotations

import hashlib
import queue
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from lance_conformance.acting import act
from lance_conformance.cases import Case
from lance_conformance.checks import READING, Check, alternative, expand
from lance_conformance.judge import Verdict, judge
from lance_conformance.outcomes import DEATHS, GOOD, Outcome, worst
from lance_conformance.requirements import missing
from lance_conformance.session import Answer, Claims, Session
from lance_conformance.volatile import steady


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
    def stderr(self) -> str:
        """What the adapter wrote during the checks that went wrong."""
        return "".join(check.stderr for check in self.checks if check.outcome not in GOOD)


Progress = Callable[[CaseResult], None]
"""Called with each result as it comes."""


class Worker:
    """One session and the cases it is given."""

    def __init__(self, session: Session, *, isolate: bool = False) -> None:
        self.session = session
        self._isolate = isolate
        self._num_requests = 0

    def run(self, case: Case) -> CaseResult:
        """Run a case; once more alone if it cost the process."""
        if self._isolate:
            self.session.restart()
        result = self._attempt(case)
        if result.outcome not in DEATHS:
            return result
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
        if case.has_steps:
            return _conclude(case, claims, self._act(case, claims))
        results: list[CheckResult] = []
        for check in expand(case, claims):
            results.append(self._check(case, check))
            if results[-1].outcome in DEATHS | {Outcome.INFRA}:
                break
        return _conclude(case, claims, results)

    def _act(self, case: Case, claims: Claims) -> list[CheckResult]:
        """Take the steps of a case: its first actor is this session, each other one its own."""
        folder = self._folder()
        given = copy_input(case.input_root, folder)
        sessions: dict[str, Session] = {}

        def ask(actor: str, op: str, fields: Mapping[str, object]) -> Answer:
            if actor not in sessions:
                new = self.session.another(f"actor{len(sessions)}") if sessions else self.session
                sessions[actor] = new
            return sessions[actor].ask(op, fields, case.limits)

        try:
            return [
                self._result(acted.name, acted.verdict, acted.answer, 0.0)
                for acted in act(case, alternative(case, claims), given, ask)
            ]
        finally:
            for session in sessions.values():
                if session is not self.session:
                    session.close()
            shutil.rmtree(folder)

    def _folder(self) -> Path:
        """Make a fresh folder, whose name says nothing."""
        self._num_requests += 1
        folder = self.session.scratch / str(self._num_requests)
        folder.mkdir(parents=True)
        return folder

    def _check(self, case: Case, check: Check) -> CheckResult:
        folder = self._folder()
        given = copy_input(case.input_root, folder)
        before = _digest(given)
        out = folder / "out.arrow"
        fields: dict[str, object] = {"uri" if given.is_dir() else "path": str(given), **check.args}
        if check.op in READING:
            fields["out"] = str(out)
        begin = time.perf_counter()
        answer = self.session.ask(check.op, fields, case.limits)
        seconds = time.perf_counter() - begin
        verdict = self._verdict(case, check, answer, out)
        changed = _digest(given) != before
        if changed and worst((verdict.outcome, Outcome.INPUT_MODIFIED)) != verdict.outcome:
            verdict = Verdict(Outcome.INPUT_MODIFIED, "the copy of the input is not what it was")
        shutil.rmtree(folder)
        return self._result(check.name, verdict, answer, seconds)

    def _result(self, name: str, verdict: Verdict, answer: Answer, seconds: float) -> CheckResult:
        reject = dict((answer.response or {}).get("reject", {}))
        detail, stderr = self._clean(verdict.detail), self._clean(answer.stderr)
        reject = {key: self._clean(str(value)) for key, value in reject.items()}
        return CheckResult(name, verdict.outcome, detail, stderr, reject, seconds)

    def _verdict(self, case: Case, check: Check, answer: Answer, out: Path) -> Verdict:
        if answer.response is None:
            return Verdict(answer.outcome, answer.detail)
        return judge(case, check, answer.response, out)

    def _clean(self, text: str) -> str:
        return steady(text, self.session.scratch)


def _conclude(case: Case, claims: Claims, results: list[CheckResult]) -> CaseResult:
    outcome = worst(result.outcome for result in results)
    detail = next((r.detail for r in results if r.outcome == outcome), "")
    if case.kind == "lint" and outcome == Outcome.PASS and "validate" not in claims.capabilities:
        told = "reads as it should; not claimed: operation validate"
        return CaseResult(case, Outcome.UNSUPPORTED, tuple(results), told)
    if (
        case.is_negative
        and outcome == Outcome.ACCEPTS_INVALID
        and results[0].outcome == Outcome.PASS
    ):
        detail = f"refused when read, but {detail}"
    return CaseResult(case, outcome, tuple(results), detail)


def run(
    command: Sequence[str],
    cases: Sequence[Case],
    scratch: Path,
    *,
    jobs: int = 1,
    isolate: bool = False,
    progress: Progress | None = None,
) -> tuple[Claims, list[CaseResult]]:
    """Run cases with `jobs` adapters; return what the adapter claims and the results by id."""
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    sessions = [Session(command, scratch / f"w{number}") for number in range(jobs)]
    claims = sessions[0].claims()

    def work(session: Session) -> list[CaseResult]:
        worker, results = Worker(session, isolate=isolate), []
        try:
            while (case := _next(waiting)) is not None:
                results.append(worker.run(case))
                if progress is not None:
                    progress(results[-1])
            session.close()
        finally:
            session.restart()
            while _next(waiting) is not None:
                pass  # after a failure the other workers stop too
        return results

    with ThreadPoolExecutor(jobs) as executor:
        futures = [executor.submit(work, session) for session in sessions]
    results = [result for future in futures for result in future.result()]
    return claims, sorted(results, key=lambda result: result.case.id)


def _next(waiting: queue.SimpleQueue[Case]) -> Case | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def copy_input(source: Path, folder: Path) -> Path:
    """Copy the input of a case below `folder` under a neutral name; return the copy.

    A table that is still to be made has a place and no folder.
    """
    if not source.exists():
        return folder / "table.lance"
    if source.is_dir():
        return Path(shutil.copytree(source, folder / "table.lance"))
    return Path(shutil.copyfile(source, folder / "input.lance"))


def _digest(path: Path) -> str:
    """Return a hash over names and contents."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(path.parent)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
