"""Sets of numbers."""

from collections.abc import MutableSet

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylanceref.bitmap import Bitmap

NUMBERS = st.sets(st.integers(0, 50))


@given(NUMBERS, NUMBERS)
def test_a_bitmap_is_a_set(one, other):
    """Operators and methods as those of a set."""
    first, second = Bitmap(one), Bitmap(other)
    assert sorted(one) == list(first)
    assert one & other == first & second == first.intersection(other)
    assert one | other == first | other == first.union(second)
    assert one - other == first - second == first.difference(second)
    assert one ^ other == first ^ second == first.symmetric_difference(second)
    assert (one <= other) == (first <= second) == first.issubset(other)
    assert (one >= other) == (first >= second) == first.issuperset(other)
    assert one.isdisjoint(other) == first.isdisjoint(second)


def test_numbers_come_and_go():
    """A copy is another set."""
    held = Bitmap(pa.array([3, 1]))
    copy = held.copy()
    held.update([7])
    held.discard(1)
    held.discard(9)
    assert isinstance(held, MutableSet)
    assert "Bitmap({3, 7})" == repr(held)
    assert [1, 3] == list(copy)
    assert 0 == len(Bitmap())
    with pytest.raises(OverflowError):
        held.add(-1)
    with pytest.raises(ValueError, match="invalid literal"):
        held.add("x")


def test_it_is_shown_as_a_set():
    """As pylance shows it."""
    assert ("Bitmap({1, 2})", "Bitmap({})") == (repr(Bitmap([2, 1])), repr(Bitmap()))
