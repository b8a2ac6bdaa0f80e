"""Bound expressions, by hand."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.query.bound import Bound, apply, as_type, constant, negated, truth

BATCH = pa.record_batch({"a": [1, 0, None]})
A = Bound(pa.int64(), lambda batch: batch["a"], frozenset("a"), frozenset("a"), is_column=True)


def test_functions_of_literals_are_evaluated_at_once():
    """Those of columns batch by batch, with the columns they read."""
    assert 3 == apply(pc.add, constant(pa.scalar(1)), constant(pa.scalar(2))).literal.as_py()
    total = apply(pc.add, A, constant(pa.scalar(2)))
    assert (pa.int64(), frozenset("a"), None) == (total.type, total.columns, total.literal)
    assert [3, 2, None] == total.evaluate(BATCH).to_pylist()


def test_a_literal_has_a_value_for_each_row():
    """As many as the batch has."""
    assert ["x"] * 3 == constant(pa.scalar("x")).evaluate(BATCH).to_pylist()


def test_values_that_fail_are_told_from_types_that_do():
    """A division by zero fails when rows are read, a wrong type before."""
    quotient = apply(pc.divide_checked, constant(pa.scalar(1)), A)
    with pytest.raises(QueryFailed, match="zero"):
        quotient.evaluate(BATCH)
    with pytest.raises(QueryRefused):
        apply(pc.utf8_length, A)
    with pytest.raises(QueryRefused, match="zero"):
        apply(pc.divide_checked, constant(pa.scalar(1)), constant(pa.scalar(0)))
    with pytest.raises(QueryRefused, match="Unsupported CAST"):
        as_type(A, pa.list_(pa.int8()))


def test_truth_values():
    """Null is an unknown one; a number is none."""
    assert not truth(constant(pa.scalar(None)), str).literal.is_valid
    assert negated(constant(pa.scalar(True))).literal.as_py() is False
    with pytest.raises(QueryRefused, match="a is int64"):
        truth(A, lambda: "a")
