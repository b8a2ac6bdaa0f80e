"""The differential campaign, on a small fixed-seed sample."""

from collections import Counter

import pytest
from lance_conformance.campaigns.census import REQUIRED, missing
from lance_conformance.campaigns.differential import Outcome, report, run


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.1", "2.2"])
def test_fourteen_random_tables_read_equal(version, tmp_path):
    """What the oracle wrote is read equal, in every way of reading."""
    outcomes = run(range(14), [version], tmp_path / "progress")

    assert [] == [outcome for outcome in outcomes if outcome.differences]
    assert all(outcome.labels for outcome in outcomes if outcome.refused is None)


@pytest.mark.oracle
def test_a_campaign_goes_on_where_it_stopped(tmp_path):
    """Outcomes in the progress file are not run again."""
    out = tmp_path / "progress"
    first = run(range(3), ["2.1"], out)
    lines = out.read_text()

    again = run(range(3), ["2.1"], out)

    assert first == again
    assert lines == out.read_text()


def test_what_never_came_up_is_a_gap():
    """Every required label that was not seen is named with its version."""
    seen = Counter(dict.fromkeys(REQUIRED["2.0"], 1))

    assert [] == missing({"2.0": seen})
    del seen["type int8"]
    assert ["2.0: type int8"] == missing({"2.0": seen})


@pytest.mark.parametrize("differences", [[], ["scan: row 1"]])
def test_a_difference_or_a_gap_fails_the_run(differences, capsys):
    """The exit code is 0 only when nothing differs and nothing is missing."""
    labels = list(REQUIRED["2.1"])
    outcome = Outcome(3, "2.1", ["c0: int8"], differences=differences, labels=labels)

    assert bool(differences) == bool(report([outcome], ["2.1"]))
    assert 1 == report([Outcome(3, "2.1", ["c0: int8"])], ["2.1"])
    assert all(told in capsys.readouterr().out for told in differences)
