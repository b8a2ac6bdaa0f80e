"""Ragged pieces joined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.codecs.chunks import (
    count_before,
    gather_rows,
    interleave,
    join_pieces,
    join_ranges,
    join_rows,
)
from lanceref.fast.joining import SLAB_BYTES


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


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), max_size=60), st.booleans())
def test_pieces_are_joined_wherever_they_lie(cuts, reverse):
    """Ranges of any size, in any order, that overlap or end with the data, are copied as cut."""
    data = np.arange(71, dtype=np.uint8)
    pieces = [(start, start + size) for start, size in (cuts[::-1] if reverse else cuts)] + [
        (41, 71)
    ]
    starts, ends = np.array(pieces, np.int64).T

    joined = join_pieces(data, starts, ends)

    assert b"".join(data[a:b].tobytes() for a, b in pieces) == joined.tobytes()


@pytest.mark.parametrize("sizes", [(3, 5000, 3, 3), (SLAB_BYTES + 1, 1, SLAB_BYTES)])
def test_pieces_of_very_different_sizes_are_copied_one_by_one(sizes):
    """What would bring too much with every piece, or is too wide, is joined all the same."""
    data = np.random.default_rng(1).integers(0, 256, 2 * SLAB_BYTES + 9, dtype=np.uint8)
    ends = np.cumsum(np.array(sizes) + 2)

    joined = join_pieces(data, ends - sizes, ends)

    assert b"".join(data[e - s : e].tobytes() for s, e in zip(sizes, ends)) == joined.tobytes()


@pytest.mark.parametrize("size", [0, 1, 8, SLAB_BYTES + 1])
def test_rows_are_gathered_up_to_the_last_byte(size):
    """Rows of one size come from any byte, those at the end of the data too; of none, none."""
    data = np.arange(SLAB_BYTES + 12).astype(np.uint8)
    starts = np.array([0, 3, len(data) - size])

    rows = gather_rows(data, starts, size)

    assert [data[at : at + size].tobytes() for at in starts] == [row.tobytes() for row in rows]
    assert (0, size) == gather_rows(data, starts[:0], size).shape
