"""Restriction: a filter and row ids, both of which must hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.index.row_set import RowSet, row_set
from lanceref.search.filter import Restricted
from lanceref.search.index_plan import boundings
from pylanceref.sql.columns import bind_filter

SCHEMA = pa.schema([("a", pa.int64()), ("_rowid", pa.uint64())])
BATCH = pa.record_batch([pa.array([1, 2, None, 4]), pa.array([7, 8, 9, 10], pa.uint64())], SCHEMA)


@pytest.mark.parametrize(
    ("own", "ids", "passed"),
    [
        (None, [8, 10, 10, 99], [False, True, False, True]),
        ("a > 1", [7, 8, 9], [False, True, False, False]),
        ("_rowid < 10", [10, 9], [False, False, True, False]),
        ("a > 1", [], [False] * 4),
    ],
)
def test_both_must_hold(own, ids, passed):
    """Ids in any order, twice, and of no row; the id is a column it reads once."""
    bound = bind_filter(Restricted(own, row_set(np.array(ids, np.uint64))), SCHEMA)

    assert passed == bound.mask(BATCH).tolist()
    assert 1 == bound.columns.count("_rowid") == bound.paths.count("_rowid")


def test_bounds_are_those_of_the_filter():
    """None without one."""
    bound = bind_filter(Restricted("a > 1", row_set(np.array([1], np.uint64))), SCHEMA)

    assert ["a"] == [one.path for one in boundings(bound.predicate)]
    free = bind_filter(Restricted(None, row_set(np.array([1], np.uint64))), SCHEMA)
    assert free.predicate is None


def test_blocked_rows_do_not_pass():
    """Nor do those of a fragment that is blocked as a whole."""
    rows = row_set(np.array([8], np.uint64))
    blocked = bind_filter(Restricted("a > 1", rows, blocked=True), SCHEMA)
    whole = bind_filter(Restricted(None, RowSet(whole=frozenset([0]))), SCHEMA)

    assert [False, False, False, True] == blocked.mask(BATCH).tolist()
    assert [True] * 4 == whole.mask(BATCH).tolist()
