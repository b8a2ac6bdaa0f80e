"""What the campaign prints."""

from __future__ import annotations

from lance_conformance.campaigns.answers.__main__ import report
from lance_conformance.campaigns.answers.finding import Score


def test_wrong_answers_are_counted_and_shown(capsys):
    """A line for each table; the share of the data that was read."""
    scores = {
        "theirs": Score(10, 9, 100, 30, 60),
        "ours": Score(10, 9, 100, 0, 60, ["c = 1: 2 rows, not 1"]),
    }
    assert report([("btree-int8", scores)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["btree-int8", "theirs", "10", "9", "50.0%"]
    assert lines[3].strip() == "c = 1: 2 rows, not 1"
    assert lines[-1] == "20 questions, 1 answered wrongly"
