"""Order of rows, by hand and by law."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.search.projection import ColumnOrdering, sort_order

NAN = float("nan")


@pytest.mark.parametrize(
    ("ascending", "nulls_first", "wanted"),
    [(True, False, [2, 0, 3, 1]), (True, True, [1, 2, 0, 3]), (False, False, [3, 0, 2, 1])],
)
def test_nulls_stand_where_asked(ascending, nulls_first, wanted):
    """Whatever the direction; NaN is the greatest."""
    keys = [pa.array([1.0, None, -0.5, NAN])]

    assert wanted == sort_order(keys, [ColumnOrdering("f", ascending, nulls_first)]).tolist()


def test_first_keys_count_first():
    """Rows that are alike in all keep their order."""
    keys = [pa.array(["b", "a", "b", "a"]).dictionary_encode(), pa.array([1, 1, 0, 1])]

    assert [1, 3, 2, 0] == sort_order(keys, [ColumnOrdering("x"), ColumnOrdering("y")]).tolist()
    assert [] == sort_order([pa.array([], pa.int8())], [ColumnOrdering("x")]).tolist()


@given(st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 3))))
def test_order_is_that_of_tuples(rows):
    """Two keys, nulls last."""
    keys = [pa.array([row[n] for row in rows], pa.int8()) for n in (0, 1)]
    found = sort_order(keys, [ColumnOrdering("a"), ColumnOrdering("b")]).tolist()
    wanted = sorted(range(len(rows)), key=lambda at: [(one is None, one or 0) for one in rows[at]])

    assert wanted == found
