"""Writing: implementations write tables, which the reference reads and validates.

The tables are those of the fixtures, each in the file version of its fixture.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from lanceref.core.errors import LanceError
from lanceref.inspection import validate
from pylanceref.dataset import dataset

from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.judging.checks import HoldsTable, expected_table
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import Session
from lance_conformance.suite.cases import Case

OPERATION = "write.dataset"

REFUSED = "refused"
"""The implementation did not write the table."""

INVALID = "invalid"
"""The reference reads equal rows, and finds a broken clause."""


def tables(cases: Sequence[Case]) -> Iterator[tuple[Case, HoldsTable]]:
    """Yield the first case of each table and file version, with its expectation."""
    seen = set()
    for case in cases:
        expected = case.manifest["expect"][0]
        table = expected.get("table")
        if table is None or case.kind not in ("read-file", "read-dataset"):
            continue
        key = case.requires.get("file_version"), table["sha256"]
        if key not in seen:
            seen.add(key)
            yield case, expected_table(case, expected)


def write_tables(session: Session, cases: Sequence[Case]) -> dict[str, str]:
    """Write every table by the implementation of a session; return the outcomes by case."""
    capability = session.claims().capabilities.get(OPERATION)
    if capability is None:
        return {}
    versions = capability.get("versions")
    outcomes = {}
    for case, expected in tables(cases):
        version = case.requires.get("file_version")
        if isinstance(versions, list) and version in versions:
            outcomes[case.id] = _write_table(session, case, expected)
    return outcomes


def _write_table(session: Session, case: Case, expected: HoldsTable) -> str:
    uri = session.scratch / "written.lance"
    table = case.folder / case.manifest["expect"][0]["table"]["path"]
    fields = {"input": str(table.absolute()), "uri": str(uri), "mode": "create"}
    fields["version"] = str(case.requires["file_version"])
    try:
        answer = session.request(OPERATION, fields, case.limits)
        if answer.response is None:
            return str(answer.outcome)
        if answer.response.get("panicked"):
            return str(Outcome.PANIC)
        return _read_back(uri, expected) if "ok" in answer.response else REFUSED
    finally:
        shutil.rmtree(uri, ignore_errors=True)


def _read_back(uri: Path, expected: HoldsTable) -> str:
    try:
        table = dataset(str(uri)).to_table()
    except LanceError:
        return str(Outcome.REJECTS_VALID)
    if first_difference(expected.table, table, order="storage", accept_types={}) is not None:
        return str(Outcome.FAIL)
    findings = [one for one in validate(str(uri), deep=True) if one.severity == "must"]
    return INVALID if findings else str(Outcome.PASS)
