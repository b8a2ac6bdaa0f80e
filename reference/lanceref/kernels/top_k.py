"""Top k: the places of the k smallest values.

A threshold is guessed from a sample, and only what is not above it is sorted. The guess is aimed at
twice as many values as are wanted; where it was too low, the k-th smallest value is the threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
