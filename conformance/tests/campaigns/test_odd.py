"""Odd campaign: what the oracle cannot read stays known, everything else both readers read."""

import pytest
from lance_conformance.campaigns.odd import KNOWN, TOGETHER, Row, conclude, print_row, run_oddity
from lance_conformance.campaigns.oracle_child import OracleChild
from lanceref_testing.oddities import ALL


@pytest.fixture(scope="module")
def oracle():
    """One child for all."""
    child = OracleChild()
    yield child
    child.close()


@pytest.mark.oracle
@pytest.mark.parametrize("oddity", [name for name in KNOWN if "cut" not in name])
def test_the_oracle_cannot_read(tmp_path, oracle, oddity):
    """Each known divergence shows in some of four files, and the reference reads all."""
    version = "2.3" if KNOWN[oddity] == "D.codec.deltas" else "2.0"

    row = run_oddity(version, oddity, 4, tmp_path, oracle)

    assert row.files == 4
    assert row.ours == []
    assert row.theirs


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_both_readers_read_all_other_oddities(tmp_path, oracle, version):
    """All at once."""
    row = run_oddity(version, TOGETHER, 6, tmp_path, oracle)

    assert (row.files, row.ours, row.theirs) == (6, [], [])


def test_every_known_oddity_exists():
    """Names are written alike."""
    assert KNOWN.keys() <= ALL


def test_a_row_surprises_when_the_reference_fails_or_the_oracle_unheard_of():
    """The exit code says so."""
    known = next(iter(KNOWN))
    sound = [Row("2.0", "bitpacked", 3), Row("2.0", known, 3, theirs=["seed 1: died"])]
    assert conclude(sound) == 0
    assert conclude([Row("2.0", "bitpacked", 3, theirs=["seed 1: died"])]) == 1
    assert conclude([Row("2.0", "bitpacked", 3, ours=["seed 1: refused"])]) == 1


def test_a_row_is_printed_with_what_failed(capsys):
    """Counts of both readers, and the first faults of the reference."""
    print_row(Row("2.0", "bitpacked", 3, ours=["seed 1: refused"]))
    told = capsys.readouterr().out
    assert "3 files, reference 1 wrong, oracle 0 wrong" in told
    assert "seed 1: refused" in told
