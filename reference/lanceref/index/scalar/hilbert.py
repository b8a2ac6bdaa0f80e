"""Hilbert order: boxes along a curve on which neighbours lie near each other.

The centre of a box is a point of a grid of 2**16 by 2**16 over all boxes; its number is how far
along the curve it lies, 32 bits.

Clauses: L.index.rtree.order
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.index.geometry import Boxes

BITS = 16
TOP = (1 << BITS) - 1
"""Highest coordinate of the grid (= 65535)."""


def hilbert_numbers(boxes: Boxes) -> NDArray[np.uint32]:
    """Return the numbers of boxes among themselves: uint32."""
    if not len(boxes):
        return np.empty(0, np.uint32)
    x, y = (_on_grid(boxes[:, axis], boxes[:, axis + 2]) for axis in (0, 1))
    return curve_numbers(x, y)


def _on_grid(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return the coordinates of centres on one axis; where it has no width all are 0."""
    with np.errstate(all="ignore"):
        least = low.min()
        width = high.max() - least
        if not width > 0:
            return np.zeros(len(low), np.uint32)
        scaled = ((low + high) / 2 - least) / width * TOP
        placed = np.nan_to_num(np.clip(np.trunc(scaled), 0, TOP), nan=0)
    return np.asarray(placed, np.uint32)


def curve_numbers(x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return how far along the curve points of the grid lie."""
    x, y = x.copy(), y.copy()
    found = np.zeros(len(x), np.uint32)
    for shift in range(BITS - 1, -1, -1):
        right, up = (x >> shift) & 1, (y >> shift) & 1
        found |= ((3 * right) ^ up) << (2 * shift)
        flip = (up == 0) & (right == 1)
        x, y = np.where(flip, TOP - x, x), np.where(flip, TOP - y, y)
        x, y = np.where(up == 0, y, x), np.where(up == 0, x, y)
    return found
