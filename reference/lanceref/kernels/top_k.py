"""Top k: the places of the k smallest values, and of the k nearest rows by bounds of distances.

`nearest` serves where a bound of a distance costs less than the distance. The distances of some
rows that seem nearest are computed first; no row whose bound is above the k-th of these is among
the k nearest (arXiv 2405.12497, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import specified
from lanceref.kernels.distance import Floats

Rows = NDArray[np.int64]

ONE = np.float32(1)

FIRST_LOOK = 4
"""So many times as many rows as are wanted have their distances computed first."""


@specified
def smallest(values: Floats, k: int) -> Rows:
    """Return the places of the k smallest values [n], or of all, ascending; first come equal first.

    NaN is larger than all others.
    """
    return np.argsort(values, kind="stable")[: max(k, 0)]


@dataclass(frozen=True, slots=True)
class Errors:
    """How much nearer rows may be than they seem: `share` of `stored`, [n] or one for all rows.

    A row whose error is NaN may be at any distance.
    """

    stored: Floats | np.float32
    share: np.float32 = ONE


def nearest(
    seeming: Floats, k: int, distances_of: Callable[[Rows], Floats], errors: Errors | None = None
) -> tuple[Rows, Floats]:
    """Return rows of [n], in order, and their distances: the k nearest are among them.

    `seeming` [n] are about the distances; without `errors`, lower bounds of them.
    """
    if k >= len(seeming):
        rows: Rows = np.arange(len(seeming))
        return rows, distances_of(rows)
    near = distances_of(smallest(seeming, FIRST_LOOK * k))
    furthest = np.partition(near, k - 1)[k - 1] if k else -np.inf
    least = seeming if errors is None else seeming - errors.share * errors.stored
    rows = np.flatnonzero(~(least > furthest))
    return rows, distances_of(rows)
