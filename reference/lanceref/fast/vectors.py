"""Kernels of vector indices: many vectors, rows and values at a time.

K-means: assignment by one matrix product for each block of vectors.

    l2   |v - c| ** 2 = |v| ** 2 + (|c| ** 2 - 2 v.c);  the bracket is the score
    dot  1 - v.c

Where another centroid is nearer by l2 than the rounding of such a product could tell apart,
`assign` computes distances as they are defined. By dot, centroids as near as the rounding of a
product may change places; so they may in the rounds of training (`partial_sums`), by any metric.

Look-ups: in blocks of rows, of pairs of columns in one table for two bytes, of few rows at once.
Sums of pairs are added in another order: those of float32 may differ from the plain ones by a
rounding of each term.

The k smallest values, without sorting the others: a threshold is guessed from a sample, and only
what is not above it is sorted. The guess aims at twice as many values as are wanted; where it is
too low, the k-th smallest value is the threshold.

The specifications are `kernels.kmeans`, `kernels.product_quantizer.look_up` and
`kernels.top_k.smallest`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import replaces
from lanceref.kernels import kmeans, product_quantizer, top_k
from lanceref.kernels.distance import AnyVectors, Floats, Metric, accumulator, distances
from lanceref.kernels.kmeans import Ids, Partial, cluster_sums
from lanceref.kernels.product_quantizer import Bytes, Pairs, Sums
from lanceref.kernels.top_k import Rows

BLOCK_SCORES, BLOCK_NUMBERS = 2**17, 2**22
"""Scores, and numbers of vectors, that are processed together, so that they stay in the cache."""


@replaces(kmeans.assign)
def assign(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Ids:
    """Return the nearest of centroids [k, d] for each vector [n, d].

    `metric` is l2, dot or hamming; k is at least 1.
    """
    ids = np.empty(len(vectors), np.int64)
    for start, scores in score_blocks(vectors, centroids, metric):
        rows = slice(start, start + len(scores))
        ids[rows] = _first_nearest(vectors[rows], centroids, metric, scores)
    return ids


def score_blocks(
    vectors: AnyVectors, centroids: AnyVectors, metric: Metric
) -> Iterator[tuple[int, AnyVectors]]:
    """Yield the first place of each block of vectors, and their scores [rows, k], used up at once.

    The smaller, the nearer; of l2 they lack the squared length of the vector.
    """
    step = max(1, min(BLOCK_SCORES // len(centroids), BLOCK_NUMBERS // centroids.shape[1]))
    if metric == "hamming":
        for start in range(0, len(vectors), step):
            yield start, distances(vectors[start : start + step], centroids, metric)
        return
    wide = np.asarray(centroids, accumulator(vectors))
    factor, last = -1.0, np.ones(len(wide), wide.dtype)
    if metric != "dot":
        factor, last = -2.0, np.einsum("ij,ij->i", wide, wide)
    table = np.ascontiguousarray(np.vstack([wide.T * factor, last]), wide.dtype)
    rows = np.ones((step, len(table)), table.dtype)  # vectors, each followed by a 1
    scores = np.empty((step, len(centroids)), table.dtype)
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        rows[: len(block), :-1] = block
        yield start, np.matmul(rows[: len(block)], table, out=scores[: len(block)])


def _first_nearest(
    vectors: AnyVectors, centroids: AnyVectors, metric: Metric, scores: AnyVectors
) -> Ids:
    """Return the nearest centroids of vectors with these scores, which are overwritten."""
    ids: Ids = scores.argmin(axis=1)
    if metric != "l2" or len(centroids) == 1:
        return ids
    places = np.arange(len(ids))
    best = scores[places, ids]
    scores[places, ids] = np.inf
    wide = accumulator(vectors)
    largest = np.linalg.norm(np.asarray(centroids, wide), axis=1).max()
    lengths = np.linalg.norm(np.asarray(vectors, wide), axis=1)
    share = 2 * (vectors.shape[1] + 2) * np.finfo(wide).eps
    rounding = share * largest * (largest + 2 * lengths)  # of two scores together
    doubtful = np.flatnonzero(scores.min(axis=1) - best <= rounding)
    step = max(1, BLOCK_SCORES // len(centroids))
    for start in range(0, len(doubtful), step):
        some = doubtful[start : start + step]
        ids[some] = distances(vectors[some], centroids, metric).argmin(axis=1)
    return ids


@replaces(kmeans.partial_sums)
def partial_sums(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Partial:
    """Return the contribution of vectors [n, d], each near to the centroid of the best score."""
    ids, loss = np.empty(len(vectors), np.int64), 0.0
    for start, scores in score_blocks(vectors, centroids, metric):
        near = scores.argmin(axis=1)
        ids[start : start + len(near)] = near
        loss += float(scores[np.arange(len(near)), near].sum(dtype=np.float64))
    return Partial(*cluster_sums(vectors, ids, len(centroids), metric), loss)


BLOCK_ROWS, FEW = 2**14, 256
"""Rows whose columns are looked up one by one together; rows whose columns are, all at once."""


@replaces(product_quantizer.look_up)
def look_up(
    table: NDArray[Sums], columns: Bytes | Pairs, before: NDArray[Sums] | None = None
) -> NDArray[Sums]:
    """Return the sums [n] of a table [w, 256] for columns [w, n], or for pairs of them.

    They are added to those `before` [n], by default to zero.
    """
    count = columns.shape[1]
    if before is None and columns.dtype == np.uint8 and 1 < count <= FEW:
        firsts = np.arange(len(table))[:, None] * table.shape[1]
        few: NDArray[Sums] = table.ravel().take(firsts + columns)
        found: NDArray[Sums] = np.add.reduce(few, axis=0, dtype=table.dtype)
        return found
    sums: NDArray[Sums] = np.zeros(count, table.dtype) if before is None else before.copy()
    if columns.dtype != np.uint16:
        for row, column in zip(table, columns, strict=True):
            _add(sums, row, column)
        return sums
    for low, high, column in zip(table[0::2], table[1::2], columns, strict=True):
        if count < product_quantizer.WORTH_PAIRS:
            sums += high[column >> np.uint16(8)] + low[column & np.uint16(0xFF)]
        else:  # one table at a time: it stays in the cache
            _add(sums, (high[:, None] + low).ravel(), column)
    return sums


def _add(sums: NDArray[Sums], row: NDArray[Sums], column: Bytes | Pairs) -> None:
    """Add to sums [n] the entries of a row of a table that a column [n] selects."""
    more = np.empty(min(BLOCK_ROWS, len(sums)), row.dtype)
    for start in range(0, len(sums), BLOCK_ROWS):
        own = sums[start : start + BLOCK_ROWS]
        row.take(column[start : start + BLOCK_ROWS], out=more[: len(own)], mode="clip")
        own += more[: len(own)]


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
