"""Functions over lists."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.query.list_functions import (
    array_has,
    array_has_all,
    array_has_any,
    array_length,
    array_ndims,
    make_array,
)

LARGE, SMALL = 2**64 - 1, -(2**63)


def lists(values, type_) -> pa.Array:
    """Return a list of values, null, a list of null, and one of nothing."""
    return pa.array([values, None, [None], []], pa.list_(type_))


def wanted(*values, type_=None) -> pa.Scalar:
    """Return a list of literals."""
    return pa.scalar(list(values), pa.list_(type_ or pa.scalar(values[0]).type))


def test_lengths():
    """Null has none."""
    assert array_length(lists([1, 2], pa.int8())).to_pylist() == [2, None, 1, 0]


@pytest.mark.parametrize(
    ("type_", "values", "value", "found"),
    [
        (pa.int64(), [SMALL, 5], pa.scalar(float(SMALL)), True),
        (pa.int64(), [1, 5], pa.scalar(2.5), False),
        (pa.int8(), [1, 5], pa.scalar(300), False),
        (pa.uint64(), [LARGE], pa.scalar(LARGE, pa.uint64()), True),
        (pa.float32(), [1.0], pa.scalar(LARGE, pa.uint64()), False),
        (pa.float16(), [2.5], pa.scalar(2.5), True),
        (pa.utf8(), ["a"], pa.scalar("a", pa.large_utf8()), True),
    ],
)
def test_a_value_meets_members_in_a_type_that_holds_both(type_, values, value, found):
    """Nothing is cut off on either side."""
    assert array_has(lists(values, type_), value).to_pylist() == [found, None, False, False]


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (pa.uint64(), pa.scalar(-1)),
        (pa.int64(), pa.scalar(LARGE, pa.uint64())),
        (pa.int64(), pa.scalar(True)),
        (pa.int64(), pa.scalar("5")),
        (pa.bool_(), pa.scalar(1)),
        (pa.binary(), pa.scalar("a")),
        (pa.date32(), pa.scalar("2020-01-01")),
    ],
)
def test_members_of_another_kind_are_refused(type_, value):
    """As text, truth and numbers are; and no 64 bits hold those with and without sign."""
    with pytest.raises(QueryRefused):
        array_has(lists([None], type_), value)


def test_one_of_some_and_all_of_some():
    """Null is a value here, and text that is a number is one."""
    held = lists([LARGE, 1], pa.uint64())
    some = make_array(pa.scalar(-1), pa.scalar(LARGE, pa.uint64()), pa.scalar(None))
    assert array_has_any(held, some).to_pylist() == [True, None, True, False]
    assert array_has_all(held, some).to_pylist() == [False, None, False, False]
    assert array_has_any(held, wanted("1")).to_pylist() == [True, None, False, False]
    assert array_has_all(held, wanted(1.0, LARGE * 1.0)).to_pylist() == [True, None, False, False]
    assert array_has_all(held, make_array()).to_pylist() == [True] * 4
    assert array_has_any(held, pa.scalar(None, pa.list_(pa.int64()))).to_pylist() == [None] * 4
    halves = lists([2.5], pa.float16())
    assert array_has_any(halves, wanted(2.5, 1.0)).to_pylist() == [True, None, False, False]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([pa.scalar(1), pa.scalar(2.5)], pa.float64()),
        ([pa.scalar(-1), pa.scalar(LARGE, pa.uint64())], pa.decimal128(20, 0)),
        ([pa.scalar("a"), pa.scalar(None)], pa.utf8()),
        ([], pa.null()),
    ],
)
def test_arrays_have_the_type_that_holds_all(values, type_):
    """And all of the values."""
    made = make_array(*values)
    assert made.type == pa.list_(type_)
    assert made.as_py() == [one.as_py() for one in values]


def test_columns_make_a_list_for_each_row():
    """A literal is in each of them; null is a value."""
    made = make_array(pa.array([1, None, 3], pa.int32()), pa.scalar(1.5), pa.array([4, 5, 6]))
    assert made.type == pa.list_(pa.float64())
    assert made.to_pylist() == [[1, 1.5, 4], [None, 1.5, 5], [3, 1.5, 6]]


def test_lists_of_columns_are_held_against_each_other():
    """Row by row; null beside null."""
    one = pa.array([[1, 2], [], None, [3, None]], pa.list_(pa.int64()))
    other = pa.array([[2, 9], [], [1], [None]], pa.list_(pa.int32()))
    assert array_has_any(one, other).to_pylist() == [True, False, None, True]
    assert array_has_all(one, other).to_pylist() == [False, True, None, True]


def test_other_dimensions():
    """Flat lists have one."""
    flat = lists([1, 2], pa.int8())
    assert array_length(flat, pa.scalar(1)).to_pylist() == [2, None, 1, 0]
    assert array_length(flat, pa.scalar(2)).to_pylist() == [None] * 4
    assert array_ndims(flat).to_pylist() == [1, None, 1, 1]
    with pytest.raises(QueryRefused):
        array_length(pa.array([[[1]]]), pa.scalar(2))


def test_kinds_that_do_not_meet_are_refused():
    """There is no type for such an array."""
    with pytest.raises(QueryRefused):
        make_array(pa.scalar(True), pa.scalar(b"a"))
