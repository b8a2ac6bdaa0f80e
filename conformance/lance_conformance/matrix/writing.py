"""Writing: the other direction, in which an implementation writes and the reference reads.

Each table that a fixture holds is given to the implementation, to be written in the file version of
the fixture. The reference then reads it, and looks for broken clauses.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from lanceref.core.errors import LanceError
from lanceref.inspection import validate
from pylanceref.dataset import dataset

from lance_conformance.cases import Case
from lance_conformance.checks import HoldsTable, expected_table
from lance_conformance.outcomes import Outcome
from lance_conformance.session import Session
from lance_conformance.table_diff import first_difference

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
        told = expected.get("table")
        if told is None or case.kind not in ("read-file", "read-dataset"):
            continue
        named = case.requires.get("file_version"), told["sha256"]
        if named not in seen:
            seen.add(named)
            yield case, expected_table(case, expected)


def written(session: Session, cases: Sequence[Case]) -> dict[str, str]:
    """Let the implementation of a session write every table; return the outcome by case."""
    capability = session.claims().capabilities.get(OPERATION)
    if capability is None:
        return {}
    versions = capability.get("versions")
    outcomes = {}
    for case, expected in tables(cases):
        version = case.requires.get("file_version")
        if isinstance(versions, list) and version in versions:
            outcomes[case.id] = _written(session, case, expected)
    return outcomes


def _written(session: Session, case: Case, expected: HoldsTable) -> str:
    uri = session.scratch / "written.lance"
    given = case.folder / case.manifest["expect"][0]["table"]["path"]
    fields = {"input": str(given.absolute()), "uri": str(uri), "mode": "create"}
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
        found = dataset(str(uri)).to_table()
    except LanceError:
        return str(Outcome.REJECTS_VALID)
    if first_difference(expected.table, found, order="storage", accept_types={}) is not None:
        return str(Outcome.FAIL)
    findings = [one for one in validate(str(uri), deep=True) if one.severity == "must"]
    return INVALID if findings else str(Outcome.PASS)
