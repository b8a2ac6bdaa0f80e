"""Top k: the places of the k smallest values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import specified
from lanceref.kernels.distance import Floats

Rows = NDArray[np.int64]


@specified
def smallest(values: Floats, k: int) -> Rows:
    """Return the places of the k smallest values [n], or of all, ascending; first come equal first.

    NaN is larger than all others.
    """
    return np.argsort(values, kind="stable")[: max(k, 0)]
