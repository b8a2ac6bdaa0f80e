"""Scalar quantizer: a number as a byte, by its place between two bounds.

The byte is (x - start) * 255 / (end - start) in float64 without its fraction; what is outside gets
the nearest byte, NaN 0. Distances are computed from bytes; the query is quantized too, but for dot:

    l2   sum of (c_i - q_i) ** 2 over bytes, times step ** 2
    dot  1 - sum of (start + step c_i) q_i, q the numbers of the query
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import AnyVectors, Floats, blocks, products

Codes = NDArray[np.uint8]

LEVELS = 255
EXACT_DIMENSIONS = 256
"""Sums of so many products of two bytes are whole numbers that float32 has."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest number, between which bytes divide."""

    start: float
    end: float

    @property
    def step(self) -> np.float32:
        """Difference between the numbers of two neighbouring bytes."""
        return np.float32(np.float32(self.end - self.start) / np.float32(LEVELS))

    def union(self, other: Bounds) -> Bounds:
        """Return bounds that hold the numbers of both."""
        return Bounds(min(self.start, other.start), max(self.end, other.end))


NOTHING = Bounds(sys.float_info.max, -sys.float_info.max)
"""Bounds of no numbers: with any others they are those of the others."""


def bounds_of(vectors: AnyVectors) -> Bounds:
    """Return the bounds of all numbers of vectors [n, d]."""
    return Bounds(float(vectors.min()), float(vectors.max())) if vectors.size else NOTHING


def quantize(vectors: AnyVectors, bounds: Bounds) -> Codes:
    """Return the bytes of numbers [n, d]."""
    width = bounds.end - bounds.start
    if not width > 0:
        return np.zeros(vectors.shape, np.uint8)
    with np.errstate(all="ignore"):
        places = (vectors.astype(np.float64) - bounds.start) * LEVELS / width
        return np.nan_to_num(np.clip(places, 0, LEVELS), nan=0).astype(np.uint8)


def numbers_of(codes: Codes, bounds: Bounds) -> NDArray[np.float64]:
    """Return numbers [n, d] in the middle of what has these bytes."""
    return bounds.start + (codes + 0.5) * (bounds.end - bounds.start) / LEVELS


def l2_distances(
    query: Codes, codes: Codes, squares: NDArray[np.floating], bounds: Bounds
) -> Floats:
    """Return the squared distances of bytes [n, d] from a query's [d], as numbers.

    `squares` are those of `squares_of`; (c - q) ** 2 is c ** 2 - 2 c q + q ** 2 without rounding,
    since these are whole numbers below the precision of their type.
    """
    # L.index.vector.sq.code
    numbers = query.astype(squares.dtype)
    near = squares - 2 * products(codes, numbers) + numbers @ numbers
    return np.asarray(near.astype(np.float32) * (bounds.step * bounds.step), np.float32)


def squares_of(codes: Codes) -> NDArray[np.floating]:
    """Return the squared lengths [n] of bytes [n, d], in a type that has them exactly."""
    wide: np.dtype[np.floating] = np.dtype("f4" if codes.shape[1] <= EXACT_DIMENSIONS else "f8")
    squares = np.empty(len(codes), wide)
    for rows in blocks(codes):
        block = codes[rows].astype(wide)
        np.einsum("ij,ij->i", block, block, out=squares[rows])
    return squares


def dot_distances(query: AnyVectors, codes: Codes, bounds: Bounds) -> Floats:
    """Return 1 less the products of a query [d] with the numbers of bytes [n, d]."""
    numbers = query.astype(np.float32)
    near = bounds.step * products(codes, numbers)
    return np.asarray(1 - (np.float32(bounds.start) * numbers.sum() + near), np.float32)
