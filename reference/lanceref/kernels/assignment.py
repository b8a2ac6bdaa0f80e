"""Assignment: which of k centroids each vector is nearest to.

AnyVectors are compared with all centroids by one matrix product:

    l2   |v - c| ** 2 = |v| ** 2 + (|c| ** 2 - 2 v.c);  the bracket is the score
    dot  1 - v.c

Where another centroid is nearer than the rounding of such a product could tell apart, distances
are computed as they are defined; the first of equally near ones is taken. For the cosine, vectors
are normalized and assigned by l2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import AnyVectors, Floats, Metric, accumulator, distances

Ids = NDArray[np.int64]

BLOCK_SCORES = 2**17
"""Scores that are looked at together, so that they stay in the cache."""

BLOCK_NUMBERS = 2**22
"""Numbers of the vectors of a block, at most."""


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
    table = _score_table(np.asarray(centroids, accumulator(vectors)), metric)
    rows = np.ones((step, len(table)), table.dtype)
    scores = np.empty((step, len(centroids)), table.dtype)
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step]
        rows[: len(block), :-1] = block
        yield start, np.matmul(rows[: len(block)], table, out=scores[: len(block)])


def _score_table(centroids: AnyVectors, metric: Metric) -> AnyVectors:
    """Return what vectors with a 1 behind are multiplied by: [d + 1, k]."""
    if metric == "dot":
        factor, last = -1.0, np.ones(len(centroids), centroids.dtype)
    else:
        factor, last = -2.0, np.einsum("ij,ij->i", centroids, centroids)
    return np.ascontiguousarray(np.vstack([centroids.T * factor, last]), centroids.dtype)


def _first_nearest(
    vectors: AnyVectors, centroids: AnyVectors, metric: Metric, scores: AnyVectors
) -> Ids:
    """Return the nearest centroids of vectors whose scores these are; the scores are spoiled."""
    ids: Ids = scores.argmin(axis=1)
    if metric != "l2" or len(centroids) == 1:
        return ids
    places = np.arange(len(ids))
    best = scores[places, ids]
    scores[places, ids] = np.inf
    doubtful = np.flatnonzero(scores.min(axis=1) - best <= _rounding(vectors, centroids))
    step = max(1, BLOCK_SCORES // len(centroids))
    for start in range(0, len(doubtful), step):
        some = doubtful[start : start + step]
        ids[some] = distances(vectors[some], centroids, metric).argmin(axis=1)
    return ids


def _rounding(vectors: AnyVectors, centroids: AnyVectors) -> AnyVectors:
    """Return how far scores of two centroids may be off together, for each vector."""
    wide = accumulator(vectors)
    largest = np.linalg.norm(np.asarray(centroids, wide), axis=1).max()
    lengths = np.linalg.norm(np.asarray(vectors, wide), axis=1)
    share = 2 * (vectors.shape[1] + 2) * np.finfo(wide).eps
    bound: AnyVectors = share * largest * (largest + 2 * lengths)
    return bound


def distances_to(vectors: AnyVectors, centroids: AnyVectors, ids: Ids, metric: Metric) -> Floats:
    """Return the distance of each vector [n, d] from the centroid with its id [n]: [n]."""
    result = np.empty(len(vectors), np.float32)
    step = max(1, BLOCK_SCORES // max(1, vectors.shape[1]))
    wide = accumulator(vectors)
    for start in range(0, len(vectors), step):
        rows = slice(start, start + step)
        if metric == "hamming":
            result[rows] = np.bitwise_count(
                np.bitwise_xor(vectors[rows], centroids[ids[rows]])
            ).sum(axis=1)
            continue
        near = centroids[ids[rows]].astype(wide)
        own = vectors[rows].astype(wide)
        if metric == "dot":
            result[rows] = 1 - np.einsum("ij,ij->i", own, near)
        else:
            own -= near
            result[rows] = np.einsum("ij,ij->i", own, own)
    return result
