"""The site: its source has a page for everything."""

import json
import re

import docs_site
from sources import ROOT


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
    names = [
        {"name": name, "version": n}
        for name, n in (("x", "1"), ("pylance", "3"), ("pylance", "14"))
    ]
    known = docs_site.told({"implementations": names, "read": [row]})
    found = {one.label: one.outcomes for one in docs_site.reports(tmp_path, known)}

    assert [{"a": "fail"}, {"a": "crash"}, {}] == [one.outcomes for one in known]
    assert ["pylance 3", "pylance 14", "x 1"] == list(found)
    assert {"pylance 3": {"a": "crash"}, "pylance 14": {}, "x 1": {"a": "pass"}} == found
