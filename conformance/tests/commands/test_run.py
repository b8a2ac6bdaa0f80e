"""Tests of `run` and its neighbours: levels, selections, limits, failures, next and diff."""

import subprocess
import sys
from pathlib import Path

from lance_conformance import resources
from lance_conformance.commands.next_level import first_unreached_level
from lance_conformance.suite import cases, levels

READ = "toy/any/read/columns"


def test_levels_choose_cases_and_are_listed(call):
    """`list --levels` names them, `--level` keeps their cases, a slip is corrected."""
    assert "table-basic              3" in call("list", "--levels")[1]
    assert 3 == call("list", "--level", "table-basic")[1].count("[")
    for slip, meant in (("table-basik", "table-basic"), ("2.1", "'2.1-*'")):
        assert f"Did you mean {meant}" in call("list", "--level", slip)[1]
    assert "Did you mean toy/any/read/columns" in call("show", "toy/any/read/column")[1]
    assert 2 == call("list", "--level", "2.1-flat")[0]


def test_a_run_stops_after_so_many_failures_and_is_resumed(call, fake, tmp_path):
    """`-x` keeps the first failure in the report; without it, --resume runs the others."""
    out = ("--out", str(tmp_path / "out"))
    code, output = call("run", "-x", *out, "--", *fake("wrong-answer"))

    assert 1 == code
    assert "stopped by 1 unexpected failure after 1 of 3 cases" in output
    assert 1 == call("run", "--max-failures", "2", "--", *fake("wrong-answer"))[0]
    output = call("run", "--resume", *out, "--", *fake("wrong-answer"))[1]
    assert "3 cases" in output
    assert "incomplete" not in output


def test_known_failures_do_not_stop_a_run(call, fake, tmp_path):
    """Only an unexpected result counts towards the limit of failures."""
    known = tmp_path / "known.toml"
    entry = '[[known]]\ncase = "**"\noutcome = "fail"\nreason = "r"\nissue = "D.a.b"\n'
    known.write_text(entry, encoding="utf-8")
    output = call("run", "-x", "--known", str(known), "--", *fake("wrong-answer"))[1]

    assert "incomplete" not in output


def test_only_what_failed_is_run_again(call, fake, tmp_path):
    """`--rerun` takes the ids from a report; `--outcome` chooses among them."""
    out = tmp_path / "out"
    call("run", "--out", str(out), "--", *fake("rejects-all"))

    assert "· 2 cases" in call("run", "--rerun", str(out), "--", *fake("perfect"))[1]
    rerun = ("run", "--rerun", str(out / "report.jsonl"))
    assert "· 2 cases" in call(*rerun, "--outcome", "rejects-valid", "--", *fake("perfect"))[1]
    assert 2 == call(*rerun, "--outcome", "crash")[0]
    assert 2 == call("run", "--outcome", "crash")[0]
    assert 2 == call("run", "--rerun", __file__)[0]


def test_a_factor_gives_slow_adapters_more_time(call, fake, monkeypatch):
    """0.05 s are not enough for 0.2 s of sleep, 2,000 times as much are."""
    short = ("run", "--only", READ, "--timeout", "0.05")
    monkeypatch.setenv("FAKE_SECONDS", "0.2")

    assert "timeout" in call(*short, "--", *fake("slow"))[1]
    assert 0 == call(*short, "--timeout-factor", "2000", "--", *fake("slow"))[0]


FIXTURES = ("--fixtures", str(Path(__file__).parents[3] / "fixtures"))


def test_next_names_the_first_level_that_is_not_reached(call, fake, tmp_path):
    """With the cases to start with, positive ones first; without a report, the first of all."""
    out = tmp_path / "out"
    assert "rung 1 and 2 of spec/05-first-reader.md" in call("next", *FIXTURES)[1]

    call("run", "--out", str(out), "--", *fake("rejects-all"))
    output = call("next", str(out))[1].splitlines()
    assert output[0].startswith("table-basic: ")
    assert output[0].endswith("(1 of 2 cases that count pass)")
    assert "[rejects-valid]" in output[2]
    assert "lance-conformance run --level table-basic -- CMD" == output[-1]
    call("run", "--out", str(out), "--", *fake("unsupported"))
    assert "[unsupported, does not support columns called a]" in call("next", str(out))[1]
    call("run", "--out", str(out), "--", *fake("perfect"))
    assert "every level is reached" in call("next", str(out))[1]
    one = ("--only", "file/2.1/levels/list", "--out", str(out))
    call("run", *FIXTURES, *one, "--", *fake("unsupported"))
    assert call("next", *FIXTURES, str(out))[1].startswith("2.1-nested: ")
    active = (one.manifest for one in cases.load(resources.fixtures()))
    counted, (first, *_, last) = levels.cases_by_level(active, {}), levels.LADDER
    assert first == first_unreached_level(counted, {one["id"]: "pass" for one in counted[last]})
    assert not any(one["kind"] == "lint" or "/next" in one["id"] for one in counted["index-btree"])


def test_two_reports_are_compared(call, fake, tmp_path):
    """What fails newly ends with 1; what passes newly, or fails otherwise, does not."""
    for mode in ("perfect", "wrong-answer", "rejects-all"):
        call("run", "--out", str(tmp_path / mode), "--", *fake(mode))

    def diff(before: str, after: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "lance_conformance.cli", "diff", before, after]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    assert (0, "the same outcomes in all 3 cases\n") == diff("perfect", "perfect")
    code, output = diff("perfect", "wrong-answer")
    assert 1 == code and f"newly failing (2)\n  {READ}: pass -> fail" in output
    assert diff("wrong-answer", "perfect")[1].startswith("newly passing (2)")
    code, output = diff("wrong-answer", "rejects-all")
    assert 0 == code and "fail -> rejects-valid" in output
    report = (tmp_path / "perfect" / "report.jsonl").read_text()
    (tmp_path / "cut.jsonl").write_text(report[: report.rindex('{"type": "footer"')])
    same, why = (
        "the same outcomes in all 3 cases",
        "incomplete: cut.jsonl: its last line is missing",
    )
    assert diff("perfect", "cut.jsonl") == (1, f"{same}\n{why}\n")
