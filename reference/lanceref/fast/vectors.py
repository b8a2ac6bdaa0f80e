"""K-means, many vectors at a time.

Assignment by one matrix product for each block of vectors.

    l2   |v - c| ** 2 = |v| ** 2 + (|c| ** 2 - 2 v.c);  the bracket is the score
    dot  1 - v.c

Where another centroid is nearer by l2 than the rounding of such a product could tell apart,
`assign` computes distances as they are defined. By dot, centroids as near as the rounding of a
product may change places; so they may in the rounds of training (`partial_sums`), by any metric.

The specification is `kernels.kmeans`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lanceref.kernels import kmeans
from lanceref.kernels.distance import AnyVectors, Metric, accumulator, distances
from lanceref.kernels.kmeans import Ids, Partial, cluster_sums

BLOCK_SCORES, BLOCK_NUMBERS = 2**17, 2**22
"""Scores, and numbers of vectors, that are processed together, so that they stay in the cache."""


@kmeans.assign.replaced_by
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


@kmeans.partial_sums.replaced_by
def partial_sums(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Partial:
    """Return the contribution of vectors [n, d], each near to the centroid of the best score."""
    ids, loss = np.empty(len(vectors), np.int64), 0.0
    for start, scores in score_blocks(vectors, centroids, metric):
        near = scores.argmin(axis=1)
        ids[start : start + len(near)] = near
        loss += float(scores[np.arange(len(near)), near].sum(dtype=np.float64))
    return Partial(*cluster_sums(vectors, ids, len(centroids), metric), loss)
