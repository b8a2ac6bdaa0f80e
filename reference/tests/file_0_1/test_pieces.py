"""Ranges of rows of batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import LimitExceeded, Truncated
from lanceref.core.limits import Limits
from lanceref.encodings_2_0.page import RowRanges
from lanceref.file_0_1.page_table import BatchRanges, cut_at_batches, gather
from lanceref.storage import BytesSource

from .building import file_bytes

NAMED = ("values", "L.legacy.plain.values", "int8[]")


def test_a_range_is_cut_where_batches_end():
    """Rows 2..7 of batches of 3, 3 and 4 rows."""
    pieces = cut_at_batches(np.array([0, 3, 6, 10]), RowRanges.single(2, 7))

    assert [0, 1, 2] == pieces.batches.tolist()
    assert [(2, 3), (0, 3), (0, 1)] == list(
        zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)
    )
    assert 5 == pieces.num_rows


@given(st.lists(st.integers(1, 9), min_size=1), st.data())
def test_pieces_hold_just_the_rows_of_the_ranges(sizes, data):
    """Counted back to rows of the file."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows = data.draw(st.sets(st.integers(0, int(offsets[-1]) - 1)))
    ranges = RowRanges.covering(np.array(sorted(rows), np.int64), 0)

    pieces = cut_at_batches(offsets, ranges)
    found = [
        row
        for batch, start, end in zip(pieces.batches, pieces.starts, pieces.ends, strict=True)
        for row in range(offsets[batch] + start, offsets[batch] + end)
    ]
    assert sorted(rows) == found


def test_ranges_are_joined_in_their_order():
    """Two ranges without a gap, an empty one and one again: one request."""
    file = file_bytes(bytes(range(100)))

    found = gather(file, np.array([10, 12, 50, 12]), np.array([2, 3, 0, 1]), NAMED)
    assert [10, 11, 12, 13, 14, 12] == found.tolist()
    assert 1 == file.source.stats.read_iops
    assert 0 == len(gather(file, np.array([5]), np.array([0]), NAMED))


def test_values_stand_at_an_aligned_address():
    """Whatever their position in the file."""
    found = gather(file_bytes(bytes(100)), np.array([3]), np.array([40]), NAMED)
    assert 0 == found.ctypes.data % 16


def test_a_run_beyond_the_limits_is_refused():
    """One range over and over costs memory without costing bytes of the file."""
    limits = Limits(expansion_bytes=50, expansion_factor=0)
    file = FileBytes(BytesSource(bytes(100)), Context("f", limits=limits))
    with pytest.raises(LimitExceeded):
        gather(file, np.array([0, 0]), np.array([30, 30]), NAMED)


def test_a_file_that_became_shorter_is_refused():
    """A short read is no value."""

    class Shrunk(BytesSource):
        """Says it is longer than it is."""

        size = 200

        def __init__(self) -> None:
            super().__init__(bytes(100))
            self.size = 200

    file = FileBytes(Shrunk(), Context("f"))
    with pytest.raises(Truncated):
        gather(file, np.array([0, 150]), np.array([10, 10]), NAMED)


def test_pieces_without_rows_can_be_left_out():
    """The others stay."""
    pieces = BatchRanges(np.array([0, 1]), np.array([2, 0]), np.array([2, 4])).filled()
    assert ([1], [0], [4]) == (
        pieces.batches.tolist(),
        pieces.starts.tolist(),
        pieces.ends.tolist(),
    )
