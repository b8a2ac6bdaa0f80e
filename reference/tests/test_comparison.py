"""Comparison, by hand and by laws."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core import comparison
from lanceref.core.comparison import less, total_order

NAN = float("nan")


def test_floats_have_a_total_order():
    """NaN is the greatest, -NaN the least; zeros differ."""
    values = [-NAN, -math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, NAN]
    keys = total_order(pa.array(values)).to_pylist()

    assert sorted(set(keys)) == keys


@pytest.mark.parametrize(
    ("compare", "wanted"),
    [
        (comparison.equal, [False, True, True, False, None]),
        (comparison.less_equal, [True, True, True, False, None]),
        (comparison.greater_equal, [False, True, True, True, None]),
    ],
)
def test_a_written_zero_counts_as_both_zeros(compare, wanted):
    """On either side, for every comparison."""
    values = pa.array([-1.0, -0.0, 0.0, NAN, None])
    turned = {
        comparison.equal: comparison.equal,
        comparison.less_equal: comparison.greater_equal,
        comparison.greater_equal: comparison.less_equal,
    }

    for zero in (pa.scalar(0.0), pa.scalar(-0.0)):
        assert wanted == compare(values, zero).to_pylist()
        assert wanted == turned[compare](zero, values).to_pylist()


def test_a_written_zero_is_not_less_than_zeros():
    """Neither on the left nor on the right."""
    values = pa.array([-1.0, -0.0, 0.0, NAN, None])
    for zero in (pa.scalar(0.0), pa.scalar(-0.0)):
        assert [True, False, False, False, None] == less(values, zero).to_pylist()
        assert [False, False, False, True, None] == less(zero, values).to_pylist()


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=8))
def test_exactly_one_of_three_holds(pairs):
    """Of less, equal and greater between two columns of floats."""
    left, right = (pa.array([pair[side] for pair in pairs], pa.float64()) for side in (0, 1))
    found = [
        compare(left, right).to_pylist()
        for compare in (less, comparison.equal, lambda one, other: less(other, one))
    ]

    assert all(1 == sum(row) for row in zip(*found, strict=True))


def test_nested_values_are_equal_item_by_item():
    """Lists and structs; null lists are unknown."""
    left = pa.array([[1, None], [2], None])

    assert [True, False, None] == comparison.equal(
        left, pa.array([[1, None], [3], [1]])
    ).to_pylist()


def test_lists_are_in_the_order_of_their_values():
    """The first that differ say; a null value is less than others, and so is a shorter list."""
    lists = pa.array([[1, 2], [], None, [None], [1], [1, None], [-5, 9], [10]])
    found = less(lists, pa.scalar([1, 2], lists.type))

    assert [False, True, None, True, True, True, True, False] == found.to_pylist()
    assert less(pa.scalar([1]), pa.scalar([1, 0])).as_py()


def test_structs_are_in_the_order_of_their_children():
    """NaN is greater than other numbers."""
    structs = pa.array([{"a": 1, "b": 2.0}, {"a": 1, "b": float("nan")}, {"a": 0, "b": 9.0}])

    assert [False, False, True] == less(structs, structs[0]).to_pylist()
