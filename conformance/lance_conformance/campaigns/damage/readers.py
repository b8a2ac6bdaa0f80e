"""Readers: the reference and the oracle, each asked for everything a target holds.

What a reader makes of damaged bytes is put into one class:

* `ok`: the rows of the undamaged file; `silent`: others; `silent-shape`: another number of rows, or
  another schema;
* `err`: an ordinary refusal (of the reference: a `LanceError`); `err-panic`: an ordinary exception
  whose text is a panic of the oracle;
* `panic`: an exception that should not escape: the oracle's `PanicException`, and for the reference
  everything but a `LanceError`;
* `oom`, `abort`, `hang`: the process ended without an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.context import Finding
from lanceref.core.errors import BytesError, LanceError
from lanceref.inspection import explain, validate
from pylanceref.file import LanceFileReader

from lance_conformance.adapters.server import write_table
from lance_conformance.campaigns.child import Ended, ask, start_sql
from lance_conformance.campaigns.damage.targets import Target
from lance_conformance.oracle import lance, lance_file
from lance_conformance.table_diff import first_difference

FATAL = ("panic", "oom", "abort", "hang")
"""Classes no reader may ever have."""

BLOBS = "all_binary"
"""What blobs of a dataset are read as: the bytes themselves."""


Read = Callable[[Target], pa.Table]


@dataclass(frozen=True, slots=True)
class Side:
    """One implementation: how it reads a target, and whether its errors must name all facts."""

    name: str
    read: Read
    strict: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one case: class, clause of a refusal, missing facts, text, cost.

    The clause of wrong rows is one that `validate` reports, where it was asked.
    """

    kind: str
    clause: str
    missing: str
    detail: str
    seconds: float
    peak_bytes: int


def _read(module: ModuleType, reader: Any, target: Target) -> pa.Table:
    """Read a file, or ask a dataset, by a module with the names of pylance."""
    if not target.is_dataset:
        return reader(str(target.root)).read_all().to_table()
    dataset = module.dataset(str(target.root))
    return dataset.scanner(blob_handling=BLOBS, **target.question(module, dataset)).to_table()


REFERENCE = Side("reference", partial(_read, pylanceref, LanceFileReader), strict=True)
ORACLE = Side(
    "oracle", lambda target: _read(lance(), lance_file().LanceFileReader, target), strict=False
)


def save_expected(side: Side, target: Target, path: Path) -> bool:
    """Let a child read the undamaged target and write the table to `path`, for `load_expected`.

    Returns False where the oracle cannot. Raises RuntimeError where the reference cannot.
    """

    def question() -> list[str]:
        write_table(str(path), side.read(target))
        return ["ok"]

    ended = ask(question)
    if ended.answer is None and side.strict:
        raise RuntimeError(f"{side.name} cannot read {target.id}, undamaged: {ended}")
    return ended.answer is not None


def load_expected(path: Path) -> pa.Table:
    """Return what `save_expected` wrote; no thread is started for it."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    return pa.ipc.open_file(pa.memory_map(str(path)), options=options).read_all()


def judge(side: Side, target: Target, expected: pa.Table, *, explained: bool) -> Judged:
    """Let a child read a damaged target, and classify what came of it.

    Wrong rows that are not `explained` by values nobody can check are also put to `validate`.
    """
    start = [start_sql] if side is REFERENCE and "filter" in target.asked else []
    return _judged(ask(lambda: _classified(side, target, expected, explained=explained), *start))


def _judged(ended: Ended) -> Judged:
    kind, clause, missing, detail = ended.answer or [ended.death, "", "", ended.last_words]
    return Judged(kind, clause, missing, detail, round(ended.seconds, 3), ended.peak_bytes)


def judge_inspectors(target: Target) -> Judged:
    """Let a child validate and explain a damaged file, and read it where that is refused.

    Both must end, find the same where the file stands alone, report what a reader refuses and what
    nobody owns, and name all facts: `ok`, else `panic`.
    """
    return _judged(ask(lambda: _guarded(lambda: _inspected(target), target, strict=True)))


def _inspected(target: Target) -> list[str]:
    """Return `ok`, or `panic` with what is wrong."""
    told = explain(str(target.victim))
    found = validate(target.root, deep=True)
    musts = [finding for finding in found if finding.severity == "must"]
    for finding in (*found, *told.findings):
        if lacking(finding, finding.offset) or not finding.message.strip():
            return ["panic", "", "", f"incomplete finding: {finding}"]
    if not target.is_dataset and list(found) != list(told.findings):
        return ["panic", "", "", f"explain and validate differ: {told.findings} {found}"]
    try:
        REFERENCE.read(target)
    except BytesError as error:
        if not musts:
            return ["panic", "", "", f"not reported: {error}"]
    if told.unowned and not told.findings and not musts:
        return ["panic", "", "", f"unowned, not reported: {told.unowned}"]
    return ["ok", "", "", ""]


def _classified(side: Side, target: Target, expected: pa.Table, *, explained: bool) -> list[str]:
    def question() -> list[str]:
        kind, detail = _compared(side.read(target), expected)
        reported = ""
        if side.strict and kind != "ok" and not explained:
            found = validate(target.root, deep=True)
            reported = next((f.clause for f in found if f.severity == "must"), "")
        return [kind, reported, "", detail]

    return _guarded(question, target, strict=side.strict)


def _guarded(question: Callable[[], list[str]], target: Target, *, strict: bool) -> list[str]:
    """Return an answer, or the class of the error that came in its place."""
    try:
        return question()
    except LanceError as error:
        clause = error.clause if isinstance(error, BytesError) else ""
        return ["err", clause, _missing(error, target), str(error)[:300]]
    except BaseException as error:  # the campaign exists to find these  # noqa: BLE001
        ordinary = "err-panic" if "panic" in str(error) else "err"
        kind = ordinary if isinstance(error, Exception) and not strict else "panic"
        kind = "oom" if isinstance(error, MemoryError) else kind
        return [kind, "", "", f"{type(error).__name__}: {error}"[:300]]


def _compared(table: pa.Table, expected: pa.Table) -> tuple[str, str]:
    _validate(table)
    if table.num_rows != expected.num_rows:
        return "silent-shape", f"{table.num_rows} rows, not {expected.num_rows}"
    if not table.schema.equals(expected.schema, check_metadata=True):
        return "silent-shape", f"schema {table.schema.to_string(show_schema_metadata=True)}"
    difference = None if table.equals(expected) else first_difference(expected, table)
    return ("ok", "") if difference is None else ("silent", difference[:300])  # NaN is like NaN


OUT_OF_RANGE = ("does not fit in precision", "acceptable range of", "whole number of days")
"""What Arrow says of a decimal of too many digits, a time beyond a day, a day with a time."""


def _validate(table: pa.Table) -> None:
    """Hold a table against the rules of Arrow; what is out of range is a wrong value."""
    table.validate()
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        if not any(words in str(error) for words in OUT_OF_RANGE):
            raise


def lacking(told: BytesError | Finding, offset: int) -> list[str]:
    """Return the facts that a refusal or finding at an offset does not name."""
    facts = {name: str(getattr(told, name)) for name in ("clause", "file", "found", "wanted")}
    missing = [name for name, fact in facts.items() if not fact.strip()]
    return missing if offset >= 0 else [*missing, "offset"]


def _missing(error: LanceError, target: Target) -> str:
    """Return the facts a refusal does not name, or that it names a path of this machine."""
    if not isinstance(error, BytesError):
        return f"all: {type(error).__name__}"
    missing = lacking(error, error.place.offset)
    if str(target.root.parent) in str(error) or ".py" in str(error):
        missing.append("nothing, but a path of the machine is too much")
    return ", ".join(missing)
