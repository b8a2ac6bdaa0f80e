"""The scoreboard of the site."""

from pathlib import Path

from docs_scoreboard import heat_map, pages, scoreboard
from lance_conformance.cases import Case
from lance_conformance.matrix.judged import Judged

CASES = [
    Case(Path(), {"id": name, "kind": kind, "title": "a title"})
    for name, kind in (
        ("file/2.1/b/c", "read-file"),
        ("file/2.1/b/neg-d", "negative-file"),
        ("table/any/b/c", "read-dataset"),
    )
]
WHO = [
    Judged(
        "x",
        "1",
        {"file/2.1/b/c": "pass", "file/2.1/b/neg-d": "panic", "table/any/b/c": "unsupported"},
        {},
        {},
        {},
    )
]


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
