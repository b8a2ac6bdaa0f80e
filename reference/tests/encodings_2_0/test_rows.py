"""Row ranges."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.encodings_2_0.page import RowRanges


def test_near_rows_share_a_range():
    """Rows at most the gap apart are covered by one range, others are not."""
    ranges = RowRanges.covering(np.array([1, 2, 5, 9, 30]), 3)

    assert ((1, 10), (30, 31)) == ranges.bounds


def test_scaled_rows_are_the_rows_of_their_items():
    """A range of rows of n items is a range of items; no items, no range."""
    assert ((6, 9), (15, 18)) == RowRanges(((2, 3), (5, 6))).scaled(3).bounds
    assert () == RowRanges(((2, 3),)).scaled(0).bounds


@settings(deadline=None)
@given(st.sets(st.integers(0, 300), min_size=1), st.integers(0, 20))
def test_every_row_is_found_at_its_position(rows, gap):
    """The positions of covered rows point back to those rows."""
    wanted = np.array(sorted(rows), dtype=np.int64)

    ranges = RowRanges.covering(wanted, gap)
    joined = np.concatenate([np.arange(start, end) for start, end in ranges.bounds])

    assert wanted.tolist() == joined[ranges.positions(wanted)].tolist()
    assert len(joined) == ranges.count
