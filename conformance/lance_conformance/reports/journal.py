"""Journal: the report while a run goes on, a line as each case is finished.

It lies where the report will lie and is replaced by it at the end. A run that ended early leaves
it, or its incomplete report, and another takes the results from there.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import Any

from lance_conformance.cases import Case
from lance_conformance.failures import Failure
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.reports import jsonl
from lance_conformance.reports.files import REPORT, TIMINGS, ReportFailed, put, timing
from lance_conformance.runner import CaseResult, CheckResult

UNFINISHED = "the run did not end"
"""What the header says while cases are still judged."""

CUT_OFF = "its last line is missing"

SAME = ("suite", "subset", "profile", "selection", "implementation", "capabilities")
"""What must be equal in the headers of a report and of the run that goes on with it."""


class CannotResume(Failure):
    """A report is not one of the same run; the text says how it differs."""


class Journal:
    """The lines of a run, each written out at once.

    Raises ReportFailed when one cannot be written, as when the disk is full.
    """

    def __init__(
        self, folder: Path, header: Mapping[str, Any], done: Iterable[CaseResult] = ()
    ) -> None:
        kept = list(done)
        self._folder = folder
        self._lock = threading.Lock()
        with self._failing():
            folder.mkdir(parents=True, exist_ok=True)
            put(folder / REPORT, jsonl.line(header) + "".join(map(_line, kept)))
            put(folder / TIMINGS, "".join(map(_timings, kept)))
            self._report = (folder / REPORT).open("ab", buffering=0)
            self._timings = (folder / TIMINGS).open("ab", buffering=0)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._report.close()
        self._timings.close()

    def add(self, result: CaseResult) -> None:
        """Write the lines of a finished case."""
        with self._lock, self._failing():
            _write(self._timings, _timings(result))
            _write(self._report, _line(result))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ReportFailed(f"no report can be written to {self._folder}: {error}") from error


def resumed(folder: Path, header: Mapping[str, Any], cases: Sequence[Case]) -> list[CaseResult]:
    """Return the results that a folder's report holds; none when there is no report.

    A case that ended as `infra` has no verdict and is left out. Raises CannotResume.
    """
    path = folder / REPORT
    if not path.exists():
        return []
    first, *told = _objects(path)
    wanted = json.loads(jsonl.line(header))
    for key in SAME:
        if first.get(key) != wanted.get(key):
            raise CannotResume(f"{path} is of another run: its {key} is {_shown(first.get(key))}")
    seconds = _seconds(folder / TIMINGS)
    chosen = {case.id: case for case in cases}
    found = {}
    for item in told:
        if item.get("type") != "case" or item["outcome"] == Outcome.INFRA:
            continue
        if item["id"] not in chosen:
            raise CannotResume(f"{path} holds a case that is not selected: {_shown(item['id'])}")
        found[item["id"]] = _result(chosen[item["id"]], item, seconds)
    return list(found.values())


def outcomes(path: Path) -> dict[str, Outcome]:
    """Return the outcome of each case of a report, by id; `path` is it or its folder.

    Raises CannotResume where it is no report.
    """
    with _reading(path):
        return {str(one["id"]): Outcome(one["outcome"]) for one in _cases(path)}


def unfinished(path: Path) -> str:
    """Return why a report lacks cases, nothing where it does not. Raises likewise."""
    with _reading(path):
        told = _all(path)
        whole = told[-1].get("type") == "footer"
        return str(told[0].get("incomplete", "" if whole else CUT_OFF))


def results(path: Path, cases: Iterable[Case]) -> dict[str, CaseResult]:
    """Return the results that a report has of some cases, by id. Raises likewise."""
    chosen = {case.id: case for case in cases}
    with _reading(path):
        told = [one for one in _cases(path) if one["id"] in chosen]
        return {one["id"]: _result(chosen[one["id"]], one, {}) for one in told}


def _cases(path: Path) -> list[dict[str, Any]]:
    return [item for item in _all(path) if item.get("type") == "case"]


def _all(path: Path) -> list[dict[str, Any]]:
    file = path / REPORT if path.is_dir() else path
    if not file.is_file():
        raise CannotResume(f"{path} has no {REPORT}")
    return _objects(file)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise CannotResume(f"{path} is not a report: {error}") from error


def _objects(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal; the last one may be cut off."""
    *whole, _cut_off = path.read_text("utf-8", "replace").split("\n")
    try:
        objects = [json.loads(text) for text in whole]
    except ValueError as error:
        raise CannotResume(f"{path} is not a report: {error}") from error
    if not objects or not all(isinstance(one, dict) for one in objects):
        raise CannotResume(f"{path} is not a report: it has no header")
    return objects


def _seconds(path: Path) -> dict[tuple[str, str], float]:
    if not path.exists():
        return {}
    told = _objects(path) if path.stat().st_size else []
    return {(one["id"], one["check"]): one["seconds"] for one in told}


def _result(
    case: Case, item: Mapping[str, Any], seconds: Mapping[tuple[str, str], float]
) -> CaseResult:
    """Return the result that a line of the report was made of."""
    checks, stderr = [], item.get("stderr_tail", "")
    for one in item["checks"]:
        outcome = Outcome(one["outcome"])
        own, stderr = (stderr, "") if outcome not in GOOD else ("", stderr)
        name, reject = one["name"], dict(one.get("reject", {}))
        took = seconds.get((case.id, name), 0.0)
        checks.append(CheckResult(name, outcome, one.get("detail", ""), own, reject, took))
    return CaseResult(case, Outcome(item["outcome"]), tuple(checks), item["detail"])


def _write(file: RawIOBase, text: str) -> None:
    """Write a text at once: what is written of it does not wait in this process."""
    rest = memoryview(text.encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[file.write(rest) or 0 :]


def _line(result: CaseResult) -> str:
    return jsonl.line(jsonl.case_object(result))


def _timings(result: CaseResult) -> str:
    return "".join(timing(result.case.id, c.name, c.seconds) for c in result.checks)


def _shown(value: object) -> str:
    return json.dumps(value)[:200]
