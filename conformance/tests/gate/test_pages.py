"""Pages: the head's own checkers are asked."""

from lance_conformance.gate import pages
from lance_conformance.gate.checks import Colour
from lance_conformance.gate.trees import Tree


def test_a_complaint_of_a_checker_is_red(tmp_path):
    """Three tools; one of them fails, and its words are shown."""
    (tmp_path / "tools").mkdir()
    for tool, *_ in pages.CHECKERS:
        text = "" if tool != "prose.py" else "import sys; sys.exit('page 3: 2**16 is not 65')"
        (tmp_path / "tools" / tool).write_text(text)
    check = pages.check(Tree("head", tmp_path))

    assert Colour.RED == check.colour
    assert [("tools/prose.py", "page 3: 2**16 is not 65")] == [
        (finding.place, finding.text) for finding in check.findings
    ]


def test_a_tree_without_tools_is_not_judged(tmp_path):
    """Definitions alone have no pages."""
    assert "the head has no tools" == pages.check(Tree("head", tmp_path)).skipped
