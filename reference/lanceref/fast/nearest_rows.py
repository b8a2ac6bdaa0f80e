"""The nearest rows of a partition, by bounds of distances that cost less than the distances.

The distances of some rows that seem nearest are computed first; no row whose bound is above the
k-th of these is among the k nearest (arXiv 2405.12497, section 4). What seems near comes from

    vectors, l2    x.x - 2 x.q + q.q, which loses digits: off by a known error
    bytes, l2      the first half of the numbers: the others only add to the distance
    product, l2    the first half of the sub-vectors
    RabitQ         the signs alone, off by the stored error

The specification is `index.vector.storage.nearest_rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import replaces
from lanceref.index.vector import storage
from lanceref.index.vector.flat_storage import FlatRows
from lanceref.index.vector.pq_storage import ProductRows
from lanceref.index.vector.rq_rows import RotatedRows
from lanceref.index.vector.sq_storage import SqRows
from lanceref.index.vector.storage import Mask, Mode, PartitionRows, Score, Selection
from lanceref.kernels.distance import (
    BLOCK_VALUES,
    AnyVectors,
    Floats,
    Vectors,
    accumulator,
    blocks,
    distances,
    products,
)
from lanceref.kernels.product_quantizer import look_up
from lanceref.kernels.rabitq_estimate import Factors, by_codes, by_signs
from lanceref.kernels.scalar_quantizer import Codes, l2_distances, quantize
from lanceref.kernels.scalar_quantizer import squares_of as squares_of_codes
from lanceref.kernels.top_k import Rows, smallest

TINY = np.finfo(np.float32).tiny
"""Least float32 that has all its digits."""

SURE = np.float32(2)
"""A distance by signs is off by at most so many times the stored error, but for one of 14 000
rows."""

ONE = np.float32(1)

FIRST_LOOK = 4
"""So many times as many rows as are wanted have their distances computed first."""


@replaces(storage.nearest_rows)
def nearest_rows(
    rows: PartitionRows, query: AnyVectors, mode: Mode, kept: Mask, k: int
) -> tuple[Rows, Floats]:
    """Return rows, ascending, of those `kept` [n], and their distances; the k nearest are among.

    `query` (dimension,).
    """
    match rows:
        case FlatRows(vectors, "l2") if vectors.size > BLOCK_VALUES:
            return _of_vectors(rows, query, kept, k)
        case SqRows() if rows.model.metric != "dot":
            return _of_bytes(rows, query, kept, k)
        case ProductRows() if rows.quantizer.metric == "l2" and len(rows.ready) > 1:
            return _of_products(rows, query, kept, k)
        case RotatedRows() if rows.codes is not None and mode == "normal":
            return _of_signs(rows, query, kept, k)
    return storage.nearest_rows.plain(rows, query, mode, kept, k)


_squares: WeakKeyDictionary[FlatRows, Vectors] = WeakKeyDictionary()
_halves: WeakKeyDictionary[SqRows, tuple[Codes, NDArray[np.floating]]] = WeakKeyDictionary()


def _of_vectors(rows: FlatRows, query: AnyVectors, kept: Mask, k: int) -> tuple[Rows, Floats]:
    if rows not in _squares:
        _squares[rows] = squares_of(rows.vectors)

    def score(chosen: Selection) -> Floats:
        return np.asarray(distances(query[None], rows.vectors[chosen], "l2")[0])

    about, error = estimates(query, rows.vectors, _squares[rows])
    return bounded_nearest(about, kept, k, score, Errors(error))


def _of_bytes(rows: SqRows, query: AnyVectors, kept: Mask, k: int) -> tuple[Rows, Floats]:
    if rows not in _halves:
        codes = np.ascontiguousarray(rows.codes[:, : rows.codes.shape[1] // 2])
        _halves[rows] = codes, squares_of_codes(codes)
    codes, squares = _halves[rows]
    half = quantize(query[None, : codes.shape[1]], rows.bounds)[0]
    seeming = l2_distances(half, codes, squares, rows.bounds)
    return bounded_nearest(seeming, kept, k, rows.score(query, "normal"))


def _of_products(rows: ProductRows, query: AnyVectors, kept: Mask, k: int) -> tuple[Rows, Floats]:
    table, columns = rows.table(query), rows.ready
    half = len(columns) // 2
    split = half * len(table) // len(columns)
    sums = look_up(table[:split], columns[:half])
    sums[~kept] = np.inf

    def score(chosen: Rows) -> Floats:
        return look_up(table[split:], columns[half:, chosen], sums[chosen])

    found, near = nearest(sums, k, score)
    return found[kept[found]], near[kept[found]]


def _of_signs(rows: RotatedRows, query: AnyVectors, kept: Mask, k: int) -> tuple[Rows, Floats]:
    terms, sums = rows.query_terms(query, "normal")
    codes, more, bits = rows.codes, rows.more, rows.layout.extra_bits
    assert codes is not None

    def score(chosen: Selection) -> Floats:
        own = Factors(more.add[chosen], more.scale[chosen])
        return by_codes(terms, sums[chosen], codes[chosen], bits, own)

    errors = Errors(rows.errors, SURE * terms.error)
    return bounded_nearest(by_signs(terms, sums, rows.plain), kept, k, score, errors)


def bounded_nearest(
    estimates: Floats, kept: Mask, k: int, score: Score, errors: Errors | None = None
) -> tuple[Rows, Floats]:
    """Return rows of those `kept` [n] and their distances; the k nearest are among them.

    `estimates` [n] bound distances from below, with `errors` they are so much off.
    """
    if kept.all():
        return nearest(estimates, k, score, errors)
    rows = np.flatnonzero(kept)
    if len(rows) <= k:
        return rows, score(rows)
    estimates[~kept] = np.inf

    def of_kept(rows: Rows) -> Floats:
        near = score(rows)
        near[~kept[rows]] = np.inf
        return near

    rows, near = nearest(estimates, k, of_kept, errors)
    return rows[kept[rows]], near[kept[rows]]


def estimates(
    query: AnyVectors, vectors: AnyVectors, squares: Vectors
) -> tuple[Floats, np.float32]:
    """Return approximate l2 distances of vectors [n, d] from a query [d], and their largest error.

    By x.x - 2 x.q + q.q with the `squares` x.x [n]: that takes a third of the time. Each sum is off
    by d roundings of its terms at most; there are four, the true distance's among them. What is
    less than the least number of full precision may be lost.
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
