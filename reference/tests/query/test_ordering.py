"""Order of rows."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.errors import QueryRefused
from lanceref.query.ordering import ColumnOrdering, ordered

TABLE = pa.table({"a": [2, None, 1, 2], "b": ["x", "y", "z", "w"]})


@pytest.mark.parametrize(
    ("orderings", "rows"),
    [
        ([ColumnOrdering("a")], ["z", "x", "w", "y"]),
        ([ColumnOrdering("a", ascending=False)], ["x", "w", "z", "y"]),
        ([ColumnOrdering("a", nulls_first=True)], ["y", "z", "x", "w"]),
        ([ColumnOrdering("a", ascending=False, nulls_first=True)], ["y", "x", "w", "z"]),
        ([ColumnOrdering("a"), ColumnOrdering("b")], ["z", "w", "x", "y"]),
    ],
)
def test_rows_are_ordered(orderings, rows):
    """Nulls where asked, equal rows in the order they had, later columns among equal ones."""
    assert rows == ordered(TABLE, orderings)["b"].to_pylist()


def test_an_unknown_column_is_refused():
    """By name."""
    with pytest.raises(QueryRefused, match="zz"):
        ordered(TABLE, [ColumnOrdering("zz")])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_two_columns_order_like_pairs(pairs):
    """First by one, then by the other."""
    table = pa.table({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})
    table = table.cast(pa.schema({"a": pa.int64(), "b": pa.int64()}))
    found = ordered(table, [ColumnOrdering("a"), ColumnOrdering("b", ascending=False)])

    assert [{"a": a, "b": b} for a, b in sorted(pairs, key=lambda p: (p[0], -p[1]))] == (
        found.to_pylist()
    )
