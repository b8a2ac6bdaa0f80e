"""Readers: the reference and the oracle read all rows of a damaged target.

A reading has one of these kinds:

* `ok`: the rows of the undamaged file; `silent`: other rows; `silent-shape`: another number of
  rows, or another schema;
* `err`: an ordinary refusal (of the reference: a `LanceError`); `err-panic`: an ordinary exception
  whose text is a panic of the oracle;
* `panic`: an exception that must not occur: the oracle's `PanicException`, and for the reference
  everything but a `LanceError`;
* `oom`, `abort`, `hang`: the process ended without a result.
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
from lance_conformance.campaigns.child import ChildResult, run_in_child, warm_up_sql
from lance_conformance.campaigns.damage.targets import Target
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.oracle import lance, lance_file

FATAL = ("panic", "oom", "abort", "hang")
"""Kinds that no reading may have."""


@dataclass(frozen=True, slots=True)
class Reader:
    """An implementation: its function that reads a target; `strict` requires complete errors."""

    name: str
    read: Callable[[Target], pa.Table]
    strict: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a target: kind, clause of a refusal, missing facts, text, cost.

    The clause of wrong rows is the first one that `validate` reports.
    """

    kind: str
    clause: str
    missing: str
    detail: str
    seconds: float
    peak_bytes: int


def _read(module: ModuleType, reader: Any, target: Target) -> pa.Table:
    """Read a file, or scan a dataset, by a module with the names of pylance."""
    if not target.is_dataset:
        return reader(str(target.root)).read_all().to_table()
    dataset = module.dataset(str(target.root))
    arguments = target.scan_arguments(module, dataset)
    return dataset.scanner(blob_handling="all_binary", **arguments).to_table()


REFERENCE = Reader("reference", partial(_read, pylanceref, LanceFileReader), strict=True)
ORACLE = Reader(
    "oracle", lambda target: _read(lance(), lance_file().LanceFileReader, target), strict=False
)


def save_expected(reader: Reader, target: Target, path: Path) -> bool:
    """Read the undamaged target in a child, and write the table to `path`, for `load_expected`.

    Returns False if the oracle cannot read it. Raises RuntimeError if the reference cannot.
    """

    def save() -> list[str]:
        write_table(str(path), reader.read(target))
        return ["ok"]

    child = run_in_child(save)
    if child.result is None and reader.strict:
        raise RuntimeError(f"{reader.name} cannot read {target.id}, undamaged: {child}")
    return child.result is not None


def load_expected(path: Path) -> pa.Table:
    """Return the table that `save_expected` wrote, without starting a thread."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    return pa.ipc.open_file(pa.memory_map(str(path)), options=options).read_all()


def read_target(
    reader: Reader, target: Target, expected: pa.Table, *, undetectable: bool
) -> Reading:
    """Read a damaged target in a child, and classify the result.

    Wrong rows are also validated, unless the damage is `undetectable`.
    """

    def read() -> list[str]:
        kind, detail = _compare(reader.read(target), expected)
        reported = ""
        if reader.strict and kind != "ok" and not undetectable:
            findings = validate(target.root, deep=True)
            reported = next((one.clause for one in findings if one.severity == "must"), "")
        return [kind, reported, "", detail]

    prepare = [warm_up_sql] if reader is REFERENCE and "filter" in target.request else []
    return _reading(run_in_child(lambda: _classify(read, target, strict=reader.strict), *prepare))


def _reading(child: ChildResult) -> Reading:
    kind, clause, missing, detail = child.result or [child.failure, "", "", child.failure_detail]
    return Reading(kind, clause, missing, detail, round(child.seconds, 3), child.peak_bytes)


def inspect_target(target: Target) -> Reading:
    """Validate and explain a damaged file in a child, and read it where a reader refuses it.

    Both must end, agree on a file outside a dataset, report whatever a reader refuses and bytes
    without owner, and name all facts: `ok`, else `panic`.
    """
    return _reading(run_in_child(lambda: _classify(lambda: _inspect(target), target, strict=True)))


def _inspect(target: Target) -> list[str]:
    """Return a reading `ok`, or `panic` with the error."""
    explanation = explain(str(target.path))
    findings = validate(target.root, deep=True)
    musts = [finding for finding in findings if finding.severity == "must"]
    for finding in (*findings, *explanation.findings):
        if missing_facts(finding, finding.offset) or not finding.message.strip():
            return ["panic", "", "", f"incomplete finding: {finding}"]
    if not target.is_dataset and list(findings) != list(explanation.findings):
        detail = f"explain and validate differ: {explanation.findings} {findings}"
        return ["panic", "", "", detail]
    try:
        REFERENCE.read(target)
    except BytesError as error:
        if not musts:
            return ["panic", "", "", f"not reported: {error}"]
    if explanation.unowned and not explanation.findings and not musts:
        return ["panic", "", "", f"unowned, not reported: {explanation.unowned}"]
    return ["ok", "", "", ""]


def _classify(read: Callable[[], list[str]], target: Target, *, strict: bool) -> list[str]:
    """Return the fields of a reading, or those of an error, by its class."""
    try:
        return read()
    except LanceError as error:
        clause = error.clause if isinstance(error, BytesError) else ""
        return ["err", clause, _missing(error, target), str(error)[:300]]
    except BaseException as error:  # any exception is a result  # noqa: BLE001
        ordinary = "err-panic" if "panic" in str(error) else "err"
        kind = ordinary if isinstance(error, Exception) and not strict else "panic"
        kind = "oom" if isinstance(error, MemoryError) else kind
        return [kind, "", "", f"{type(error).__name__}: {error}"[:300]]


def _compare(table: pa.Table, expected: pa.Table) -> tuple[str, str]:
    _validate(table)
    if table.num_rows != expected.num_rows:
        return "silent-shape", f"{table.num_rows} rows, not {expected.num_rows}"
    if not table.schema.equals(expected.schema, check_metadata=True):
        return "silent-shape", f"schema {table.schema.to_string(show_schema_metadata=True)}"
    difference = None if table.equals(expected) else first_difference(expected, table)
    return ("ok", "") if difference is None else ("silent", difference[:300])  # NaN is like NaN


OUT_OF_RANGE = ("does not fit in precision", "acceptable range of", "whole number of days")
"""Errors of Arrow for decimals with too many digits, times beyond a day, dates with a time."""


def _validate(table: pa.Table) -> None:
    """Validate a table by Arrow, but for values out of range, which are only wrong values."""
    table.validate()
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        if not any(words in str(error) for words in OUT_OF_RANGE):
            raise


def missing_facts(report: BytesError | Finding, offset: int) -> list[str]:
    """Return the names of the facts that a refusal or finding at an offset lacks."""
    facts = {name: str(getattr(report, name)) for name in ("clause", "file", "found", "wanted")}
    missing = [name for name, fact in facts.items() if not fact.strip()]
    return missing if offset >= 0 else [*missing, "offset"]


def _missing(error: LanceError, target: Target) -> str:
    """Return the facts that a refusal lacks, or that it contains a path of this machine."""
    if not isinstance(error, BytesError):
        return f"all: {type(error).__name__}"
    missing = missing_facts(error, error.place.offset)
    if str(target.root.parent) in str(error) or ".py" in str(error):
        missing.append("none, but it contains a path of the machine")
    return ", ".join(missing)
