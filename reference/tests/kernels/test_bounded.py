"""Bounded distances."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels import top_k
from lanceref.kernels.top_k import Errors, nearest

VALUES = hnp.arrays(np.float32, st.integers(0, 40), elements=st.integers(0, 100))


def test_rows_whose_bounds_are_too_far_are_left_alone(monkeypatch):
    """Row 2 seems nearest and is 5 away: rows 0 and 3 cannot be nearer, 1 and 4 can."""
    monkeypatch.setattr(top_k, "FIRST_LOOK", 1)
    asked = []

    def distances_of(rows):
        asked.append(rows.tolist())
        return np.array([9, 4, 5, 8, 7], np.float32)[rows]

    seeming = np.array([9, 6, 2, 8, 7], np.float32)
    errors = Errors(np.array([0.5, 1.5, 0.5, 1, np.nan], np.float32), np.float32(2))
    rows, near = nearest(seeming, 1, distances_of, errors)
    assert (rows.tolist(), near.tolist()) == ([1, 2, 4], [4, 5, 7])
    assert asked == [[2], [1, 2, 4]]
    monkeypatch.setattr(top_k, "FIRST_LOOK", 2)  # row 1 seems next, and is 4 away
    rows, _ = nearest(seeming, 1, distances_of, errors)
    assert rows.tolist() == [1, 2, 4]


def test_one_error_of_all_rows():
    """Row 0 is 1 away: rows that seem 4 away may be as near where 3 may be wrong."""
    seeming = np.arange(1, 101, dtype=np.float32)
    rows, _ = nearest(seeming, 1, seeming.__getitem__, Errors(np.float32(3)))
    assert rows.tolist() == [0, 1, 2, 3]


def test_distances_that_are_no_numbers_leave_all_rows():
    """Nothing is further than those; where one of them is a number, that is the nearest."""
    near = np.full(9, np.nan, np.float32)
    bounds = np.arange(9, dtype=np.float32)
    assert [*range(9)] == nearest(bounds, 1, near.__getitem__)[0].tolist()
    near[1] = 1
    assert [0, 1] == nearest(bounds, 1, near.__getitem__)[0].tolist()


@given(VALUES, st.integers(0, 45), st.integers(0, 9))
def test_the_nearest_are_among_them(near, k, seed):
    """Whatever seems near, if rows are as far as they seem less their error."""
    random = np.random.default_rng(seed)
    seeming = random.integers(0, 100, len(near)).astype(np.float32)
    stored = np.maximum(seeming - near, 0) + random.integers(0, 9, len(near))
    errors = Errors(stored.astype(np.float32))
    rows, found = nearest(seeming, k, near.__getitem__, errors)
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(found, near[rows])
    np.testing.assert_array_equal(np.sort(found)[:k], np.sort(near)[:k])
