"""Tables of the site."""

from pathlib import Path

from docs_tables import areas, trend
from lance_conformance.cases import Case
from lance_conformance.matrix.judged import Judged

CASES = [Case(Path(), {"id": name}) for name in ("a/1/b/c", "a/1/b/d", "t/any/b/c")]


def test_areas_count_what_is_claimed():
    """Passed of claimed; nothing claimed is a dash; all of it is good."""
    who = [
        Judged("x", "1", {"a/1/b/c": "pass", "a/1/b/d": "crash", "t/any/b/c": "pass"}, {}, {}, {}),
        Judged("y", "2", {"a/1/b/c": "unsupported"}, {}, {}, {}),
    ]
    table = areas(CASES, who)

    assert '<td>2</td><td class="bad">1 of 2</td><td class="none">–</td>' in table
    assert '<td>1</td><td class="good">1 of 1</td>' in table
    assert "<th>x 1</th><th>y 2</th>" in table


def test_a_trend_has_a_point_for_each_release():
    """One of two and two of two cases passed: 50 and 100 percent, oldest at the left."""
    rows = [
        {"releases": {"0.9": "pass", "1.0": "pass"}},
        {"releases": {"0.9": "fail", "1.0": "pass"}},
    ]
    drawn = trend({"releases": ["0.9", "1.0"], "read": rows})

    assert 2 == drawn.count("<circle")
    assert drawn.index(">50<") < drawn.index(">100<")
    assert drawn.index(">0.9<") < drawn.index(">1.0<")
