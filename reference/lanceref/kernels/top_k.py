"""Top k: the places of the k smallest values.

A threshold is guessed from a sample, and only what is not above it is sorted. The guess is aimed at
twice as many values as are wanted; where it was too low, the k-th smallest value is the threshold.

Bounded distances: the nearest rows, where a bound of a distance costs less than the distance.

Some rows that seem nearest come first; no row that is further than the k-th of them is among the k
nearest. Only rows whose bounds are not above it are looked at (arXiv 2405.12497, section 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats

SAMPLE = 4096
"""Values that the threshold is guessed from."""

SPARE = 8
"""Values of the sample that are below the threshold at least."""


def smallest(values: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Return the places of the k smallest values [n], or of all, ascending; first come equal first.

    Values that are no numbers are larger than all others.
    """
    if k <= 0:
        return np.zeros(0, np.int64)
    if k < len(values):
        near = np.flatnonzero(values <= _guess(values, k))
        if len(near) < k:
            near = np.flatnonzero(values <= np.partition(values, k - 1)[k - 1])
        if len(near) >= k:
            return near[np.argsort(values[near], kind="stable")[:k]]
    return np.argsort(values, kind="stable")[:k]


def _guess(values: NDArray[np.float32], k: int) -> np.float32:
    """Return a value that about 2 k of the values do not exceed."""
    sample = values[:: len(values) // SAMPLE + 1]
    rank = min(len(sample) - 1, 2 * k * len(sample) // len(values) + SPARE)
    return np.float32(np.partition(sample, rank)[rank])


Rows = NDArray[np.int64]

ONE = np.float32(1)

FIRST_LOOK = 4
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
    near = distances_of(smallest(seeming, FIRST_LOOK * k))
    furthest = np.partition(near, k - 1)[k - 1] if k else -np.inf
    least = seeming if errors is None else seeming - errors.share * errors.stored
    rows: Rows = np.flatnonzero(~(least > furthest))
    return rows, distances_of(rows)
