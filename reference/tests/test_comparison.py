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
        (comparison.not_equal, [True, False, False, True, None]),
        (comparison.less, [True, False, False, False, None]),
        (comparison.less_equal, [True, True, True, False, None]),
        (comparison.greater, [False, False, False, True, None]),
        (comparison.greater_equal, [False, True, True, True, None]),
    ],
)
def test_a_written_zero_counts_as_both_zeros(compare, wanted):
    """On either side, for every comparison."""
    values = pa.array([-1.0, -0.0, 0.0, NAN, None])
    turned = {"less": "greater", "greater": "less"}
    name = compare.__name__
    for word, other in turned.items():
        if name.startswith(word):
            name = name.replace(word, other)
            break

    for zero in (pa.scalar(0.0), pa.scalar(-0.0)):
        assert wanted == compare(values, zero).to_pylist()
        assert wanted == getattr(comparison, name)(zero, values).to_pylist()


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=8))
def test_exactly_one_of_three_holds(pairs):
    """Of less, equal and greater between two columns of floats."""
    left, right = (pa.array([pair[side] for pair in pairs], pa.float64()) for side in (0, 1))
    found = [
        compare(left, right).to_pylist()
        for compare in (comparison.less, comparison.equal, comparison.greater)
    ]

    assert all(1 == sum(row) for row in zip(*found, strict=True))


def test_null_is_distinct_from_values_only():
    """And never null itself."""
    left, right = pa.array([1, None, None, 1]), pa.array([1, 1, None, 2])

    assert [False, True, False, True] == comparison.distinct(left, right).to_pylist()


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
