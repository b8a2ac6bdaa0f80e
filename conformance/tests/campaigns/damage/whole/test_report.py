"""Report of whole tables: a line for each kind, a command for each fault, and the exit code."""

import io

import pytest
from lance_conformance.campaigns.damage.whole.cases import Outcome
from lance_conformance.campaigns.damage.whole.report import faults, report
from lance_conformance.campaigns.damage.whole.trial import Step
from rich.console import Console


def _outcome(kind: str = "done", detail: str = "", seconds: float = 0.1, peak: int = 10) -> Outcome:
    steps = [Step("open", "done", "", 0.1, 10, 0), Step("take", kind, detail, seconds, peak, 0)]
    return Outcome("fifo:28", "fifo", "early", "told", steps)


def _told(*outcomes: Outcome) -> tuple[int, list[str]]:
    out = io.StringIO()
    code = report(outcomes, 7, Console(file=out, soft_wrap=True, width=300, highlight=False))
    return code, [" ".join(line.split()) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("outcome", "rule"),
    [
        (_outcome("escape", "OSError: '' at a.py:1 f"), "escape"),
        (_outcome("out", "new outside: x"), "out"),
        (_outcome("abort", "signal 9"), "abort"),
        (_outcome("hang", "idle at a.py:1"), "hang"),
        (_outcome(peak=65 * 2**20), "memory"),
    ],
)
def test_each_rule_can_be_broken(outcome, rule):
    """The command that repeats the case follows, and the exit code is 1."""
    code, lines = _told(outcome)

    assert [rule] == [fault.rule for fault in faults([outcome])]
    assert 1 == code
    command = "python -m lance_conformance.campaigns.damage --family whole-tables"
    assert f"{command} --seed 7 --only 'fifo:28'" in lines
    assert f"whole tables: 1 cases, {rule} 1" == lines[-1]


def test_a_slow_case_is_told_and_breaks_no_rule():
    """It is counted under its kind."""
    code, lines = _told(_outcome(seconds=2.5))

    assert 0 == code
    assert "slow, which no rule forbids: 1 cases" == lines[-2]
    assert "whole tables: 1 cases, every rule kept" == lines[-1]


def test_answers_are_counted_by_kind():
    """Cases, right, wrong, errors, escapes, hangs, slow, memory."""
    right, wrong, refused = _outcome("right"), _outcome("wrong"), _outcome("err")
    code, lines = _told(right, wrong, refused, _outcome("escape", "x at y"))

    assert 1 == code
    assert lines[1].startswith("fifo 4 1 1 1 1 0 0 0 ")
    assert lines[2].startswith("all 4 1 1 1 1 0 0 0 ")
    assert (0, "whole tables: 3 cases, every rule kept") == (
        _told(right, wrong, refused)[0],
        _told(right, wrong, refused)[1][-1],
    )


def test_the_same_fault_of_many_cases_is_one_line():
    """By where it was raised."""
    some = [_outcome("escape", f"OSError: '{n}' at a.py:1 f") for n in range(3)]
    _, lines = _told(*some)

    assert 1 == sum("cases escape" in line for line in lines)


def test_no_cases_are_no_report():
    """Another family was asked for."""
    assert (0, []) == _told()
