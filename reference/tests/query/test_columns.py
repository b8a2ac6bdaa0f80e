"""Computed columns."""

import pyarrow as pa
import pytest
from lanceref.errors import QueryRefused
from lanceref.query.columns import bind_columns

BATCH = pa.record_batch({"a": [1, None], "b": ["x", "y"]})


def test_expressions_become_columns():
    """In their order, under their names; a constant is never null."""
    made = bind_columns({"twice": "a * 2", "k": "'k'", "n": "null"}, BATCH.schema)
    batch = made.batch(BATCH)

    assert {"twice": [2, None], "k": ["k", "k"], "n": [None, None]} == batch.to_pydict()
    assert [True, False, True] == [field.nullable for field in made.schema]
    assert {"a"} == made.columns


def test_an_unknown_column_is_refused():
    """The others are named."""
    with pytest.raises(QueryRefused, match="Valid fields are a, b"):
        bind_columns({"x": "zz"}, BATCH.schema)
