"""Ragged pieces joined."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.codecs.ragged import count_before, interleave, join_ranges, join_rows


def test_rows_are_cut_to_their_counts():
    """Of three rows of four: all, two, none."""
    rows = np.arange(12, dtype=np.uint16).reshape(3, 4)

    assert [0, 1, 2, 3, 4, 5] == join_rows(rows, np.array([4, 2, 0])).tolist()


def test_ranges_that_touch_are_a_view():
    """Nothing is copied when the ranges follow each other."""
    values = np.arange(9, dtype=np.uint32)
    joined = join_ranges(values, np.array([2, 4]), np.array([4, 7]))

    assert [2, 3, 4, 5, 6] == joined.tolist()
    assert np.shares_memory(values, joined)


def test_no_ranges_join_to_nothing():
    """No range, no value."""
    nothing = np.zeros(0, np.int64)

    assert 0 == len(join_ranges(np.arange(3), nothing, nothing))


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=9),
    st.sampled_from(["u1", "<u2", "<u8", "?"]),
)
def test_pieces_and_tails_alternate(sizes, dtype):
    """Every piece is followed by its own tail, whatever the sizes."""
    values = np.arange(5 * len(sizes)).astype(dtype)
    tails = (np.arange(sum(tail for _, tail in sizes)) + 100).astype(dtype)
    starts = np.arange(len(sizes)) * 5
    counts, tail_counts = np.array(sizes, np.int64).reshape(-1, 2).T
    wanted, at = [], 0
    for start, (count, tail) in zip(starts.tolist(), sizes, strict=True):
        wanted += values[start : start + count].tolist() + tails[at : at + tail].tolist()
        at += tail

    assert wanted == interleave(values, starts, counts, tails, tail_counts).tolist()


@given(st.data(), st.lists(st.booleans(), max_size=200))
def test_flags_are_counted_up_to_any_position(data, flags):
    """The count before a position, the end included, is that of a plain sum."""
    at = data.draw(st.lists(st.integers(0, len(flags)), max_size=9))
    counted = count_before(np.array(flags, np.bool_), np.array(at, np.int64))

    assert [sum(flags[:end]) for end in at] == counted.tolist()
