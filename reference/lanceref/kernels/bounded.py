"""Bounded distances: the nearest rows, where a bound of a distance costs less than the distance.

Some rows that seem nearest come first; no row that is further than the k-th of them is among the k
nearest. Only rows whose bounds are not above it are looked at (arXiv 2405.12497, section 4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats
from lanceref.kernels.top_k import smallest

Rows = NDArray[np.int64]

SPARE = 4
"""So many times as many rows as are wanted are looked at first."""


def nearest(
    seeming: Floats, bounds: Floats, k: int, distances_of: Callable[[Rows], Floats]
) -> tuple[Rows, Floats]:
    """Return rows of [n], in order, and their distances: the k nearest are among them.

    `seeming` [n] says about how far rows are, `bounds` [n] how far at least; a bound that is no
    number says nothing.
    """
    if k >= len(bounds):
        every: Rows = np.arange(len(bounds))
        return every, distances_of(every)
    near = distances_of(smallest(seeming, SPARE * k))
    furthest = np.partition(near, k - 1)[k - 1] if k else -np.inf
    rows = np.flatnonzero(~(bounds > furthest))
    return rows, distances_of(rows)
