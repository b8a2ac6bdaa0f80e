"""Tests of text from outside: clean, and inert in Markdown, JUnit, HTML, terminal and badge."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lance_conformance.gate import comment
from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree
from lance_conformance.judging.known_failures import KnownFailure, Triage
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import Claims
from lance_conformance.reports import badge, html, jsonl, junit, markdown
from lance_conformance.reports.terminal import print_summary
from lance_conformance.untrusted_text import markdown_code, markdown_prose, printable
from rich.console import Console

MARKUP = st.sampled_from(
    [
        *("<script>alert(1)</script>", "]]>", "[a](javascript:x)", "![i](http://e)", "@octocat"),
        *("`", "``", "|", "\\", "\n# h", "&amp;", "www.e.f", "$x$", "[bold]x[/nope]", "[link=e]"),
        *("\x1b[31m", "\x1b]0;t\x07", "\u202e", "\ud800", "\x00", "\ufffe", "\x85", "\r\n"),
    ]
)
TEXTS = st.lists(MARKUP | st.text(st.characters(codec=None), max_size=5), max_size=6).map("".join)
"""Random text with controls, surrogates and markup."""

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@given(TEXTS)
def test_clean_text_is_printable(text):
    """Nothing is left that steers a terminal or cannot be encoded; cleaning twice is cleaning."""
    found = printable(text)

    assert FORBIDDEN.search(found) is None
    assert found == printable(found)
    assert found == found.encode().decode()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words, 3 rows", "plain words, 3 rows"),
        ("<b>|", "\\<b\\>\\|"),
        ("[a](http://x)", "\\[a\\]\\(http:\\//x\\)"),
        ("see @you and #1", "see \\@\u200byou and \\#\u200b1"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("a\n# b", "a \\#\u200b b"),
        ("www.x.org", "www\\.x.org"),
    ],
)
def test_prose_is_inert(text, written):
    """What begins markup, a link, a mention or a block is escaped."""
    assert written == markdown_prose(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [("a/b", "`a/b`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", "`a\\|b`"), ("", "")],
)
def test_code_is_one_span(text, written):
    """A code span is fenced by more ticks than it holds, and bars of a cell are escaped."""
    assert written == markdown_code(text, cell=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=TEXTS, detail=TEXTS, other=TEXTS)
def test_reports_are_well_formed(name, detail, other, make_result, make_run):
    """Whatever texts a result holds, each report parses and shows no markup of theirs."""
    known = make_result(f"a/b/{other}", Outcome.FAIL, detail, title=other)
    failed = make_result("a/b/d", Outcome.CRASH, detail, title=name)
    entry = KnownFailure(known.case.id, Outcome.FAIL, other, other)
    implementation = {"name": name, "version": other, "language": name, "homepage": other}
    claims = Claims(implementation, {"x": {}}, {})
    triage = Triage({known.case.id: entry}, (failed,), (other,))
    run = make_run([known, failed], triage, claims=claims, incomplete=other)

    ElementTree.fromstring(junit.render(run))
    ElementTree.fromstring(badge.svg(run))
    json.loads(badge.shields(run))
    assert 4 == len([json.loads(line.encode()) for line in jsonl.lines(run)])
    page = html.render(run)
    HTMLParser().feed(page)
    assert "<script>alert" not in page
    assert FORBIDDEN.search(page) is None
    shown = markdown.render(run)
    assert FORBIDDEN.search(shown) is None
    rows = [line for line in shown.splitlines() if line.startswith("| `")]
    assert all(4 == len(re.findall(r"(?<!\\)\|", row)) for row in rows)
    sink = io.StringIO()
    print_summary(run, Console(file=sink, width=200))
    assert FORBIDDEN.search(sink.getvalue()) is None


@given(TEXTS)
def test_comment_is_inert(text):
    """A finding of the gate stays on its line, without mentions."""
    check = Check(
        "x", (Finding(Colour.RED, text, text, text), Finding(Colour.RED, "p", text, text))
    )
    shown = comment.markdown(Tree(text, Path()), Tree("b", Path()), [check])

    assert 12 == len(shown.splitlines())
    assert FORBIDDEN.search(shown) is None
    assert "](" not in shown.splitlines()[-1]
    assert "@octocat" not in shown.splitlines()[-1]
    json.loads(comment.to_json(Tree(text, Path()), Tree("b", Path()), [check]))
