"""The output of a writer, compared with the rows that it should contain.

A data file or a table is checked in four ways: no clause is broken, every byte has an owner, the
reference reads the expected rows, and so does the oracle, where it is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.inspection import CHECKS, explain, validate

from lance_conformance.adapters.reference import in_process
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.protocol.messages import Message
from lance_conformance.protocol.output import InvalidOutput, output_limit, read_output
from lance_conformance.protocol.scratch import scratch_folder
from lance_conformance.protocol.session import DEFAULT_LIMITS, Session

ORACLE = (sys.executable, "-m", "lance_conformance.adapters.pylance")
"""The adapter of the oracle."""

VALIDITY, OWNERSHIP, REFERENCE_READ = (
    "every clause is kept",
    "every byte is owned",
    "the reference reads it",
)
PYLANCE_READ = "pylance reads it"
"""Names of the checks."""

_NOT_EXPLAINED = (".json", ".blob")
"""Suffixes of files that `explain` does not describe: text and values."""

UNREFERENCED = "unreferenced"
"""Kind of bytes in a file that are neither referenced nor padding."""


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """The result of one check of an output; `wrong` are the problems found."""

    question: str
    wrong: tuple[str, ...] = ()
    note: str = ""


def judge_output(output: Path, expected_rows: Path) -> list[OutputCheck]:
    """Return the checks of a data file or a table that should have the rows of an Arrow file.

    Raises InvalidOutput where `meant` is not an Arrow IPC file.
    """
    expected = read_output(expected_rows)
    with scratch_folder() as scratch:
        answers = [
            _validity(output),
            OutputCheck(
                OWNERSHIP,
                tuple(f"{name}: bytes {ranges[:3]}" for name, ranges in unowned_ranges(output)),
            ),
            _read_back(REFERENCE_READ, output, expected, scratch, in_process),
        ]
        if find_spec("lance") is None:
            return [*answers, OutputCheck(PYLANCE_READ, note="pylance is not installed")]
        return [*answers, _read_by_oracle(output, expected, scratch)]


def unowned_ranges(output: Path) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the files of an output with unowned bytes, and the ranges (start, end) of these.

    Files of other kinds than those of the format, such as checksums of a file system, are ignored.
    """
    paths = [output] if output.is_file() else sorted(output.rglob("*"))
    for path in paths:
        is_of_the_format = path.suffix == ".lance" or path.suffix in CHECKS
        if path.is_file() and is_of_the_format and path.suffix not in _NOT_EXPLAINED:
            explained = explain(path)
            leaves = explained.root.leaves()
            ranges = explained.unowned
            ranges += [(leaf.start, leaf.end) for leaf in leaves if leaf.kind == UNREFERENCED]
            if ranges:
                name = path.name if output.is_file() else path.relative_to(output).as_posix()
                yield name, ranges


def _validity(output: Path) -> OutputCheck:
    try:
        found = validate(output, deep=True)
    except LanceError as error:
        return OutputCheck(VALIDITY, (str(error),))
    wrong = tuple(f"{one.clause}: {one.message}" for one in found if one.severity == "must")
    notes = [f"{one.clause}: {one.message}" for one in found if one.severity != "must"]
    return OutputCheck(VALIDITY, wrong, "; ".join(notes))


def _read_back(
    question: str,
    output: Path,
    expected: pa.Table,
    scratch: Path,
    ask: Callable[[str, dict[str, object]], Message],
) -> OutputCheck:
    op, place = ("file.read", "path") if output.is_file() else ("dataset.read", "uri")
    out = scratch / f"{question.split(maxsplit=1)[0]}.arrow"
    response = ask(op, {place: str(output.absolute()), "out": str(out)})
    if "ok" not in response:
        refusal = response.get("reject") or response.get("unsupported") or response
        return OutputCheck(question, (str(refusal.get("message", refusal)),))
    try:
        difference = first_difference(expected, read_output(out, output_limit(expected)))
    except InvalidOutput as error:
        difference = str(error)
    return OutputCheck(question, (difference,) if difference is not None else ())


def _read_by_oracle(output: Path, expected: pa.Table, scratch: Path) -> OutputCheck:
    """Read with the oracle in another process, which may die."""
    session = Session(ORACLE, scratch / "oracle")

    def ask(op: str, fields: dict[str, object]) -> Message:
        answer = session.request(op, fields, DEFAULT_LIMITS)
        return answer.response or {"reject": {"message": f"{answer.outcome}: {answer.detail}"}}

    try:
        return _read_back(PYLANCE_READ, output, expected, scratch, ask)
    finally:
        session.close()
