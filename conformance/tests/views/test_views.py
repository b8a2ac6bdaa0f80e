"""Views of explanations and findings: text, JSON, JUnit, tables and pages say the same."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from lance_conformance.views.explanation import summary, to_html, to_json
from lance_conformance.views.findings import to_junit
from lance_conformance.views.findings import to_text as findings_text
from lanceref.core.context import Finding
from lanceref.core.spans import Span
from lanceref.inspection import Explanation, explain_source
from lanceref.storage import BytesSource
from lanceref_spark.validation import Checked, Report, Unit

FIXTURES = Path(__file__).parents[3] / "fixtures"
LIST = (FIXTURES / "file/2.1/levels/list/data.lance").read_bytes()


def _explain(data: bytes, name: str = "data.lance") -> Explanation:
    return explain_source(BytesSource(data, name))


def _flat(*leaves: Span, size: int) -> Explanation:
    return Explanation("x", size, Span(0, size, "file", "group", children=list(leaves)), [])


def test_the_summary_adds_up_and_names_what_nobody_owns():
    """Bytes per kind and the gaps are all the bytes there are."""
    lines = list(summary(_flat(Span(0, 3, "a", "u8"), Span(5, 6, "b", "u8"), size=8)))

    assert f"  {4:>10}  u8" in lines
    assert "owned: 4 of 8 bytes (50.0 %)" in lines
    assert ["  unowned: 3..5", "  unowned: 6..8"] == lines[-2:]


def test_json_holds_the_tree_and_the_findings():
    """The leaves of the JSON are the leaves of the tree; a damaged file has findings."""
    document = json.loads(to_json(_explain(LIST[:-1] + b"X")))
    whole = json.loads(to_json(_explain(LIST)))

    def owned(span: dict) -> int:
        below = sum(map(owned, span["children"]))
        return below if span["kind"] == "group" else span["end"] - span["start"]

    assert len(LIST) == whole["size"] == owned(whole["spans"])
    assert ([], []) == (whole["findings"], whole["unowned"])
    assert "L.file.footer.magic" in [finding["clause"] for finding in document["findings"]]


def test_the_page_escapes_and_stands_alone():
    """A name of the file never becomes markup, and nothing is loaded from elsewhere."""
    page = to_html(_flat(Span(0, 2, "<b>", "u8", value="<i>"), size=2), b"\0\0")

    assert "&lt;b&gt;" in page
    assert "&lt;i&gt;" in page
    assert "<b>" not in page
    assert not re.search(r'(src|href)="', page)


def test_the_page_opens_in_a_browser(in_a_browser):
    """The page shows one row for each leaf of the explanation."""
    explained = _explain(LIST)
    shown = in_a_browser(to_html(explained, LIST))

    assert len(list(explained.root.leaves())) == len(re.findall(r'<tr id="b\d+"', shown))


BAD = Finding("L.a.b", "must", "f.lance", 7, 4, "<x>", "y & z", "f.lance at byte 7: bad")
ODD = Finding("L.a.c", "should", "f.lance", 9, 1, "1", "2", "f.lance at byte 9: odd")


def test_text_tells_every_fact():
    """Level, clause, place, found and wanted, then the count."""
    lines = list(findings_text("f.lance", Report(None, (Checked(Unit("file"), (BAD, ODD)),))))

    assert "MUST   L.a.b" == lines[0]
    assert "       f.lance at byte 7, 4 bytes" == lines[1]
    assert ["       found  <x>", "       wanted y & z"] == lines[2:4]
    assert "f.lance: 1 must, 1 should, 0 note" == lines[-1]


def test_junit_fails_for_must_only():
    """One failure, one output, and text is escaped."""
    suite = ElementTree.fromstring(to_junit("f.lance", [BAD, ODD]))

    assert ("2", "1") == (suite.get("tests"), suite.get("failures"))
    assert ["L.a.b"] == [case.get("name") for case in suite if case.find("failure") is not None]
    assert "f.lance@7" == suite[0].get("classname")
