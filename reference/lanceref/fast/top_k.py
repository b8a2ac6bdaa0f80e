"""The k smallest values without sorting the others.

A threshold is guessed from a sample, and only what is not above it is sorted. The guess aims at
twice as many values as are wanted; where it is too low, the k-th smallest value is the threshold.
The specification is `kernels.top_k.smallest`.
"""

from __future__ import annotations

import numpy as np

from lanceref.core.plain import replaces
from lanceref.kernels import top_k
from lanceref.kernels.distance import Floats
from lanceref.kernels.top_k import Rows

SAMPLE, SPARE = 4096, 8
"""Values that the threshold is guessed from, and how many of them are below it at least."""


@replaces(top_k.smallest)
def smallest(values: Floats, k: int) -> Rows:
    """Return the places of the k smallest values [n], or of all, ascending; first come equal first.

    NaN is larger than all others.
    """
    if k <= 0:
        return np.zeros(0, np.int64)
    if k < len(values):
        sample = values[:: len(values) // SAMPLE + 1]
        rank = min(len(sample) - 1, 2 * k * len(sample) // len(values) + SPARE)
        near = np.flatnonzero(values <= np.partition(sample, rank)[rank])
        if len(near) < k:
            near = np.flatnonzero(values <= np.partition(values, k - 1)[k - 1])
        if len(near) >= k:
            return near[np.argsort(values[near], kind="stable")[:k]]
    return np.argsort(values, kind="stable")[:k]
