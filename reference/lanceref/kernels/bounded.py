"""Bounded distances: the nearest rows, where a bound of a distance costs less than the distance.

Some rows that seem nearest come first; no row that is further than the k-th of them is among the k
nearest. Only rows whose bounds are not above it are looked at (arXiv 2405.12497, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats
from lanceref.kernels.top_k import smallest

Rows = NDArray[np.int64]

ONE = np.float32(1)

SPARE = 4
"""So many times as many rows as are wanted are looked at first."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How much nearer rows may be than they seem: `share` of what is `stored`, [n] or of all rows.

    One that is no number says nothing.
    """

    stored: Floats | np.float32
    share: np.float32 = ONE


def nearest(
    seeming: Floats, k: int, distances_of: Callable[[Rows], Floats], errors: Errors | None = None
) -> tuple[Rows, Floats]:
    """Return rows of [n], in order, and their distances: the k nearest are among them.

    `seeming` [n] says about how far rows are, without `errors` how far at least.
    """
    if k >= len(seeming):
        every: Rows = np.arange(len(seeming))
        return every, distances_of(every)
    near = distances_of(smallest(seeming, SPARE * k))
    furthest = np.partition(near, k - 1)[k - 1] if k else -np.inf
    least = seeming if errors is None else seeming - errors.share * errors.stored
    rows: Rows = np.flatnonzero(~(least > furthest))
    return rows, distances_of(rows)
