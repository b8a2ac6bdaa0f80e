"""Journal: the report during a run, with a line for each finished case.

It has the path of the report and is replaced by it at the end. A run that ended early leaves it, or
an incomplete report, from which another run resumes.
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

from lance_conformance.command_error import CommandError
from lance_conformance.judging.runner import CaseResult, CheckResult
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.reports import jsonl
from lance_conformance.reports.files import (
    REPORT,
    TIMINGS,
    ReportFailed,
    timing_line,
    write_atomically,
)
from lance_conformance.suite.cases import Case

UNFINISHED = "the run did not end"
"""Reason in the header while the run is unfinished."""

LAST_LINE_MISSING = "its last line is missing"

RESUME_FIELDS = ("suite", "subset", "profile", "selection", "implementation", "capabilities")
"""Header fields that must be equal for a run to resume a report."""


class CannotResume(CommandError):
    """A report is not of the same run; the message states the difference."""


class Journal:
    """Writes the lines of a run, unbuffered.

    Raises ReportFailed when a line cannot be written, for example when the disk is full.
    """

    def __init__(
        self, folder: Path, header: Mapping[str, Any], done: Iterable[CaseResult] = ()
    ) -> None:
        finished = list(done)
        self._folder = folder
        self._lock = threading.Lock()
        with self._report_errors():
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(
                folder / REPORT, jsonl.line(header) + "".join(map(_case_line, finished))
            )
            write_atomically(folder / TIMINGS, "".join(map(_timings, finished)))
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
        with self._lock, self._report_errors():
            _write_all(self._timings, _timings(result))
            _write_all(self._report, _case_line(result))

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ReportFailed(f"no report can be written to {self._folder}: {error}") from error


def resume(folder: Path, header: Mapping[str, Any], cases: Sequence[Case]) -> list[CaseResult]:
    """Return the results in a folder's report; none when there is no report.

    Cases of outcome `infra` have no verdict and are omitted. Raises CannotResume.
    """
    path = folder / REPORT
    if not path.exists():
        return []
    previous, *entries = _parse_lines(path)
    current = json.loads(jsonl.line(header))
    for key in RESUME_FIELDS:
        if previous.get(key) != current.get(key):
            raise CannotResume(
                f"{path} is of another run: its {key} is {_json_text(previous.get(key))}"
            )
    seconds = _seconds(folder / TIMINGS)
    chosen = {case.id: case for case in cases}
    found = {}
    for item in entries:
        if item.get("type") != "case" or item["outcome"] == Outcome.INFRA:
            continue
        if item["id"] not in chosen:
            raise CannotResume(f"{path} has a case that is not selected: {_json_text(item['id'])}")
        found[item["id"]] = _result(chosen[item["id"]], item, seconds)
    return list(found.values())


def outcomes(path: Path) -> dict[str, Outcome]:
    """Return the outcome of each case of a report by id; `path` is the report or its folder.

    Raises CannotResume where it is not a report.
    """
    with _reading(path):
        return {str(one["id"]): Outcome(one["outcome"]) for one in _case_lines(path)}


def incomplete_reason(path: Path) -> str:
    """Return why a report is incomplete, empty if it is not. Raises CannotResume."""
    with _reading(path):
        lines = _report_lines(path)
        is_complete = lines[-1].get("type") == "footer"
        return str(lines[0].get("incomplete", "" if is_complete else LAST_LINE_MISSING))


def results(path: Path, cases: Iterable[Case]) -> dict[str, CaseResult]:
    """Return the results of some cases in a report by id. Raises CannotResume."""
    chosen = {case.id: case for case in cases}
    with _reading(path):
        entries = [one for one in _case_lines(path) if one["id"] in chosen]
        return {one["id"]: _result(chosen[one["id"]], one, {}) for one in entries}


def _case_lines(path: Path) -> list[dict[str, Any]]:
    return [item for item in _report_lines(path) if item.get("type") == "case"]


def _report_lines(path: Path) -> list[dict[str, Any]]:
    file = path / REPORT if path.is_dir() else path
    if not file.is_file():
        raise CannotResume(f"{path} has no {REPORT}")
    return _parse_lines(file)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise CannotResume(f"{path} is not a report: {error}") from error


def _parse_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a journal; its last line may be truncated."""
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
    timings = _parse_lines(path) if path.stat().st_size else []
    return {(one["id"], one["check"]): one["seconds"] for one in timings}


def _result(
    case: Case, item: Mapping[str, Any], seconds: Mapping[tuple[str, str], float]
) -> CaseResult:
    """Return the result of a line of the report."""
    checks, stderr = [], item.get("stderr_tail", "")
    for one in item["checks"]:
        outcome = Outcome(one["outcome"])
        own, stderr = (stderr, "") if outcome not in GOOD else ("", stderr)
        name, reject = one["name"], dict(one.get("reject", {}))
        took = seconds.get((case.id, name), 0.0)
        checks.append(CheckResult(name, outcome, one.get("detail", ""), own, reject, took))
    return CaseResult(case, Outcome(item["outcome"]), tuple(checks), item["detail"])


def _write_all(file: RawIOBase, text: str) -> None:
    """Write a text completely, without buffering."""
    rest = memoryview(text.encode("utf-8", "backslashreplace"))
    while rest:
        rest = rest[file.write(rest) or 0 :]


def _case_line(result: CaseResult) -> str:
    return jsonl.line(jsonl.case_entry(result))


def _timings(result: CaseResult) -> str:
    return "".join(timing_line(result.case.id, c.name, c.seconds) for c in result.checks)


def _json_text(value: object) -> str:
    return json.dumps(value)[:200]
