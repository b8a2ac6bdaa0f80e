"""Tests of judging: a response against an expectation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance.cases import Case
from lance_conformance.checks import (
    Check,
    Expectation,
    HasFacts,
    HoldsTable,
    IsValid,
    Refuses,
    Reports,
    Survives,
)
from lance_conformance.judge import judge
from lance_conformance.outcomes import Outcome

TABLE = HoldsTable(pa.table({"c": [1, 2]}))
NO = {"reject": {"stage": "decode", "message": "no"}}
FOUND = {"ok": {"valid": False, "findings": [{"clause": "L.a.b", "message": ""}]}}
CLEAN = {"ok": {"valid": True, "findings": []}}


@pytest.mark.parametrize(
    ("expect", "response", "outcome"),
    [
        (TABLE, NO, Outcome.REJECTS_VALID),
        (TABLE, {**NO, "panicked": True}, Outcome.PANIC),
        (TABLE, {"unsupported": {"feature": "x"}}, Outcome.UNSUPPORTED),
        (TABLE, {"unsupported": {"feature": "2.0"}}, Outcome.OVERCLAIM),
        (TABLE, {"adapter_error": {"message": "x"}}, Outcome.INFRA),
        (Refuses(), NO, Outcome.PASS),
        (Refuses(), {**NO, "panicked": True}, Outcome.PANIC),
        (Refuses("decode"), NO, Outcome.PASS),
        (Refuses("open"), NO, Outcome.PASS),
        (Refuses("open"), {"reject": {"stage": "unknown", "message": ""}}, Outcome.PASS),
        (Refuses(), {"ok": {"out": "x"}}, Outcome.ACCEPTS_INVALID),
        (Survives(), NO, Outcome.PASS),
        (Survives(), {"ok": {"out": "x"}}, Outcome.PASS),
        (Survives(), {**NO, "panicked": True}, Outcome.PANIC),
        (Reports(), FOUND, Outcome.PASS),
        (Reports(), CLEAN, Outcome.ACCEPTS_INVALID),
        (Reports(), NO, Outcome.PASS),
        (Reports(("L.a.b",)), FOUND, Outcome.PASS),
        (Reports(("L.a.b", "L.c.d")), FOUND, Outcome.FAIL),
        (Reports(("L.a.b",)), CLEAN, Outcome.FAIL),
        (Reports(("L.a.b",)), NO, Outcome.REJECTS_VALID),
        (IsValid(), CLEAN, Outcome.PASS),
        (IsValid(), FOUND, Outcome.REJECTS_VALID),
        (IsValid(), NO, Outcome.REJECTS_VALID),
        (HasFacts({"v": "1"}), {"ok": {"v": "1", "more": 2}}, Outcome.PASS),
        (HasFacts({"v": "1", "hidden": "2"}), {"ok": {"v": "1"}}, Outcome.PASS),
        (HasFacts({"v": [{"n": "1"}]}), {"ok": {"v": [{"n": "2"}]}}, Outcome.FAIL),
        (HasFacts({"v": [{}]}), {"ok": {"v": []}}, Outcome.FAIL),
    ],
)
def test_verdicts(
    make_case: Callable[..., Case],
    tmp_path: Path,
    expect: Expectation,
    response: dict[str, object],
    outcome: Outcome,
) -> None:
    """Every pair of expectation and response has its outcome."""
    check = Check("full", "file.read", {}, expect)
    verdict = judge(make_case(), check, {"id": 1, **response}, tmp_path / "out.arrow")

    assert outcome == verdict.outcome, verdict.detail


def test_another_stage_is_noted(make_case: Callable[..., Case], tmp_path: Path) -> None:
    """A refusal passes at any stage; the report says where the stage is not the case's."""
    check = Check("full", "file.read", {}, Refuses("open"))
    verdict = judge(make_case(), check, {"id": 1, **NO}, tmp_path / "out.arrow")

    assert "names stage open" in verdict.detail


def write(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def outcome_of(case: Case, out: Path, expect: Expectation, **body: str) -> Outcome:
    response = {"id": 1, "ok": {"out": str(out), **body}}
    return judge(case, Check("full", "file.read", {}, expect), response, out).outcome


def test_outputs(make_case: Callable[..., Case], tmp_path: Path) -> None:
    """The output must be there, be Arrow, hold as many rows as announced, and equal."""
    out, case = tmp_path / "out.arrow", make_case()

    assert Outcome.BAD_OUTPUT == outcome_of(case, out, TABLE)
    out.write_bytes(b"ARROW1\0\0 and no more")
    assert Outcome.BAD_OUTPUT == outcome_of(case, out, TABLE)
    out.write_bytes(b"")
    assert Outcome.BAD_OUTPUT == outcome_of(case, out, TABLE)
    write(out, pa.table({"c": [1, 2]}))
    assert Outcome.PASS == outcome_of(case, out, TABLE, num_rows="2")
    assert Outcome.FAIL == outcome_of(case, out, TABLE, num_rows="3")
    write(out, pa.table({"c": [1, 3]}))
    assert Outcome.FAIL == outcome_of(case, out, TABLE)


def test_refusal_after_output(make_case: Callable[..., Case], tmp_path: Path) -> None:
    """A case may ask that nothing is delivered before the refusal."""
    out = tmp_path / "out.arrow"
    check = Check("full", "file.read", {}, Refuses(before_output=True))
    before = judge(make_case(), check, {"id": 1, **NO}, out).outcome
    out.write_bytes(b"a batch")
    after = judge(make_case(), check, {"id": 1, **NO}, out).outcome

    assert (Outcome.PASS, Outcome.FAIL) == (before, after)


def test_accepted_type_is_told(make_case: Callable[..., Case], tmp_path: Path) -> None:
    """A pass by leniency says so."""
    out = tmp_path / "out.arrow"
    write(out, pa.table({"c": pa.array(["x"], pa.large_string())}))
    check = Check("full", "file.read", {}, HoldsTable(pa.table({"c": ["x"]})))
    verdict = judge(make_case(), check, {"id": 1, "ok": {"out": str(out)}}, out)

    assert Outcome.PASS == verdict.outcome
    assert "large_string taken for string" in verdict.detail


@pytest.mark.parametrize(
    ("rows", "outcome"), [([1, 2], Outcome.PASS), ([1, 3], Outcome.ACCEPTS_INVALID)]
)
def test_a_reader_may_do_without_a_broken_part_and_not_return_other_rows(
    make_case: Callable[..., Case], tmp_path: Path, rows: list[int], outcome: Outcome
) -> None:
    """Where a clause leaves the choice, the rows without the violation are as good as a refusal."""
    out = tmp_path / "out.arrow"
    with pa.ipc.new_file(out, TABLE.table.schema) as writer:
        writer.write_table(pa.table({"c": rows}))
    check = Check("full", "file.read", {}, Refuses(unless=TABLE))
    read = {"id": 1, "ok": {"out": str(out), "num_rows": "2"}}

    assert outcome == judge(make_case(), check, read, out).outcome
    assert Outcome.PASS == judge(make_case(), check, {"id": 1, **NO}, out).outcome


def test_a_refusal_is_right_where_a_part_that_is_not_needed_breaks_a_clause_of_readers(
    make_case: Callable[..., Case], tmp_path: Path
) -> None:
    """A lint case of such a clause may be refused; one of a clause of writers may not."""
    for may_refuse, outcome in ((True, Outcome.PASS), (False, Outcome.REJECTS_VALID)):
        check = Check("full", "file.read", {}, HoldsTable(TABLE.table, may_refuse=may_refuse))
        out = tmp_path / "out.arrow"
        assert outcome == judge(make_case(), check, {"id": 1, **NO}, out).outcome
