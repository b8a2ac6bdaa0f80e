"""The site: links, maps that name what exists, clauses as blocks, the scoreboard, all its pages."""

import importlib
import json
import re
from pathlib import Path

import docs_site
import pytest
import walk
from docs_chapters import Shown, case_link, shown, staged
from docs_links import broken
from docs_scoreboard import heat_map, pages, scoreboard
from lance_conformance.matrix.report_data import ReportData
from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case
from lint_layers import FOLDERS
from sources import ROOT


def test_links_that_lead_nowhere_are_named(tmp_path):
    """A page, a place and a file that are there, one of each that is not, one elsewhere."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html").write_text('<p id="here">x</p><a href="../two.html#L.a.b">t</a>')
    links = ["a/one.html", "a/one.html#here", "#L.a.b", "style.css", "https://x.org/y"]
    links += ["a/none.html", "a/one.html#gone", "none.css"]
    text = '<div id="L.a.b">' + "".join(f'<a href="{link}">l</a>' for link in links)
    (tmp_path / "two.html").write_text(text)
    (tmp_path / "style.css").touch()

    assert [f"two.html: {link}" for link in links[-3:]] == list(broken(tmp_path))


MAP = (ROOT / "reference" / "README.md").read_text(encoding="utf-8").split("## Which chapter")[1]
ENTRIES = sorted(set(re.findall(r"`([a-z_0-9]+\.[A-Za-z_0-9.]+)`", MAP)))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_a_module_or_a_name_in_one(entry):
    """Modules are named from `lanceref` on, functions and classes after their module."""
    try:
        importlib.import_module(f"lanceref.{entry}")
    except ModuleNotFoundError:
        home, _, name = entry.rpartition(".")
        assert hasattr(importlib.import_module(f"lanceref.{home}"), name)


def test_every_folder_is_on_the_map():
    """Every folder but that of the generated messages is on the map."""
    assert [] == [folder for folder in FOLDERS if folder != "proto" and f"`{folder}`" not in MAP]


def test_a_walk_names_the_modules_that_run():
    """The decoder of the codec is entered, a codec of other pages is not."""
    found = walk.walk(walk.input_of(ROOT / "fixtures/file/2.1/bitpack/32"))
    names = {path.stem for path in found.modules}

    assert "bitpack" in names
    assert "fsst" not in names
    assert found.num_lines == sum(path.read_text().count("\n") for path in found.modules)


TEXT = """# A chapter

```
[L.not.a.clause] in a fence
```

[L.a.b.c] reader · since 2.0
Bytes MUST be there.

[L.a.b.d] writer · since 2.0
Bytes SHOULD be there.
"""

CLAUSES = {
    "L.a.b.c": Clause("L.a.b.c", "MUST", "Bytes MUST be there.", "10-a"),
    "L.a.b.d": Clause("L.a.b.d", "SHOULD", "Bytes SHOULD be there.", "10-a"),
}


def case(name: str, role: str, status: str = "active") -> Case:
    """A case of one clause."""
    clauses = [{"id": "L.a.b.c", "role": role}]
    return Case(Path(), {"id": name, "clauses": clauses, "status": status})


def judged(name: str, **outcomes: str) -> ReportData:
    """A report of outcomes by the last part of ids."""
    found = {f"a/any/b/{slug}": outcome for slug, outcome in outcomes.items()}
    return ReportData(name, "1", found, {}, {}, {})


def test_a_clause_is_a_block_with_its_text_and_cases():
    """The label opens the block, the status closes it; fences stay."""
    found = {"L.a.b.c": Shown(["a/any/b/kept"], ["a/any/b/neg"], {"x 1": 2}, {"x 1", "y 1"})}
    text = staged(TEXT, CLAUSES, found)

    assert "[L.not.a.clause] in a fence" in text
    assert '<div class="clause shown" id="L.a.b.c">\n\n`L.a.b.c` reader · since 2.0' in text
    assert 'kept by <a href="../cases/a-any-b.html#case-kept">a/any/b/kept</a>' in text
    assert '<span class="chip bad">x 1: 2 wrong</span> <span class="chip good">y 1</span>' in text
    assert '<div class="clause " id="L.a.b.d">' in text
    assert text.count("<div") == text.count("</div>") == 2


@pytest.mark.parametrize(
    ("found", "colour"),
    [(Shown(), "lacking"), (Shown(["a"]), "lacking"), (Shown(["a"], ["b"]), "shown")],
)
def test_the_edge_tells_whether_both_kinds_are_there(found, colour):
    """A MUST needs a case that keeps it and one that breaks it."""
    assert f'"clause {colour}"' in staged(TEXT, CLAUSES, {"L.a.b.c": found})


def test_outcomes_are_counted_by_clause():
    """Unclaimed cases count for nobody; drafts and context show nothing."""
    cases = [
        case("a/any/b/kept", "positive"),
        case("a/any/b/neg", "negative"),
        case("a/any/b/draft", "positive", "draft"),
        case("a/any/b/near", "context"),
    ]
    who = [judged("x", kept="pass", neg="crash", near="fail"), judged("y", kept="unsupported")]
    one = shown(cases, who)["L.a.b.c"]

    assert (["a/any/b/kept"], ["a/any/b/neg"]) == (one.keeping, one.breaking)
    assert ({"x 1": 1}, {"x 1"}) == (one.wrong, one.right)


def test_addresses_of_cases_and_links():
    """A case has an address in the site; a link out of it is text."""
    assert "../cases/a-2.1-b.html#case-x-1-0" == case_link("a/2.1/b/x-1.0")
    text = "See [the log](../CHANGELOG.md), [`protos/`](../protos/README.md), [b](10-a.md)."

    assert "See the log, `protos/`, [b](10-a.md).\n\n" == staged(text, CLAUSES, {})


CASES = [
    Case(Path(), {"id": name, "kind": kind, "title": "a title"})
    for name, kind in (
        ("file/2.1/b/c", "read-file"),
        ("file/2.1/b/neg-d", "negative-file"),
        ("table/any/b/c", "read-dataset"),
    )
]
OUTCOMES = {"file/2.1/b/c": "pass", "file/2.1/b/neg-d": "panic", "table/any/b/c": "unsupported"}
WHO = [ReportData("x", "1", OUTCOMES, {}, {}, {})]


def test_a_row_has_the_three_numbers():
    """Valid data, damage, and what was survived, over the claimed cases."""
    row = scoreboard(CASES, WHO)

    assert '<a href="failing/x-1.html">x 1</a>' in row
    assert "<b>100%</b> <small>1 of 1</small>" in row
    assert "<b>0%</b> <small>0 of 1</small>" in row
    assert "<b>50.0%</b> <small>1 of 2</small>" in row
    assert "<td>2</td>" in row


def test_a_cell_leads_to_the_failures_of_its_part():
    """A part of which nothing is claimed is a dash."""
    table = heat_map(CASES, WHO)
    ((name, page),) = pages(CASES, WHO)

    assert '<a href="failing/x-1.html#in-file-2-1" title="1 of 2 claimed cases pass">' in table
    assert '<td class="none">–</td>' in table
    assert "failing/x-1" == name
    assert '<span id="in-file-2-1"></span>' in page
    assert '<a href="../cases/file-2.1-b.html#case-neg-d">file/2.1/b/neg-d</a>' in page
    assert "file/2.1/b/c<" not in page


def test_all_chapters_and_topics_are_staged(tmp_path):
    """Every chapter is in the table of contents, and every link of a clause is a page."""
    docs_site.stage(ROOT, tmp_path / "source")
    index = (tmp_path / "source" / "index.md").read_text()
    chapters = {path.stem for path in (ROOT / "spec").glob("*.md")}

    assert chapters == {path.stem for path in (tmp_path / "source" / "spec").glob("*.md")}
    assert all(f"spec/{name}" in index for name in chapters)
    topics = {path.parent.parent for path in (ROOT / "fixtures").rglob("case.json")}
    assert len(topics) + 1 == len(list((tmp_path / "source" / "cases").glob("*.md")))
    _three_clicks(tmp_path / "source", index)


def _three_clicks(source, index):
    """The scoreboard leads to the failures of a release, these to a case: bytes and command."""
    first = re.search(r'<a href="(failing/pylance-14.0.2).html">pylance 14.0.2</a>', index)
    failing = (source / f"{first[1]}.md").read_text()
    case = re.search(
        r'href="../(cases/[^"#]*)\.html#(case-[^"]*)">(file/2.1[^<]*/neg-[^<]*)<', failing
    )
    page = (source / f"{case[1]}.md").read_text()
    shown = page[page.index(f'id="{case[2]}"') :]

    assert f"lance-conformance run -v --only {case[3]} " in shown
    assert 'class="patched"' in shown[: shown.index("</details>")]


def test_reports_are_found_where_sessions_leave_them(tmp_path):
    """One for each implementation and version, however deep, in place of what was known."""
    header = {"type": "header", "implementation": {"name": "x", "version": "1"}, "capabilities": {}}
    footer = {"type": "footer", "outcomes": {}, "scores": {}}
    for folder in ("reference", "matrix/x"):
        (tmp_path / folder).mkdir(parents=True)
        lines = map(json.dumps, (header, {"id": "a", "outcome": "pass", "detail": ""}, footer))
        (tmp_path / folder / "report.jsonl").write_text("\n".join(lines) + "\n")

    row = {"case": "a", "releases": {"3": "crash", "14": "not run"}, "others": {"x 1": "fail"}}
    pairs = (("x", "1"), ("pylance", "3"), ("pylance", "14"))
    names = [{"name": name, "version": version} for name, version in pairs]
    known = docs_site.matrix_results({"implementations": names, "read": [row]})
    found = {one.label: one.outcomes for one in docs_site.reports(tmp_path, known)}

    assert [{"a": "fail"}, {"a": "crash"}, {}] == [one.outcomes for one in known]
    assert ["pylance 3", "pylance 14", "x 1"] == list(found)
    assert {"pylance 3": {"a": "crash"}, "pylance 14": {}, "x 1": {"a": "pass"}} == found
