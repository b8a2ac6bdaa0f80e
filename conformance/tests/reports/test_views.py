"""The report and its views: schema, stability, escaping, what repeats a failure, a browser."""

import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from lance_conformance import schemas
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.judging.known_failures import KnownFailure, Triage
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import Outcome
from lance_conformance.reports import badge, hexdump, html, jsonl, junit, markdown, rerun, score
from lance_conformance.reports.jsonl import Run
from lance_conformance.reports.terminal import print_summary
from lance_conformance.specification.register import Clause
from rich.console import Console

MakeResult = Callable[..., CaseResult]
MakeRun = Callable[..., Run]
NASTY = "<script>alert(1)</script> \x00 | ]]> ü\nsecond line"


@pytest.fixture
def run(make_result: MakeResult, make_run: MakeRun) -> Run:
    """A run with every outcome, one of them known, and a detail that wants to escape."""
    results = [
        make_result(f"toy/any/read/{outcome}", outcome, NASTY if outcome == Outcome.FAIL else "")
        for outcome in Outcome
    ]
    known = next(r for r in results if r.outcome == Outcome.CRASH)
    entry = KnownFailure(known.case.id, Outcome.CRASH, "r", "D.a.b")
    bad = tuple(r for r in results if r.outcome not in ("pass", "unsupported", "crash"))
    triage = Triage({known.case.id: entry}, bad, ("remove it",))
    return make_run(results, triage, scores=score.profiles(results))


def test_every_line_keeps_to_the_schema(run):
    """Header, cases and footer are valid lines of the published schema."""
    lines = [json.loads(line) for line in jsonl.lines(run)]

    assert [] == [problem for line in lines for problem in schemas.problems("report", line)]
    assert ["header", "case", "footer"] == [lines[at]["type"] for at in (0, 1, -1)]
    assert len(Outcome) == lines[-1]["cases"]


def test_every_view_names_a_subset(run):
    """What the folder of cases lacks is in the header, the page and both summaries."""
    line = "suite 1 (subset: 2 of 3 cases)"
    part = replace(run, subset=line)
    console = Console(file=io.StringIO(), width=200)
    print_summary(part, console)
    header = json.loads(next(jsonl.lines(part)))

    assert line == header["subset"]
    assert [] == schemas.problems("report", header)
    assert "subset" not in json.loads(next(jsonl.lines(run)))
    for view in (html.render(part), console.file.getvalue(), markdown.render(part)):
        assert "subset: 2 of 3 cases" in view
    assert "subset" not in markdown.render(run)


def test_report_is_the_same_for_the_same_outcomes(run):
    """Rendering twice gives the same bytes in every format."""
    for render in (lambda r: "".join(jsonl.lines(r)), junit.render, html.render, markdown.render):
        assert render(run) == render(run)


def test_junit_counts(run):
    """Failures, errors and skipped cases add up, and the clause is a property."""
    suite = ElementTree.fromstring(junit.render(run)).find("testsuite")

    assert suite is not None
    assert str(len(Outcome)) == suite.get("tests")
    assert ("1", "2") == (suite.get("errors"), suite.get("skipped"))
    assert str(len(Outcome) - 4) == suite.get("failures")
    assert "L.toy.columns" == suite.findall(".//property")[0].get("value")


def test_markdown_tables_hold(run):
    """A detail with a bar or a line break does not break the table."""
    rows = [line for line in markdown.render(run).splitlines() if line.startswith("| `")]

    assert len(Outcome) - 2 == len(rows)
    assert all(3 == len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows)


def test_badge_tells_both_numbers(run):
    """The badge holds correctness and breadth, as JSON and as an image that parses."""
    document = json.loads(badge.shields(run))

    assert "0% of 92.9% claimed" in document["message"]
    ElementTree.fromstring(badge.svg(run))


def test_html_escapes_and_stands_alone(run, case_bodies):
    """Nothing of an adapter's text becomes markup, and nothing is loaded from elsewhere."""
    page = html.render(run)
    bodies = case_bodies(page)

    assert "<script>alert" not in page + "".join(bodies.values())
    assert "&lt;script&gt;alert" in bodies["toy/any/read/fail"]
    assert not re.search(r'(src|href)="(https?:)?//', page)


def test_html_works_in_a_browser(run, in_a_browser):
    """The page starts at what is unexpected, and opens the case that its address names."""
    page = html.render(run)
    shown = in_a_browser(page, "toy/any/read/pass")

    assert 'value="unexpected" aria-pressed="true"' in in_a_browser(page)
    assert 'value="all" aria-pressed="true"' in shown
    assert re.search(r'<details class="case" id="toy/any/read/pass"[^>]* open=""', shown)


def test_filter_search_and_case_come_back_with_the_address(run, in_a_browser):
    """A fragment with filter, search and opened case gives the view that it was taken from."""
    address = "show=fail&q=l.toy.col&case=toy/any/read/fail"
    shown = in_a_browser(html.render(run), address)
    found = shown[shown.index('<ul class="found"') :]

    assert 'value="fail" title="a wrong response" aria-pressed="true"' in shown
    assert re.search(r'id="toy/any/read/fail"[^>]* open=""', shown)
    assert re.search(r'id="toy/any/read/panic"[^>]* hidden=""', shown)
    assert '<li><a href="#q=L.toy.columns">L.toy.columns</a>' in found[: found.index("</ul>")]


def test_three_clicks_lead_to_bytes_and_command(run, tmp_path, make_result, in_a_browser):
    """From the numbers to the failures of one, to a case, to its bytes and what repeats it."""
    (tmp_path / "data.lance").write_bytes(bytes(range(20)))
    bad = make_result("toy/any/read/bad", Outcome.FAIL)
    good = make_result("toy/any/read/good", Outcome.PASS)
    clicks = """<script>
      document.querySelector('a[href="#show=wrong-valid"]').click();
      setTimeout(() => document.querySelector("details.case:not([hidden]) summary").click(), 500);
    </script></body>"""
    page = html.render(replace(run, results=[good, bad])).replace("</body>", clicks)

    shown = in_a_browser(page)

    assert re.search(r'id="toy/any/read/bad"[^>]* open=""', shown)
    assert re.search(r'id="toy/any/read/good"[^>]* hidden=""', shown)
    assert "lance-conformance run -v --only toy/any/read/bad" in shown
    assert "00 01 02 03" in shown


def test_an_opened_case_shows_its_bytes(run, tmp_path, make_result, in_a_browser):
    """Bytes are packed into the page; with a case they are laid out, patch and owner marked."""
    (tmp_path / "data.lance").write_bytes(bytes(range(20)))
    (tmp_path / "data.lance.hexmap").write_text("0 4 word L.a.b first word\n4 20 page - rest\n")
    patch = {"target": "data.lance", "at": 2, "was_hex": "02", "now_hex": "02", "meaning": "m"}
    result = make_result(outcome=Outcome.FAIL, patch=[patch])
    text = html.render(replace(run, results=[result]))

    shown = in_a_browser(text, result.case.id)

    assert ">00 01<" not in text
    assert '<span class="s0" title="first word (word) L.a.b">00 01</span>' in shown
    assert '<span class="s0 patched" title="first word (word) L.a.b">02</span>' in shown
    assert "data.lance, bytes 0 to 20 of 20" in shown
    assert '<span class="owner" title="">first word (word) L.a.b</span>' in shown


def test_a_wrong_answer_has_its_rows_side_by_side(run, make_result, in_a_browser):
    """The rows that differ are a table of expected and found values."""
    table, other = pa.table({"a": [1, 2, 3]}), pa.table({"a": [1, 5, 6]})
    result = make_result("toy/any/read/fail", Outcome.FAIL, first_difference(table, other))

    shown = in_a_browser(html.render(replace(run, results=[result])), result.case.id)

    row = '<td class="num">{}</td><td><code>{}</code></td><td><code>{}</code></td>'
    assert row.format(1, 2, 5) in shown and row.format(2, 3, 6) in shown


def test_hex_view_marks_the_patch(tmp_path, make_result):
    """Segments follow the hexmap, the patched bytes stand apart, and a far patch moves the view."""
    data = bytes(range(256)) * 4
    (tmp_path / "data.lance").write_bytes(data)
    (tmp_path / "data.lance.hexmap").write_text("0 4 word L.a.b first word\n4 1024 page - rest\n")
    patch = {"target": "data.lance", "at": 2, "was_hex": "02", "now_hex": "02", "meaning": "m"}
    near = hexdump.hex_view(make_result(patch=[patch]).case)
    far = hexdump.hex_view(make_result(patch=[{**patch, "at": 900}]).case)

    assert near is not None
    assert far is not None
    assert ["00 01", "02", "03", "04 05 06 07 08 09 0a 0b 0c 0d 0e 0f"] == [
        segment.hex for segment in near.lines[0].segments
    ]
    assert [False, True, False, False] == [s.patched for s in near.lines[0].segments]
    assert "first word (word) L.a.b" == near.lines[0].segments[0].title
    assert (768, 1024) == (far.start, far.end)


CLAUSE = Clause("L.toy.columns", "MUST", "Columns MUST be equal.", "toy")


def test_each_view_has_the_clause_and_the_commands(make_result, make_run, case_bodies):
    """In JUnit as the text of the failure, in HTML below the case; no clause where it passes."""
    wrong, good = make_result(outcome=Outcome.FAIL), make_result("toy/any/read/good")
    adapter = ("--", "my reader", "x")
    run = make_run([good, wrong], register={CLAUSE.id: CLAUSE}, repeat_with=adapter)
    rerun = "lance-conformance run -v --only toy/any/read/columns -- 'my reader' x"

    (failure,) = ElementTree.fromstring(junit.render(run)).findall(".//failure")
    text = failure.text or ""
    assert rerun in text
    assert "clause   L.toy.columns MUST: Columns MUST be equal." in text
    bodies = case_bodies(html.render(run))
    failed = bodies[wrong.case.id]
    assert "lance-conformance explain toy/any/read/columns" in failed
    assert "Columns MUST be equal." in failed and "run -v --only" in failed
    assert "Columns MUST be equal." not in bodies[good.case.id]


def test_another_folder_of_cases_is_in_both_commands(make_result, make_run):
    """A case of it is not found without."""
    run = make_run([], repeat_with=("--fixtures", "mine", "--", "reader"))
    again, explained = rerun.commands(run, make_result().case)

    assert again.endswith("--fixtures mine -- reader")
    assert explained.endswith("toy/any/read/columns --fixtures mine")


def test_bytes_around_the_patch_have_their_owners(tmp_path, make_result):
    """Two owners before, the patch, two after."""
    (tmp_path / "data.lance").write_bytes(bytes(range(32)))
    (tmp_path / "data.lance.hexmap").write_text(
        "".join(f"{4 * n} {4 * n + 4} u32 L.a.b word {n}\n" for n in range(8))
    )
    patch = {"target": "data.lance", "at": 8, "was_hex": "00", "now_hex": "08090a0b", "meaning": ""}
    found = rerun.patched_bytes(make_result(patch=[patch]).case)

    assert [0, 4, 8, 12, 16] == [one.start for one in found]
    assert [False, False, True, False, False] == [one.patched for one in found]
    assert rerun.ByteRange(8, "08 09 0a 0b", "word 2 (u32) L.a.b", True) == found[2]


def test_a_command_names_no_folder_of_this_machine(tmp_path, monkeypatch):
    """The interpreter is `python`, and paths below the working directory are relative."""
    command = (sys.executable, str(Path.cwd() / "reader.py"), "-q")

    assert ("python", "reader.py", "-q") == rerun.shown_command(command)
    (tmp_path / "mine").touch(0o755)
    monkeypatch.chdir(tmp_path)
    assert ("./mine",) == rerun.shown_command([str(tmp_path / "mine")])
