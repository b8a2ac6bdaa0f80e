"""Near pairs: rows of two blocks that are not farther from each other than a threshold.

Nearly all pairs are far. A product of matrices in float32 tells so by

    x.x - 2 x.y + y.y,  or for dot  -2 x.y

which is off by c (x.x + y.y) at most, c a few roundings for each dimension. The distances of the
other pairs are computed from both rows in float64, for l2 and cosine from their differences: equal
rows are at 0. Cosine is half of l2 between rows of length 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import TINY, AnyVectors, Floats, Metric

DIGITS = np.finfo(np.float32).eps
"""What a rounding is off by, of 1."""

GREAT = np.float32(1e37)
"""Squares up to which no sum of some overflows."""

WORD = 8
"""Bytes that are compared at once."""

Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows [n, d + 2] to be compared: numbers, 1, what the square adds; bytes as words [n, w]."""

    rows: Floats
    words: Words

    def part(self, start: int, end: int) -> Block:
        """Return some rows."""
        return Block(self.rows[start:end], self.words[start:end])


def block(vectors: AnyVectors, metric: Metric) -> Block:
    """Return vectors [n, d] of any type, bytes for hamming, ready to be compared."""
    nothing = np.empty((0, 0), np.float32)
    if metric == "hamming":
        width = vectors.shape[1]
        filled = np.zeros((len(vectors), width + -width % WORD), np.uint8)
        filled[:, :width] = vectors
        return Block(nothing, filled.view(np.uint64))
    with np.errstate(all="ignore"):
        rows = (_units(vectors) if metric == "cosine" else vectors).astype(np.float32, copy=False)
        squares: Floats = np.einsum("ij,ij->i", rows, rows)
        squares[~(squares < GREAT)] = np.nan
    off = np.float32((4 * rows.shape[1] + 16) * DIGITS)
    last = (np.float32(metric != "dot") - off) * squares
    columns = [rows, np.ones((len(rows), 1), np.float32), last[:, None]]
    return Block(np.concatenate(columns, axis=1), np.empty((0, 0), np.uint64))


def seem_near(left: Block, right: Block, metric: Metric, threshold: np.float32) -> Mask:
    """Return which pairs [l, r] may be near: all that are, all with numbers that are not finite."""
    if metric == "hamming":
        counts = [_bits(right.words ^ row) for row in left.words]
        return np.reshape(counts, (len(left.words), len(right.words))) <= threshold
    with np.errstate(all="ignore"):
        limit = {"l2": threshold, "cosine": 2 * threshold, "dot": 2 * (threshold - 1)}[metric]
        limit += 4 * DIGITS * abs(limit) + TINY
        numbers = -2 * left.rows[:, :-2]
        asked = np.concatenate([numbers, left.rows[:, -1:], left.rows[:, -2:-1]], axis=1)
        near: Floats = asked @ right.rows.T
        return np.logical_not(near > limit)


def between(left: AnyVectors, right: AnyVectors, metric: Metric) -> Floats:
    """Return the distances [p] of vectors [p, d] each from that of the same place."""
    if metric == "hamming":
        return _bits(np.bitwise_xor(left, right)).astype(np.float32)
    with np.errstate(all="ignore"):
        if metric == "dot":
            products = np.einsum("ij,ij->i", left, right, dtype=np.float64)
            return np.asarray(1 - products, np.float32)
        if metric == "cosine":
            left, right = _units(left), _units(right)
        gaps = np.subtract(left, right, dtype=np.float64)
        near = np.einsum("ij,ij->i", gaps, gaps)
        return np.asarray(near / 2 if metric == "cosine" else near, np.float32)


def _bits(words: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """Return how many bits are set in each row of words."""
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))


def _units(vectors: AnyVectors) -> NDArray[np.float64]:
    """Return vectors divided by their lengths; not finite for zeros."""
    wide = vectors.astype(np.float64, copy=False)
    units: NDArray[np.float64] = wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    return units
