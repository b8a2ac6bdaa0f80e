"""What deeds leave in a table, and what is said of it."""

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.campaigns.faults.deeds import begin, do, faults

NUMBERS = 2

DONE = [
    ("append", 0),
    ("delete", 1),
    ("increment", 0),
    ("increment", 0),
    ("upsert", 0),
    ("insert", 1),
]


@pytest.fixture
def rows(tmp_path):
    """The rows after some deeds."""
    path = str(tmp_path / "t")
    begin(pylanceref, path, NUMBERS, stable=True, v2_names=True, options={})
    for deed in [*DONE, ("compact", 0)]:
        do(pylanceref, path, deed, {})
    return pylanceref.dataset(path).to_table()


def _found(rows, done, doubtful=()):
    return list(faults(rows, done, doubtful, NUMBERS))


def test_deeds_that_were_done_are_found(rows):
    """All of them; one in doubt may be done or not."""
    assert [] == _found(rows, DONE)
    assert [] == _found(rows, DONE[:3], DONE[3:])
    assert [] == _found(rows, DONE, [("append", 1), ("increment", 0)])


@pytest.mark.parametrize("number", range(len(DONE)))
def test_deeds_that_nobody_did_are_a_fault(rows, number):
    """As are those that were done twice, or are lost."""
    without = DONE[:number] + DONE[number + 1 :]

    assert 1 == len(_found(rows, without))


def test_deeds_that_are_lost_are_a_fault(rows):
    """The counter, rows that should be there or not, and half of an append."""
    assert 1 == len(_found(rows, [*DONE, ("increment", 0)]))
    assert 1 == len(_found(rows, [*DONE, ("append", 1)]))
    assert 1 == len(_found(rows, [*DONE, ("delete", 0)]))
    assert 1 == len(_found(rows.slice(0, len(rows) - 1), DONE))


def test_rows_that_occur_twice_or_belong_to_nobody_are_a_fault(rows):
    """Whatever they hold."""
    strange = pa.table({"id": [7], "n": [7]}).cast(rows.schema)

    assert _found(pa.concat_tables([rows, rows.slice(3, 1)]), DONE)
    assert 1 == len(_found(pa.concat_tables([rows, strange]), DONE))
