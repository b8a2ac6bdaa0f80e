"""Written output: what an implementation wrote, beside the rows that it meant.

Four questions are asked of a data file or a table: does it keep every clause, does every byte have
an owner, does the reference read what was meant, and does the oracle, where it is installed.
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
from lance_conformance.compare import first_difference
from lance_conformance.output import BadOutput, allowed, read_output
from lance_conformance.protocol import Message
from lance_conformance.scratch import scratch_folder
from lance_conformance.session import DEFAULT_LIMITS, Session

ORACLE = (sys.executable, "-m", "lance_conformance.adapters.pylance")
"""The adapter of the oracle."""

VALID, OWNED, REFERENCE = "every clause is kept", "every byte is owned", "the reference reads it"
PYLANCE = "pylance reads it"
"""The questions."""

_WITHOUT_OWNERS = (".json", ".blob")
"""Suffixes of files without a tree of owners: their bytes are text or values."""

UNREFERENCED = "unreferenced"
"""Kind of the bytes between two pieces of a file that nothing names and that are no padding."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question about an output: `wrong` says what is not as it must be."""

    question: str
    wrong: tuple[str, ...] = ()
    note: str = ""


def judge_output(output: Path, meant: Path) -> list[Answer]:
    """Return the answers about a data file or a table that should hold the rows of an Arrow file.

    Raises BadOutput where `meant` is no Arrow IPC file.
    """
    expected = read_output(meant)
    with scratch_folder() as scratch:
        answers = [
            _validity(output),
            Answer(OWNED, tuple(f"{name}: bytes {ranges[:3]}" for name, ranges in unowned(output))),
            _read_back(REFERENCE, output, expected, scratch, in_process),
        ]
        if find_spec("lance") is None:
            return [*answers, Answer(PYLANCE, note="pylance is not installed")]
        return [*answers, _read_by_oracle(output, expected, scratch)]


def unowned(output: Path) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the files of an output with bytes that nobody owns, and their ranges (start, end).

    A file of a kind that the format does not have, such as a checksum of a file system, may be
    there and is not asked.
    """
    paths = [output] if output.is_file() else sorted(output.rglob("*"))
    for path in paths:
        is_of_the_format = path.suffix == ".lance" or path.suffix in CHECKS
        if path.is_file() and is_of_the_format and path.suffix not in _WITHOUT_OWNERS:
            explained = explain(path)
            leaves = explained.root.leaves()
            ranges = explained.unowned
            ranges += [(leaf.start, leaf.end) for leaf in leaves if leaf.kind == UNREFERENCED]
            if ranges:
                name = path.name if output.is_file() else path.relative_to(output).as_posix()
                yield name, ranges


def _validity(output: Path) -> Answer:
    try:
        found = validate(output, deep=True)
    except LanceError as error:
        return Answer(VALID, (str(error),))
    wrong = tuple(f"{one.clause}: {one.message}" for one in found if one.severity == "must")
    notes = [f"{one.clause}: {one.message}" for one in found if one.severity != "must"]
    return Answer(VALID, wrong, "; ".join(notes))


def _read_back(
    question: str,
    output: Path,
    expected: pa.Table,
    scratch: Path,
    ask: Callable[[str, dict[str, object]], Message],
) -> Answer:
    op, place = ("file.read", "path") if output.is_file() else ("dataset.read", "uri")
    out = scratch / f"{question.split(maxsplit=1)[0]}.arrow"
    response = ask(op, {place: str(output.absolute()), "out": str(out)})
    if "ok" not in response:
        told = response.get("reject") or response.get("unsupported") or response
        return Answer(question, (str(told.get("message", told)),))
    try:
        difference = first_difference(expected, read_output(out, allowed(expected)))
    except BadOutput as error:
        difference = str(error)
    return Answer(question, (difference,) if difference is not None else ())


def _read_by_oracle(output: Path, expected: pa.Table, scratch: Path) -> Answer:
    """Ask the oracle in a process of its own, which may die."""
    session = Session(ORACLE, scratch / "oracle")

    def ask(op: str, fields: dict[str, object]) -> Message:
        answer = session.ask(op, fields, DEFAULT_LIMITS)
        return answer.response or {"reject": {"message": f"{answer.outcome}: {answer.detail}"}}

    try:
        return _read_back(PYLANCE, output, expected, scratch, ask)
    finally:
        session.close()
