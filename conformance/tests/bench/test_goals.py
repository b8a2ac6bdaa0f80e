"""Goals: how figures are judged, on figures made by hand."""

import pytest
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import GOALS, Goal, judge

FASTER = Goal("G", "speed", ("scan",), 2, 1, ("2.1",), ("f32", "bool"))
FEWER = Goal("H", "counts", ("take bytes",), 1, 1, ("2.1",), ("f32", "bool"), at_most=True)


def _figure(table: str, ours: float, oracle: float, measure: str = "scan") -> Figure:
    return Figure(measure, table, "2.1", ours, oracle, "")


def test_a_ratio_is_ours_over_the_oracles():
    """Nothing over nothing is even; something over nothing is without bound."""
    assert 1.5 == _figure("f32", 3, 2).ratio
    assert (1.0, float("inf")) == (_figure("f32", 0, 0).ratio, _figure("f32", 1, 0).ratio)


@pytest.mark.parametrize(("ours", "word"), [(4.0, "goal"), (1.5, "floor"), (0.9, "below")])
def test_the_worst_table_decides(ours, word):
    """The other one is twice as good."""
    (verdict,) = judge([FASTER], [_figure("f32", 2 * ours, 1), _figure("bool", ours, 1)])

    assert (word, "bool", ours) == (verdict.word, verdict.table, verdict.value)


def test_the_worst_of_what_shall_be_small_is_the_largest():
    """And it is enough to be even."""
    figures = [_figure("f32", 1, 1, "take bytes"), _figure("bool", 1, 2, "take bytes")]
    (verdict,) = judge([FEWER], figures)

    assert ("goal", "f32", 1.0) == (verdict.word, verdict.table, verdict.value)


def test_a_mean_is_geometric():
    """That of 1 and 4 is 2."""
    goal = Goal("G", "speed", ("scan",), 2, 1, ("2.1",), ("f32", "bool"), mean=True)
    (verdict,) = judge([goal], [_figure("f32", 1, 1), _figure("bool", 4, 1)])

    assert verdict.value == pytest.approx(2)


def test_an_absolute_goal_does_not_ask_the_oracle():
    """40 MiB are 40 MiB, whatever the oracle takes."""
    goal = Goal("G", "", ("memory",), 40, 40, ("2.1",), ("f32",), at_most=True, absolute=True)

    assert ["below"] == [v.word for v in judge([goal], [_figure("f32", 41, 99, "memory")])]


def test_what_was_not_measured_is_not_judged():
    """Other versions and tables do not count either."""
    others = [Figure("scan", "f32", "2.0", 1, 1, ""), _figure("strlow", 1, 1)]

    assert [] == list(judge([FASTER], others))


def test_a_floor_is_never_better_than_its_goal():
    """Of all goals there are, with names of their own."""
    assert all(goal.reached(goal.goal, goal.floor) for goal in GOALS)
    assert len(GOALS) == len({goal.name for goal in GOALS})
