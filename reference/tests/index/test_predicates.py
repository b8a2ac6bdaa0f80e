"""Predicates, their texts, the order of values, and what index types answer."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.predicate import Among, IsNull, StartsWith, Within, holds, may_hold
from lanceref.index.training import run_starts, sorted_order

FLOATS = pa.array([-math.nan, -1.0, -0.0, 0.0, 1.0, math.nan, None])


def scalar(value, type_=None) -> pa.Scalar:
    """Return a scalar."""
    return pa.scalar(value, type_)


@pytest.mark.parametrize(
    ("predicate", "found"),
    [
        (Within(low=scalar(0.0)), [2, 3, 4, 5]),
        (Within(low=scalar(0.0), low_closed=False), [4, 5]),
        (Within(high=scalar(0.0), high_closed=False), [0, 1]),
        (Within(high=scalar(0.0)), [0, 1, 2, 3]),
        (Within(), [0, 1, 2, 3, 4, 5]),
        (Among((scalar(0.0),)), [2, 3]),
        (Among((scalar(math.nan), scalar(1.0))), [4, 5]),
        (IsNull(), [6]),
    ],
)
def test_floats_have_a_total_order_and_zero_is_both_zeros(predicate, found):
    """NaN lies at both ends; no predicate but that for null is true for null."""
    values = FLOATS.to_numpy(zero_copy_only=False).copy()
    values[0] = np.frombuffer(np.uint64(0xFFF8000000000000).tobytes(), np.float64)[0]
    array = pa.array(values, mask=np.array([False] * 6 + [True]))
    assert np.flatnonzero(holds(predicate, array)).tolist() == found


@pytest.mark.parametrize("type_", [pa.utf8(), pa.large_utf8(), pa.binary(), pa.large_binary()])
def test_prefixes_of_text_and_bytes(type_):
    """The end of a prefix lies above every value with it, also after the last byte."""
    values = pa.array([b"ab", b"abz", b"ac", b"b", None], pa.binary()).cast(type_)
    prefix = scalar("ab" if "string" in str(type_) else b"ab", type_)
    assert holds(StartsWith(prefix), values).tolist() == [True, True, False, False, False]
    least, greatest = values.take(pa.array([0, 2, 3])), values.take(pa.array([1, 2, 3]))
    assert may_hold(StartsWith(prefix), least, greatest).tolist()[0]
    assert not may_hold(StartsWith(prefix), least, greatest).tolist()[2]


numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=30)


@given(numbers, st.integers(-20, 20), st.integers(-20, 20), st.booleans(), st.booleans())
def test_bounds_never_rule_out_what_holds(values, low, high, low_closed, high_closed):
    """A run with a value for which a predicate holds may hold it."""
    array = pa.array(values)
    ends = pa.array([min(values)]), pa.array([max(values)])
    within = Within(scalar(low), scalar(high), low_closed, high_closed)
    for predicate in (within, Among((scalar(low), scalar(high)))):
        if holds(predicate, array).any():
            assert may_hold(predicate, *ends).all()


def test_a_bound_that_is_null_says_nothing():
    """Any value may lie there."""
    null = pa.array([None], pa.int64())
    assert may_hold(Among((scalar(5),)), null, null).all()
    assert may_hold(IsNull(), null, null).all()


@pytest.mark.parametrize(
    ("values", "order", "starts"),
    [
        ([3, None, 1, 3, None], [1, 4, 2, 0, 3], [0, 2, 3]),
        ([math.nan, 0.0, -0.0, -1.0], [3, 2, 1, 0], [0, 1, 2, 3]),
        ([], [], []),
    ],
)
def test_values_are_ordered_and_cut_into_runs(values, order, starts):
    """Nulls first and alike, -0.0 before 0.0, NaN last; equal values stay in order."""
    array = pa.array(values, pa.int64() if not values else None)
    assert sorted_order(array).tolist() == order
    assert run_starts(array.take(pa.array(order, pa.int64()))).tolist() == starts
