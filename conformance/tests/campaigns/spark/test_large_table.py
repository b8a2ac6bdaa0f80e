"""Large table: made and checked by any executor, here a small one by a loop."""

import pytest
from lance_conformance.campaigns.spark import large_table
from lance_conformance.campaigns.spark.large_table import Watched, check, check_damaged, make
from lanceref_spark.jobs import Loop


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table of three fragments of 50 rows."""
    monkeypatch.setattr(large_table, "ROWS_OF_A_FRAGMENT", 50)
    told, wrong = make(Loop(), tmp_path, 1)
    assert "150 rows" in told
    assert wrong == []
    return tmp_path


def test_a_whole_table_has_no_findings_and_a_damaged_one_has_its_own(folder):
    """Two damaged files are all that is found, and are whole afterwards."""
    assert check(Loop(), folder)[1] == []
    told, wrong = check_damaged(Loop(), folder)
    assert "in 2 files" in told
    assert wrong == []
    assert check(Loop(), folder)[1] == []


def test_what_is_damaged_and_not_found_is_wrong(folder, monkeypatch):
    """Where the damage is not done, it is not found, and the step says so."""
    monkeypatch.setattr(large_table, "_flip_last", lambda path: None)
    assert check_damaged(Loop(), folder)[1]


def test_the_memory_of_workers_is_watched(monkeypatch):
    """A worker tells the most it ever held; more than it may is wrong."""
    watched = Watched(Loop())
    assert list(watched.map(lambda job, shared: job + shared, [1, 2], 10)) == [11, 12]
    assert len(watched.peaks) == 1
    assert watched.too_much() == []
    monkeypatch.setattr(large_table, "MEMORY_MIB", 1)
    assert len(watched.too_much()) == 1
