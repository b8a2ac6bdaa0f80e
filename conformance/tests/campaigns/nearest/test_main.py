"""What the campaign prints."""

from __future__ import annotations

from lance_conformance.campaigns.nearest.__main__ import report
from lance_conformance.campaigns.nearest.running import Outcome

CASE = "IVF_PQ/dot/f16/2.1/plain/oracle"


def test_a_line_for_each_type_number_and_metric(capsys):
    """With all questions to its tables."""
    some = [
        Outcome(CASE, 1, {"same": 4, "refused": 2}, [], 4, 4.0),
        Outcome(CASE, 2, {"tied": 5, "D.x": 1}, ["D.y"], 5, 5.0),
        Outcome("IVF_SQ/l2/u8/2.1/plain/oracle", 1, no_index="no"),
    ]
    assert 0 == report(some)
    lines = capsys.readouterr().out.splitlines()
    assert ["IVF_PQ", "f16", "dot", "2", "12", "0", "1.0000"] == lines[1].split()
    assert "3 cases, 1 have no index; 13 verdicts:" == lines[2]
    assert ["D.x 1", "D.y 1", "refused 2", "same 4", "tied 5"] == [one.strip() for one in lines[3:]]


def test_what_differs_ends_the_run(capsys):
    """A difference does, and so do too many rows that only one found."""
    assert 1 == report([Outcome(CASE, 1, {"other rows": 1}, [], 1, 1.0, "", ["here"])])
    assert f"DIFFERENCE {CASE}, seed 1: here" == capsys.readouterr().out.splitlines()[0]
    assert 1 == report([Outcome(CASE, 1, {"walked": 1}, [], 1, 0.96)])
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("IVF_PQ")
    assert told.endswith(": fewer than 97% of the rows are the same")
    assert 0 == report([Outcome(CASE, 1, {"walked": 1}, [], 1, 0.97)])
