"""Comparisons."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.query.comparison import (
    distinct,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
)

NAN = math.nan


@pytest.mark.parametrize(
    ("compare", "found"),
    [
        (equal, [False, True, None]),
        (not_equal, [True, False, None]),
        (less, [True, False, None]),
        (less_equal, [True, True, None]),
        (greater, [False, False, None]),
        (greater_equal, [False, True, None]),
        (distinct, [True, False, True]),
    ],
)
def test_nan_is_above_all_and_equals_itself(compare, found):
    """1 against NaN, NaN against NaN, null against NaN."""
    left = pa.array([1.0, NAN, None])

    assert found == compare(left, pa.scalar(NAN)).to_pylist()


def test_zeros_are_equal_whatever_their_sign():
    """And neither is less."""
    left, right = pa.array([-0.0]), pa.array([0.0])

    assert ([True], [False]) == (equal(left, right).to_pylist(), less(left, right).to_pylist())


@pytest.mark.parametrize("type_", [pa.float16(), pa.float32(), pa.int8(), pa.uint64()])
def test_numbers_of_different_types_are_compared(type_):
    """By their values."""
    left = pa.array([1, 3]).cast(type_)

    assert [True, False] == less(left, pa.array([2.5, 2.5])).to_pylist()


def test_lists_and_structs_are_equal_by_value():
    """Null within is a value, null itself is not known."""
    left = pa.array([[1, None], [2], None])

    assert [True, False, None] == equal(left, pa.scalar([1, None], left.type)).to_pylist()


@given(st.lists(st.floats() | st.none(), min_size=1), st.floats())
def test_exactly_one_of_three_holds(values, other):
    """Less, equal or greater; none is known for null."""
    left, right = pa.array(values, pa.float64()), pa.scalar(other)
    three = zip(
        less(left, right).to_pylist(),
        equal(left, right).to_pylist(),
        greater(left, right).to_pylist(),
        strict=True,
    )

    for value, held in zip(values, three, strict=True):
        assert held == (None, None, None) if value is None else sum(held) == 1
