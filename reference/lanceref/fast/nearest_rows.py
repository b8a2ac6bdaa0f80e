"""The vectors of a partition nearest by l2, by distances that cost a third of the exact ones.

x.x - 2 x.q + q.q loses digits, but is off by a known error: no row is among the k nearest that
seems further than the k-th by more than the error of both. The specification is
`index.vector.storage.nearest_rows`.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from lanceref.index.vector import storage
from lanceref.index.vector.flat_storage import FlatRows
from lanceref.index.vector.storage import Mask, Mode, PartitionRows, Rows
from lanceref.kernels.distance import (
    BLOCK_VALUES,
    AnyVectors,
    Floats,
    Vectors,
    accumulator,
    blocks,
    products,
)

TINY = np.finfo(np.float32).tiny
"""Least float32 that has all its digits."""

_squares: WeakKeyDictionary[FlatRows, Vectors] = WeakKeyDictionary()


@storage.nearest_rows.replaced_by
def nearest_rows(
    rows: PartitionRows, query: AnyVectors, mode: Mode, kept: Mask, k: int
) -> tuple[Rows, Floats]:
    """Return rows, ascending, of those `kept` [n], and their distances; the k nearest are among.

    `query` (dimension,).
    """
    places = np.flatnonzero(kept)
    large = isinstance(rows, FlatRows) and rows.vectors.size > BLOCK_VALUES
    if not (isinstance(rows, FlatRows) and large and rows.metric == "l2" and 0 < k < len(places)):
        return storage.nearest_rows.plain(rows, query, mode, kept, k)
    if rows not in _squares:
        _squares[rows] = squares_of(rows.vectors)
    about, error = estimates(query, rows.vectors, _squares[rows])
    with np.errstate(all="ignore"):
        about = about[places]
        furthest = np.partition(about, k - 1)[k - 1] + error
        places = places[~(about - error > furthest)]  # NaN may be at any distance
    return places, rows.score(query, mode)(places)


def estimates(
    query: AnyVectors, vectors: AnyVectors, squares: Vectors
) -> tuple[Floats, np.float32]:
    """Return approximate l2 distances of vectors [n, d] from a query [d], and their largest error.

    By x.x - 2 x.q + q.q with the `squares` x.x [n]. Each sum is off by d roundings of its terms at
    most; there are four, the true distance's among them. What is less than the least number of full
    precision may be lost.
    """
    numbers: Vectors = query.astype(squares.dtype)
    square = numbers @ numbers
    with np.errstate(all="ignore"):
        near = products(vectors, numbers)
        near *= -2
        near += squares
        near += square
        digits = np.finfo(np.float32).eps + (4 * len(numbers) + 8) * np.finfo(squares.dtype).eps
        error = np.float32(digits * (squares.max(initial=0) + square)) + TINY
        return near.astype(np.float32, copy=False), error


def squares_of(vectors: AnyVectors) -> Vectors:
    """Return x.x of vectors [n, d]: [n]."""
    squares: Vectors = np.empty(len(vectors), accumulator(vectors))
    with np.errstate(all="ignore"):
        for rows in blocks(vectors):
            block = vectors[rows].astype(squares.dtype, copy=False)
            np.einsum("ij,ij->i", block, block, out=squares[rows])
    return squares
