"""Judging: what is asked about a case, and the outcome of each response."""

from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance import resources, schemas
from lance_conformance.adapters.server import write_table
from lance_conformance.judging.checks import (
    Check,
    CountsRows,
    Expectation,
    HasFacts,
    HoldsTable,
    IsValid,
    Refuses,
    Reports,
    Survives,
    applicable_expectation,
    build_checks,
)
from lance_conformance.judging.verdicts import Verdict, judge_response
from lance_conformance.outcomes import Outcome
from lance_conformance.suite import cases
from lance_conformance.suite.cases import Case, CaseError
from lance_conformance.suite.requirements import main_operation

TABLE = HoldsTable(pa.table({"c": [1, 2]}))
NO = {"reject": {"stage": "decode", "message": "no"}}
FOUND = {"ok": {"valid": False, "findings": [{"clause": "L.a.b", "message": ""}]}}
CLEAN = {"ok": {"valid": True, "findings": []}}
ROWS = {"physical_rows": "6", "deleted": "1"}
SERIOUS = [{"severity": "must"}, {"severity": "note", "clause": "L.file.footer.magic"}]


def judged(case: Case, out: Path, expect: Expectation, response: dict[str, object]) -> Verdict:
    """Judge the response to a check of a case that asks for version 2."""
    check = Check("full", "dataset.read", {"version": "2"}, expect)
    return judge_response(case, check, {"id": 1, **response}, out)


@pytest.mark.parametrize(
    ("expect", "response", "outcome"),
    [
        (TABLE, NO, Outcome.REJECTS_VALID),
        (TABLE, {**NO, "panicked": True}, Outcome.PANIC),
        (TABLE, {"unsupported": {"feature": "x"}}, Outcome.UNSUPPORTED),
        (TABLE, {"unsupported": {"feature": "2.1"}}, Outcome.OVERCLAIM),
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
        (IsValid(), {"ok": {"valid": True, "findings": SERIOUS[:1]}}, Outcome.REJECTS_VALID),
        (IsValid(), {"ok": {"valid": True, "findings": SERIOUS[1:]}}, Outcome.REJECTS_VALID),
        (HasFacts({"v": "1"}), {"ok": {"v": "1", "more": 2}}, Outcome.PASS),
        (HasFacts({"v": "1", "hidden": "2"}), {"ok": {"v": "1"}}, Outcome.PASS),
        (HasFacts({"v": [{"n": "1"}]}), {"ok": {"v": [{"n": "2"}]}}, Outcome.FAIL),
        (HasFacts({"v": [{}]}), {"ok": {"v": []}}, Outcome.FAIL),
        (CountsRows(9), {"ok": {"fragments": [ROWS, ROWS]}}, Outcome.FAIL),
        (CountsRows(10), {"ok": {"fragments": [ROWS, ROWS]}}, Outcome.PASS),
        (CountsRows(9), {"ok": {"fragments": [ROWS, {"physical_rows": "6"}]}}, Outcome.PASS),
        (CountsRows(9), {"ok": {}}, Outcome.PASS),
    ],
)
def test_verdicts(make_case, tmp_path, expect, response, outcome):
    """Every pair of expectation and response has its outcome."""
    verdict = judged(make_case(), tmp_path / "out.arrow", expect, response)

    assert outcome == verdict.outcome, verdict.detail


def outcome_of(case: Case, out: Path, expect: Expectation, **body: str) -> Outcome:
    return judged(case, out, expect, {"ok": {"out": str(out), **body}}).outcome


def test_outputs(make_case, tmp_path):
    """The output must be there, be Arrow, of the version and rows as announced, and equal."""
    out, case = tmp_path / "out.arrow", make_case()

    assert Outcome.BAD_OUTPUT == outcome_of(case, out, TABLE)
    for data in (b"ARROW1\0\0 and no more", b""):
        out.write_bytes(data)
        assert Outcome.BAD_OUTPUT == outcome_of(case, out, TABLE)
    write_table(str(out), pa.table({"c": [1, 2]}))
    assert Outcome.PASS == outcome_of(case, out, TABLE, num_rows="2")
    assert Outcome.FAIL == outcome_of(case, out, TABLE, num_rows="3")
    assert Outcome.PASS == outcome_of(case, out, TABLE, version="2")
    assert Outcome.FAIL == outcome_of(case, out, TABLE, version="3")
    write_table(str(out), pa.table({"c": [1, 3]}))
    assert Outcome.FAIL == outcome_of(case, out, TABLE)


def test_refusal_after_output(make_case, tmp_path):
    """A case may ask that nothing is delivered before the refusal."""
    out = tmp_path / "out.arrow"
    before = judged(make_case(), out, Refuses(before_output=True), NO).outcome
    out.write_bytes(b"a batch")
    after = judged(make_case(), out, Refuses(before_output=True), NO).outcome

    assert (Outcome.PASS, Outcome.FAIL) == (before, after)


def test_what_a_pass_says(make_case, tmp_path):
    """The detail of a pass names accepted types and another stage of a refusal."""
    write_table(
        str(out := tmp_path / "out.arrow"), pa.table({"c": pa.array(["x"], "large_string")})
    )
    expect = HoldsTable(pa.table({"c": ["x"]}))
    verdict = judged(make_case(), out, expect, {"ok": {"out": str(out)}})

    assert (Outcome.PASS, True) == (verdict.outcome, "large_string taken" in verdict.detail)
    assert "expects stage open" in judged(make_case(), out, Refuses("open"), NO).detail


ROWS_SEEN = [([1, 2], Outcome.PASS), ([1, 3], Outcome.ACCEPTS_INVALID)]


@pytest.mark.parametrize(("rows", "outcome"), ROWS_SEEN)
def test_a_reader_may_do_without_a_broken_part(make_case, tmp_path, rows, outcome):
    """Where a clause leaves the choice, the rows without the violation are as good as a refusal."""
    out = tmp_path / "out.arrow"
    write_table(str(out), pa.table({"c": rows}))

    assert outcome == outcome_of(make_case(), out, Refuses(or_table=TABLE), num_rows="2")
    assert Outcome.PASS == judged(make_case(), out, Refuses(or_table=TABLE), NO).outcome


def test_a_part_that_is_not_needed_may_be_refused(make_case, tmp_path):
    """A lint case of such a clause may be refused; one of a clause of writers may not."""
    for may_refuse, outcome in ((True, Outcome.PASS), (False, Outcome.REJECTS_VALID)):
        expect = HoldsTable(TABLE.table, may_refuse=may_refuse)
        assert outcome == judged(make_case(), tmp_path / "out.arrow", expect, NO).outcome


ALL = {"projection": ["top"], "ranges": True, "rows": True}


@pytest.fixture
def reading(toy_suite: Path) -> Case:
    """The case of four rows and two columns."""
    return next(case for case in cases.load(toy_suite) if case.kind == "read-file")


def test_permutations_share_the_expectation(reading, claims):
    """One column, a range and single rows expect those parts of the same table."""
    checks = {check.name: check for check in build_checks(reading, claims(file__read=ALL))}
    tables = {name: check.expect.table for name, check in checks.items()}

    assert {"columns": ["b"]} == checks["projection"].args
    assert ["x", None, "", "ü"] == tables["projection"]["b"].to_pylist()
    assert {"ranges": [["1", "3"]]} == checks["range"].args
    assert [2, 3] == tables["range"]["a"].to_pylist()
    assert {"rows": ["0", "2", "3"]} == checks["take"].args
    assert [1, 3, 4] == tables["take"]["a"].to_pylist()


def test_what_is_not_claimed_is_not_asked(reading, claims):
    """Who claims reading alone is asked for all of it; to inspect is to say version and rows."""
    facts = [HasFacts({"num_rows": "4", "version": "2.1"})]
    for inspect, expected in ((None, []), ({}, facts), ({"versions": ["2.0"]}, [])):
        also = {} if inspect is None else {"file__inspect": inspect}
        checks = build_checks(reading, claims(file__read={}, **also))
        assert expected == [one.expect for one in checks[1:]]


def test_dataset_is_taken_from_when_claimed(reading, claims):
    """A dataset is asked for a range by limit and offset, for rows by an operation of its own."""
    manifest = {**reading.manifest, "kind": "read-dataset", "requires": {}}
    manifest["input"] = {"uri": "dataset", "args": {"version": "3"}}
    case = Case(reading.folder, manifest)
    claimed = claims(dataset__read={"limit": True}, dataset__take={}, dataset__describe={})
    checks = {check.name: check for check in build_checks(case, claimed)}

    assert {"version": "3", "offset": "1", "limit": "2"} == checks["range"].args
    assert "dataset.take" == checks["take"].op
    assert {"version": "3", "offsets": ["0", "2", "3"]} == checks["take"].args
    assert ({"version": "3"}, CountsRows(4)) == (checks["describe"].args, checks["describe"].expect)


def test_particular_read_is_not_varied(reading, claims):
    """A case that is itself a projection has one check."""
    case_input = {"path": "data.lance", "args": {"columns": ["a"]}}
    case = Case(reading.folder, {**reading.manifest, "input": case_input})

    assert 1 == len(build_checks(case, claims(file__read=ALL)))


def test_requests_of_all_cases_keep_to_the_schema(claims):
    """What a case asks is valid by the protocol, rows that manifests have as numbers included."""
    ops = ("file.read", "dataset.read", "dataset.take", "index.search", "index.dump")
    claimed = claims(**{op.replace(".", "__"): {"scan": False} for op in ops})
    requests = [
        case
        for case in cases.load(resources.fixtures())
        if case.is_active and case.manifest["input"].get("args") and main_operation(case) in ops
    ]
    broken = dict[str, list[str]]()
    for case in requests:
        place = "path" if "path" in case.manifest["input"] else "uri"
        for check in build_checks(case, claimed):
            message = {"id": 1, "op": check.op, place: "/x", "out": "/y", **check.args}
            if problems := schemas.problems("protocol", message, f"{check.op}.request"):
                broken[case.id] = problems

    assert {} == broken
    assert len(requests) > 500


@pytest.mark.parametrize(
    ("expected", "kinds"),
    [
        ({"reject": {"stage": "open"}}, [Refuses, Reports]),
        ({"survive": True}, [Survives]),
        ({"facts": {"version": "2.0"}}, [HasFacts]),
        (
            {"table": {"path": "expect.arrow"}, "findings": ["L.a.b"]},
            [HoldsTable, HasFacts, Reports],
        ),
        (
            {"table": {"path": "expect.arrow"}, "facts": {}},
            [HoldsTable, HasFacts, IsValid, HasFacts],
        ),
    ],
)
def test_expectations(reading, claims, expected, kinds):
    """Each part of an expectation has its check."""
    case = Case(reading.folder, {**reading.manifest, "expect": [expected]})
    claimed = claims(file__read={}, file__inspect={}, validate={})

    assert kinds == [type(check.expect) for check in build_checks(case, claimed)]


def test_declared_choice_decides(reading, claims):
    """Of alternatives the declared one is asked for, the first when none is declared."""
    alternatives = [{"choice": "reject", "reject": {}}, {"choice": "ignore", "survive": True}]
    case = Case(reading.folder, {**reading.manifest, "expect": alternatives})
    declared = claims(file__read={})
    declared.hello["choices"] = {"L.toy.columns": "ignore"}

    assert isinstance(build_checks(case, claims(file__read={}))[0].expect, Refuses)
    assert isinstance(build_checks(case, declared)[0].expect, Survives)


def test_unknown_procedure_is_told(reading, claims):
    """An expectation that the runner does not support is an error, not a pass."""
    case = Case(reading.folder, {**reading.manifest, "expect": [{"race": {}}]})
    with pytest.raises(CaseError, match="does not support"):
        build_checks(case, claims(file__read={}))


@pytest.mark.parametrize(
    ("mask", "bits", "choice"),
    [
        ("12", "8", "known"),
        ("12", "10", "unknown"),
        (None, "8", "known"),
        (None, "4096", "unknown"),
    ],
)
def test_known_flags_choose_the_expectation(make_case, claims, mask, bits, choice):
    """The declared mask, or else that of released versions, says whether all bits are known."""
    expect = [{"choice": "known"}, {"choice": "unknown"}]
    case = make_case(requires={"writer_flags": bits}, expect=expect)
    claimed = claims(mutate={})
    claimed.hello["flags"] = {} if mask is None else {"writer_known": mask}

    assert choice == applicable_expectation(case, claimed)["choice"]


@pytest.mark.parametrize(
    ("known", "outcome"),
    [(None, Outcome.REJECTS_VALID), ("3", Outcome.UNSUPPORTED), ("67", Outcome.REJECTS_VALID)],
)
def test_a_reader_that_says_which_flags_it_knows_is_judged_by_them(reading, claims, known, outcome):
    """Refusing another bit of the reader word is right and no reading; by default all are known."""
    requires = {**reading.requires, "reader_flags": "64"}
    case = Case(reading.folder, {**reading.manifest, "requires": requires})
    claimed = claims(file__read={})
    claimed.hello["flags"] = {} if known is None else {"reader_known": known}

    (check,) = build_checks(case, claimed)
    assert outcome == judge_response(case, check, {"id": 1, **NO}, Path()).outcome


def test_a_choice_that_cannot_be_judged_is_survived(make_case, claims):
    """A copy of some cases may lack the one whose table a reader could return."""
    broken = [{"id": "L.table.manifest.timestamp", "role": "negative"}]
    case = make_case(
        kind="negative-file",
        clauses=broken,
        expect=[{"reject": {"stage": "any"}}],
        provenance={"derived_from": "file/2.1/not/there"},
    )

    assert [Survives] == [type(check.expect) for check in build_checks(case, claims(file__read={}))]
