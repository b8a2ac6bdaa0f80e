"""Tests of floors: the release from which on a feature is there."""

from __future__ import annotations

from collections.abc import Callable

from lance_conformance.cases import Case
from lance_conformance.matrix.floors import Floor, first_that_differs, floors
from lance_conformance.matrix.judged import Judged

CASE = "toy/any/read/columns"


def _released(version: str, outcome: str) -> Judged:
    return Judged("pylance", version, {CASE: outcome}, {CASE: ""}, {}, {})


def _since(make_case: Callable[..., Case], *outcomes: str) -> str | None:
    releases = [_released(str(n), outcome) for n, outcome in enumerate(outcomes)]
    (floor,) = floors([make_case(CASE)], releases)
    return floor.since


def test_the_floor_has_no_hole_above(make_case: Callable[..., Case]) -> None:
    """It is the oldest release from which on every later one passes too."""
    assert "0" == _since(make_case, "pass", "pass", "pass")
    assert "2" == _since(make_case, "pass", "fail", "pass")
    assert "1" == _since(make_case, "unsupported", "pass", "pass")
    assert _since(make_case, "pass", "pass", "crash") is None


def test_what_is_wrong_says_nothing_of_a_feature(make_case: Callable[..., Case]) -> None:
    """Negative cases and those for validators have no floor; a case not run is not passed."""
    cases = [make_case("a/b/c/neg-x", "negative-file"), make_case("a/b/c/lint-y", "lint")]

    assert [] == floors(cases, [_released("1", "pass")])
    wanted = [Floor("a/b/c", 1, None, ("a/b/c/d",))]
    assert wanted == floors([make_case("a/b/c/d")], [_released("1", "pass")])


def test_the_first_that_differs_is_the_newest() -> None:
    """From the newest release down, whatever its outcome is."""
    told = {"1": "pass", "2": "fail", "3": "pass", "4": "pass"}

    assert "2" == first_that_differs(told, list(told))
    assert first_that_differs({"1": "fail", "2": "fail"}, ["1", "2"]) is None
