"""Tests of the other direction: an implementation writes, the reference reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance.cases import Case
from lance_conformance.matrix.writing import REFUSED, tables, written
from lance_conformance.outcomes import Outcome
from lance_conformance.session import Session

WRITER = """
import json, sys
import pylanceref as lance
import pyarrow as pa
MODE = sys.argv[1]
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "bye":
        break
    who = {"name": "writer", "version": "1", "language": "python"}
    claims = {"write.dataset": {"versions": ["2.0"], "modes": ["create"]}}
    answer = {"ok": {"protocol": 1, "implementation": who, "capabilities": claims}}
    if request["op"] == "write.dataset":
        with pa.OSFile(request["input"]) as source:
            rows = pa.ipc.open_file(source).read_all()
        rows = rows.slice(1) if MODE == "loses" else rows
        made = lance.write_dataset(rows, request["uri"], data_storage_version=request["version"])
        answer = {"ok": {"version": str(made.version)}}
        if MODE == "refuses":
            answer = {"reject": {"stage": "unknown", "message": "no"}}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"""
"""A writer of its own: honest, or one that loses a row, or one that refuses."""


@pytest.fixture
def outcome(tmp_path: Path, toy_suite: Path, make_case: Callable[..., Case]) -> Callable[..., str]:
    """The outcome of the toy table under a mode of the writer."""
    script = tmp_path / "writer.py"
    script.write_text(WRITER)

    def of(mode: str) -> str:
        session = Session([sys.executable, str(script), mode], tmp_path / mode)
        try:
            return written(session, [_toy(toy_suite, make_case)])["toy/any/read/columns"]
        finally:
            session.close()

    return of


def _toy(root: Path, make_case: Callable[..., Case]) -> Case:
    expect = [{"table": {"path": "expect.arrow", "order": "storage", "sha256": "0"}}]
    made = make_case(expect=expect, limits={"seconds": 60, "memory_mb": 2048})
    return Case(root / "toy/any/read/columns", made.manifest)


def test_what_is_written_is_read_back(outcome: Callable[..., str]) -> None:
    """Equal rows pass, other rows fail, a refusal is one."""
    assert Outcome.PASS == outcome("writes")
    assert Outcome.FAIL == outcome("loses")
    assert REFUSED == outcome("refuses")


def test_a_table_is_written_once(toy_suite: Path, make_case: Callable[..., Case]) -> None:
    """Cases that share table and file version are one; negatives have no table."""
    toy = _toy(toy_suite, make_case)

    assert 1 == len(list(tables([toy, toy, make_case(kind="negative-file")])))


def test_who_does_not_claim_to_write_is_not_asked(
    tmp_path: Path, fake: Callable[..., list[str]]
) -> None:
    """No claim, no outcome."""
    session = Session(fake("perfect"), tmp_path)
    assert {} == written(session, [])
    session.close()
