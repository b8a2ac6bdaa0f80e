"""Tests of the matrix: the document, its page, and a page for each implementation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lance_conformance import cli
from lance_conformance.cases import Case
from lance_conformance.matrix import page, result
from lance_conformance.matrix.judged import Judged, NoReport, read

READ, NEGATIVE = "toy/any/read/columns", "toy/any/read/neg-broken"


def _judged(version: str, outcome: str, **written: str) -> Judged:
    outcomes = {READ: outcome, NEGATIVE: "accepts-invalid"}
    score = {"correctness": "50%", "breadth": "10%", "cases_claimed": 2, "cases": 20}
    totals = {"outcomes": {outcome: 1, "accepts-invalid": 1}, "scores": {"format": score}}
    details = {READ: "why | it\nmore", NEGATIVE: "completed"}
    return Judged("party", version, outcomes, details, {"file.read": {}}, totals, written)


def test_the_document_has_every_case_and_both_directions(make_case: Callable[..., Case]) -> None:
    """Outcomes by release, the first that differs, floors, and what was written."""
    cases = [make_case(READ), make_case(NEGATIVE, "negative-file")]
    releases = [_judged("1", "fail"), _judged("2", "pass", **{READ: "pass"})]
    found = page.document(cases, releases, [_judged("9", "pass")])
    row, negative = found["read"]

    assert {"1": "fail", "2": "pass"} == row["releases"]
    assert ("1", None) == (row["differs_first"], negative["differs_first"])
    assert {"party 9": "pass"} == row["others"]
    assert {READ: {"party 2": "pass"}} == found["written"]
    (floor,) = found["floors"]
    assert ("toy/any/read", "2", [READ]) == (floor["feature"], floor["since"], floor["held_by"])

    text = page.render(found)
    assert "| `toy/any/read` | 1 | 2 | `columns` |" in text
    assert "| party 1 | 50% | 10% | 0 | 1 | 0 | 1 |" in text
    assert "| party 2 | 1 | 0 |" in text


def test_a_result_is_one_page(make_case: Callable[..., Case]) -> None:
    """Claims, scores, features and failures; a detail is one line."""
    cases = [make_case(READ), make_case(NEGATIVE, "negative-file"), make_case("a/b/c/d")]
    text = result.render(_judged("1", "fail"), cases)

    assert "| `toy/any/read` | 0 | 2 | 0 |" in text
    assert "a/b/c" not in text
    assert f"* `{READ}`: why | it\n" in text
    assert "## accepts-invalid (1)" in text


def test_the_command_takes_reports(
    toy_suite: Path,
    tmp_path: Path,
    fake: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A report of `run` becomes a column; a folder without one, or nothing at all, is wrong use."""

    def call(*words: str) -> int | str | None:
        given = ["--fixtures", str(toy_suite), *words]
        monkeypatch.setattr(sys, "argv", ["lance-conformance", given[2], *given[:2], *given[3:]])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code

    judged, out = str(tmp_path / "judged"), tmp_path / "matrix"
    call("run", "--out", judged, "--report", "json", "--", *fake("perfect"))

    assert not call("matrix", "--report", judged, "--out", str(out))
    name = read(tmp_path / "judged").label
    assert name in (out / "matrix.md").read_text()
    assert (out / f"{name.replace(' ', '-')}.md").exists()
    assert 2 == call("matrix", "--report", str(toy_suite), "--out", str(out))
    assert 2 == call("matrix", "--out", str(out))
    assert 2 == call("matrix", "--oracle", "0.0.1", "--out", str(out))
    capfd.readouterr()


def test_a_report_that_did_not_end_is_none(tmp_path: Path) -> None:
    """Without its footer a report is not read."""
    (tmp_path / "report.jsonl").write_text(
        '{"type": "header"}\n{"type": "case", "id": "a"}\n', encoding="utf-8"
    )
    with pytest.raises(NoReport, match="footer"):
        read(tmp_path)
