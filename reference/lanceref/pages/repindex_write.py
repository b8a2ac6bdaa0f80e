"""Repetition index, written.

Counts for each chunk of a mini-block page the rows that end in it and the entries left over.

Layout: see `repindex`.

Clauses: L.page.repindex.rows, L.page.repindex.agrees
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def repetition_index(
    rep: NDArray[np.uint16], max_rep: int, chunk_ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return (rows, leftover) u64 (num_chunks, 2) of chunks that end at the given entries."""
    starts = np.flatnonzero(rep == max_rep)
    first = np.append(0, chunk_ends[:-1])
    before, after = np.searchsorted(starts, first), np.searchsorted(starts, chunk_ends)
    begins = np.append(starts, -1)[before] == first
    rows = after - before - begins
    latest = np.append(starts, 0)[np.maximum(after - 1, 0)]
    leftover = chunk_ends - np.where(after > before, latest, first)
    closed = np.append(begins[1:], True)
    rows += closed
    return np.stack([rows, np.where(closed, 0, leftover)], axis=1).astype("<u8")
