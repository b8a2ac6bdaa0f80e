"""Filters."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from lanceref.errors import QueryFailed, QueryRefused
from lanceref.query.filter import bind_filter

BATCH = pa.record_batch({"a": [1, None, 3], "ab": ["x", "y", None]})


def test_only_true_passes():
    """Null does not."""
    assert [False, False, True] == bind_filter("a > 1", BATCH.schema).mask(BATCH).tolist()


def test_an_arrow_expression_filters_too():
    """With the columns it names, and perhaps one whose name is part of another."""
    found = bind_filter(pc.field("ab") == "x", BATCH.schema)

    assert "ab" in found.columns
    assert [True, False, False] == found.mask(BATCH).tolist()


def test_columns_are_named_in_the_order_of_the_schema():
    """Whatever order the text has."""
    assert ("a", "ab") == bind_filter("ab = 'x' and a = 1", BATCH.schema).columns


def test_what_is_no_condition_is_refused():
    """A number, another type of filter."""
    with pytest.raises(QueryRefused, match="does not return a boolean"):
        bind_filter("a + 1", BATCH.schema)
    with pytest.raises(TypeError):
        bind_filter(7, BATCH.schema)


def test_a_failure_on_values_has_its_own_error():
    """Division by zero; Arrow's error too."""
    wrong = pa.record_batch({"a": [0], "ab": ["x"]})
    with pytest.raises(QueryFailed) as caught:
        bind_filter("1 / a = 1", BATCH.schema).mask(wrong)

    assert isinstance(caught.value, pa.ArrowInvalid)
    with pytest.raises(QueryFailed):
        bind_filter(pc.divide_checked(pc.scalar(1), pc.field("a")) == 1, BATCH.schema).mask(wrong)
