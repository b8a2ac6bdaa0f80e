"""`bench`: what it prints and how it exits, on figures made by hand."""

import json

import pytest
from lance_conformance.bench import run, sides
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import GOALS
from lance_conformance.cli import app
from lance_conformance.commands import options
from typer.testing import CliRunner

FLOOR = next(goal.floor for goal in GOALS if goal.name == "P1")
"""The mean ratio of scans at which a strict run no longer fails."""


def _scan(table: str, version: str, ratio: float) -> Figure:
    return Figure("scan", table, version, ratio, 1.0, "GB/s")


@pytest.fixture
def measured(monkeypatch):
    """Figures in place of a measurement; the tests stay on all their cores."""

    def set_figures(*figures: Figure) -> None:
        monkeypatch.setattr(options, "find_spec", lambda _: True)
        monkeypatch.setattr(sides, "pin_to_one_core", lambda: None)
        monkeypatch.setattr(run, "run", lambda *_: iter(figures))

    return set_figures


def _call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bench", *arguments])
    return result.exit_code, result.stdout


def test_a_line_says_how_far_a_goal_is_reached(measured):
    """The geometric mean of 1 and 4 is 2, which is more than 1.8."""
    measured(_scan("f32", "2.1", 1.0), _scan("bool", "2.1", 4.0))
    code, told = _call("--only", "P1")

    line = told.splitlines()[-1].split()
    assert 0 == code
    assert ("P1", "2.00", "goal", "f32") == (line[0], line[-5], line[-2], line[-1])


def test_strict_fails_below_a_floor_only(measured):
    """The mean over the tables of 2.1 counts; other versions and goals do not."""
    measured(_scan("f32", "2.1", 1.01 * FLOOR), _scan("f32", "2.0", 0.1))
    assert 0 == _call("--strict", "--only", "P1")[0]
    measured(_scan("f32", "2.1", 0.99 * FLOOR))
    assert (1, 0) == (_call("--strict", "--only", "P1")[0], _call("--only", "P1")[0])


def test_json_holds_figures_and_verdicts(measured):
    """And nothing else comes on standard output."""
    measured(_scan("f32", "2.1", FLOOR))
    told = json.loads(_call("--json", "--only", "P1")[1])

    assert ["f32"] == [figure["table"] for figure in told["figures"]]
    assert [("P1", "floor")] == [(v["goal"], v["reaches"]) for v in told["verdicts"]]


@pytest.mark.parametrize("option", ["--tables", "--versions", "--only"])
def test_unknown_names_are_wrong_use(measured, option):
    """Exit 2."""
    measured()

    assert 2 == _call(option, "none")[0]
