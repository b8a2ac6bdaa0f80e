"""The writing campaign, on a small fixed-seed sample."""

import pytest
from lance_conformance.campaigns.identity import IDENTICAL
from lance_conformance.campaigns.written import Written, report, run


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_ten_random_tables_are_written_so_that_both_read_them(version, tmp_path):
    """No difference, and most files of 2.0 to 2.2 have the oracle's bytes."""
    outcomes = run(range(10), [version], tmp_path / "progress")

    assert [] == [one for one in outcomes if one.differences]
    if version != "2.3":
        assert sum(one.bytes == IDENTICAL for one in outcomes) >= 5


@pytest.mark.oracle
def test_a_campaign_goes_on_where_it_stopped(tmp_path):
    """Outcomes in the progress file are not run again."""
    out = tmp_path / "progress"
    first = run(range(2), ["2.1"], out)
    lines = out.read_text()

    assert first == run(range(2), ["2.1"], out)
    assert lines == out.read_text()


def test_the_share_of_identical_files_is_printed(capsys):
    """Refused tables and those with FSST do not count; what differs is named."""
    found = ["identical", "fsst", None, "column 0 page 1: encoding, flat"]
    pages = [1, 1, 0, 2]
    outcomes = [
        Written(seed, "2.1", [], one, many)
        for seed, (one, many) in enumerate(zip(found, pages, strict=True))
    ]

    assert report(outcomes, ["2.1"]) == 0
    told = capsys.readouterr().out
    assert "1 of 2 others identical (50.0%)" in told
    assert "1 x encoding, flat" in told
    assert "of one page per column: 1 of 1 identical" in told


def test_a_difference_fails_the_run(capsys):
    """The exit code is 1 and the seed is named."""
    assert report([Written(3, "2.0", ["c: int8"], differences=["oracle: row 1"])], ["2.0"]) == 1
    assert "seed 3, 2.0" in capsys.readouterr().out
