"""Comment: one page, worst first, and the same as JSON."""

import json
from pathlib import Path

from lance_conformance.gate import comment
from lance_conformance.gate.checks import Check, Colour, Finding, worst
from lance_conformance.gate.trees import Tree

BASE, HEAD = Tree("main", Path()), Tree("topic", Path())
CHECKS = [
    Check("wire breaks", (Finding(Colour.RED, "a.proto:3", "deleted"),)),
    Check("clauses", (Finding(Colour.YELLOW, "L.a.b.c", "says now: x", "L.a.b.c"),)),
    Check("golden drift"),
    Check("old readers, new bytes", skipped="no old reader is named"),
]


def test_the_comment_has_a_row_for_every_check():
    """Red first, a skipped check says why, a clause is not repeated after itself."""
    lines = comment.markdown(BASE, HEAD, CHECKS).splitlines()

    assert "## 🔴 red: what this change does to the Lance format" == lines[0]
    assert "| wire breaks | 🔴 red | 1 | 0 |" in lines
    assert "| clauses | 🟡 yellow | 0 | 1 |" in lines
    assert "| golden drift | 🟢 green | 0 | 0 |" in lines
    assert "| old readers, new bytes | not judged: no old reader is named | | |" in lines
    assert "* 🟡 `L.a.b.c`: says now: x" in lines


def test_long_lists_are_cut_red_first():
    """Twenty of each; the reds are among them."""
    many = [Finding(Colour.YELLOW, f"p{i}", "new field") for i in range(30)]
    text = comment.markdown(
        BASE, HEAD, [Check("x", (*many, Finding(Colour.RED, "last", "broken")))]
    )

    assert text.index("`last`") < text.index("`p0`")
    assert "* … and 11 more, in the JSON" in text


def test_json_has_everything():
    """Colours are words; what was skipped has none."""
    document = json.loads(comment.to_json(BASE, HEAD, CHECKS))

    assert ("main", "topic", "red") == tuple(document[key] for key in ("base", "head", "colour"))
    assert ["red", "yellow", "green", ""] == [check["colour"] for check in document["checks"]]
    assert {
        "colour": "red",
        "place": "a.proto:3",
        "text": "deleted",
        "clause": "",
    } == document["checks"][0]["findings"][0]


def test_nothing_found_is_green():
    """Without findings there is nothing to fear."""
    assert Colour.GREEN == worst([Check("x"), Check("y", skipped="no reason")]) == worst([])
