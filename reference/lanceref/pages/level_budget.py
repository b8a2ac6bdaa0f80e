"""Level budget: how many levels one page may have.

A chunk counts its levels in 16 bits, and every entry without a value goes into the chunk of the
values around it. A page with such entries is therefore cut, between rows, before its levels could
pass 65,535 or 16 KiB of packed bits. A single row above that is not stored in mini-blocks at all.

Clauses: L.page.miniblock.num-levels
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.pages.ravel import RavelledLevels

MAX_LEVELS = 2**16 - 1
"""Levels that the header of a chunk can count."""

MAX_LEVEL_BITS = 8 * 16 * 1024
"""Bits that the repetition and definition levels of a page may take."""


def level_limit(levels: RavelledLevels) -> int:
    """Return the levels that a page with entries without a value may have."""
    bits = levels.max_rep.bit_length() + levels.max_def.bit_length()
    return min(MAX_LEVELS, MAX_LEVEL_BITS // max(1, bits))


def row_cuts(levels: RavelledLevels, num_rows: int) -> NDArray[np.int64] | None:
    """Return the rows where pages begin, the first is 0; None when a single row is too long."""
    visible, limit = levels.visible, level_limit(levels)
    whole = np.zeros(1, np.int64)
    if visible is None or levels.num_entries <= limit or visible.all() or levels.rep is None:
        return whole
    starts = levels.row_starts(num_rows)
    ends = np.append(starts[1:], levels.num_entries)
    hidden = np.flatnonzero(~visible)
    cuts = [0]
    while True:
        first = starts[cuts[-1]]
        row = int(np.searchsorted(ends, first + limit, side="right"))
        at = np.searchsorted(hidden, first)
        if row >= num_rows or at == len(hidden):
            return np.array(cuts)
        row = max(row, int(np.searchsorted(ends, hidden[at], side="right")))
        if row == cuts[-1]:
            return None
        cuts.append(row)
