"""Delta debugging on lists and bytes."""

from hypothesis import given
from hypothesis import strategies as st
from lance_conformance.shrink.minimal import minimal, zeroed


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(41, 60))
def test_what_is_needed_is_found(needed, size):
    """Of many items exactly those are left that the question needs."""
    assert sorted(needed) == minimal(range(size), lambda some: needed <= set(some))


@given(st.integers(2, 30), st.integers(1, 30))
def test_no_single_item_can_be_taken(size, wanted):
    """Where a number of items is needed, no matter which, just that number is left."""
    wanted = min(wanted, size)
    assert wanted == len(minimal(range(size), lambda some: len(some) >= wanted))


def test_one_item_is_left_alone():
    """Nothing smaller than one item is tried."""
    assert [7] == minimal([7], lambda some: False)


@given(st.binary(min_size=1, max_size=200), st.integers(0, 199))
def test_bytes_are_zeroed_but_for_those_that_matter(data, at):
    """With grain 1 only the byte that must stay is left before the end; after it all stays."""
    at = at % len(data)
    end = max(at + 1, len(data) // 2)
    left = zeroed(data, end, lambda tried: tried[at] == data[at], grain=1)

    assert bytes(at) + data[at : at + 1] + bytes(end - at - 1) + data[end:] == left
