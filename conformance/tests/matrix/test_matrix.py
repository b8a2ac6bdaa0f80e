"""The matrix: library workers, floors of features, pages, and tables that implementations write."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from lance_conformance import cli
from lance_conformance.matrix import page
from lance_conformance.matrix.floors import floors
from lance_conformance.matrix.library_worker import LibraryWorker, load, save
from lance_conformance.matrix.report_data import ReportData, read
from lance_conformance.matrix.writing import REFUSED, tables, write_tables
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import Session
from lance_conformance.suite.cases import Case

ROWS = pa.table({"id": range(6), "c": list("abcdef")})


@pytest.fixture
def worker():
    return LibraryWorker("pylanceref")


def _build(worker, folder, *steps, **options):
    save(ROWS, str(folder / "rows"))
    steps = [["create", "rows", 4], *steps]
    uri = str(folder / "t")
    return worker.build(uri=uri, folder=str(folder), options=options, steps=steps)


def test_every_version_is_read_in_every_way(worker, tmp_path):
    """Two versions, six readings each; the second without the deleted row."""
    _build(worker, tmp_path, ["delete", "id = 1"])
    read = worker.read(str(tmp_path / "t"), str(tmp_path), ["id > 3"])

    ways = ["rows", "counts", "take", "ids", "slice", "filter 0"]
    assert [f"{version} {way}" for version in (1, 2) for way in ways] == list(read)
    assert {None} == set(read.values())
    assert [0, 2, 3, 4, 5] == load(str(tmp_path), "2 rows.arrow")["id"].to_pylist()
    assert [4, 5] == load(str(tmp_path), "2 filter 0.arrow")["id"].to_pylist()
    latest = worker.read(str(tmp_path / "t"), str(tmp_path), [], latest=True)
    assert [f"2 {way}" for way in ways[:-1]] == list(latest)


CASE = "toy/any/read/columns"


def _released(version: str, outcome: str) -> ReportData:
    return ReportData("pylance", version, {CASE: outcome}, {CASE: ""}, {}, {})


def _since(make_case: Callable[..., Case], *outcomes: str) -> str | None:
    releases = [_released(str(n), outcome) for n, outcome in enumerate(outcomes)]
    (floor,) = floors([make_case(CASE)], releases)
    return floor.since


def test_the_floor_has_no_hole_above(make_case):
    """It is the oldest release from which on every later one passes too."""
    assert "0" == _since(make_case, "pass", "pass", "pass")
    assert "2" == _since(make_case, "pass", "fail", "pass")
    assert "1" == _since(make_case, "unsupported", "pass", "pass")
    assert _since(make_case, "pass", "pass", "crash") is None


READ, NEGATIVE = "toy/any/read/columns", "toy/any/read/neg-broken"


def _report(version: str, outcome: str, **written: str) -> ReportData:
    outcomes = {READ: outcome, NEGATIVE: "accepts-invalid"}
    score = {"correctness": "50%", "breadth": "10%", "cases_claimed": 2, "cases": 20}
    numbers = {
        "valid data read right": {"share": "75.0%", "good": 3, "cases": 4},
        "survived": {"share": "100.0%", "good": 4, "cases": 4},
    }
    counts = {outcome: 1, "accepts-invalid": 1}
    totals = {"outcomes": counts, "scores": {"format": score}, "numbers": numbers}
    details = {READ: "why | it\nmore", NEGATIVE: "completed"}
    return ReportData("party", version, outcomes, details, {"file.read": {}}, totals, written)


def test_the_document_has_every_case_and_both_directions(make_case):
    """Outcomes by release, the first that differs, floors, and what was written."""
    cases = [make_case(READ), make_case(NEGATIVE, "negative-file")]
    releases = [_report("1", "fail"), _report("2", "pass", **{READ: "pass"})]
    found = page.document(cases, releases, [_report("9", "pass")])
    row, negative = found["read"]

    assert {"1": "fail", "2": "pass"} == row["releases"]
    assert ("1", None) == (row["differs_first"], negative["differs_first"])
    assert {"party 9": "pass"} == row["others"]
    assert {READ: {"party 2": "pass"}} == found["written"]
    (floor,) = found["floors"]
    assert ("toy/any/read", "2", [READ]) == (floor["feature"], floor["since"], floor["held_by"])

    text = page.render(found)
    assert "| `toy/any/read` | 1 | 2 | `columns` |" in text
    assert "| party 1 | 75.0% (3 of 4) |  | 100.0% (4 of 4) | 50% | 10% |" in text
    assert "| party 1 | 0 | 1 | 0 | 1 |" in text
    assert "| party 2 | 1 | 0 |" in text


def test_moves_distinguish_new_verdicts(make_case):
    """A change of an outcome with a change of the verdict is counted apart."""
    old_cases = [make_case(READ), make_case(NEGATIVE, "negative-file")]
    new_cases = [make_case(READ), make_case(NEGATIVE, "lint"), make_case(READ + "-more")]
    old, new = _report("9", "fail"), _report("9", "pass")
    new = replace(new, outcomes={**new.outcomes, NEGATIVE: "pass"})
    later = replace(new, outcomes={READ: "crash", NEGATIVE: "unsupported"})
    before, now = page.document(old_cases, [], [old]), page.document(new_cases, [], [new])

    text = page.render(now, before)
    assert "1 cases are new, 0 are gone,\n1 have a new verdict" in text
    assert "| party 9 | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in text
    dying = page.document(old_cases, [], [later])
    assert "| party 9 | 0 | 0 | 0 | 0 | 0 | 1 | 1 |" in page.render(dying, before)
    assert "| party 9 | 0 | 0 | 0 | 0 | 1 | 0 | 1 |" in page.render(dying, now)
    assert f"| `{NEGATIVE}` | a refusal | the rows |" in text


def test_the_command_takes_reports(toy_suite, tmp_path, fake, monkeypatch, capfd):
    """A report of `run` becomes a column; a folder without one, or no report, is an error."""

    def call(*words: str) -> int | str | None:
        name, *options = words
        fixtures = ["--fixtures", str(toy_suite)]
        monkeypatch.setattr(sys, "argv", ["lance-conformance", name, *fixtures, *options])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code

    report, out = str(tmp_path / "report"), tmp_path / "matrix"
    call("run", "--out", report, "--report", "json", "--", *fake("perfect"))

    assert not call("matrix", "--report", report, "--out", str(out))
    name = read(tmp_path / "report").label
    assert name in (out / "matrix.md").read_text()
    assert (out / f"{name.replace(' ', '-')}.md").exists()
    assert 2 == call("matrix", "--report", str(toy_suite), "--out", str(out))
    assert 2 == call("matrix", "--out", str(out))
    assert 2 == call("matrix", "--oracle", "0.0.1", "--out", str(out))
    capfd.readouterr()


WRITER = """
import json, sys
import pylanceref as lance
import pyarrow as pa
MODE = sys.argv[1]
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "bye":
        break
    implementation = {"name": "writer", "version": "1", "language": "python"}
    claims = {"write.dataset": {"versions": ["2.1"], "modes": ["create"]}}
    answer = {"ok": {"protocol": 1, "implementation": implementation, "capabilities": claims}}
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
"""A writer that is correct, loses a row, or refuses, by its mode."""


@pytest.fixture
def outcome(tmp_path: Path, toy_suite: Path, make_case: Callable[..., Case]) -> Callable[..., str]:
    """A function that returns the outcome of the toy table by the mode of the writer."""
    script = tmp_path / "writer.py"
    script.write_text(WRITER)

    def of(mode: str) -> str:
        session = Session([sys.executable, str(script), mode], tmp_path / mode)
        try:
            return write_tables(session, [_toy(toy_suite, make_case)])["toy/any/read/columns"]
        finally:
            session.close()

    return of


def _toy(root: Path, make_case: Callable[..., Case]) -> Case:
    expect = [{"table": {"path": "expect.arrow", "order": "storage", "sha256": "0"}}]
    made = make_case(expect=expect, limits={"seconds": 60, "memory_mb": 2048})
    return Case(root / "toy/any/read/columns", made.manifest)


def test_what_is_written_is_read_back(outcome):
    """Equal rows pass, other rows fail, a refusal is one."""
    assert Outcome.PASS == outcome("writes")
    assert Outcome.FAIL == outcome("loses")
    assert REFUSED == outcome("refuses")


def test_a_table_is_written_once(toy_suite, make_case):
    """Cases that share table and file version are one; negatives have no table."""
    toy = _toy(toy_suite, make_case)

    assert 1 == len(list(tables([toy, toy, make_case(kind="negative-file")])))
