"""Rows that have moved."""

from __future__ import annotations

import numpy as np
from lanceref.index.fragment_reuse import MovedRows


def test_rows_of_other_fragments_stay():
    """Those that were not written on are gone."""
    before, after = np.array([1 << 32 | 2, 1 << 32], np.uint64), np.array([9, 8], np.uint64)
    kept, now = MovedRows(before, after, [1])(
        np.array([5, 1 << 32, 1 << 32 | 1, 1 << 32 | 2, 2 << 32], np.uint64)
    )
    assert kept.tolist() == [True, True, False, True, True]
    assert now.tolist() == [5, 8, 9, 2 << 32]


def test_a_fragment_of_which_nothing_is_left():
    """All its rows are gone."""
    none = np.empty(0, np.uint64)
    kept, now = MovedRows(none, none, [1])(np.array([5, 1 << 32], np.uint64))
    assert (kept.tolist(), now.tolist()) == ([True, False], [5])
