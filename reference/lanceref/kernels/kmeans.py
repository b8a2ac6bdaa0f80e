"""K-means: the nearest centroid of each vector, and centroids that vectors are near to.

Assignment compares vectors with all centroids by one matrix product:

    l2   |v - c| ** 2 = |v| ** 2 + (|c| ** 2 - 2 v.c);  the bracket is the score
    dot  1 - v.c

Where another centroid is nearer than the rounding of such a product could tell apart, distances are
computed as they are defined; the first of equally near ones is taken. For the cosine, vectors are
normalized and assigned by l2.

Training is Lloyd's algorithm (Least squares quantization in PCM, 1982): every vector goes to its
nearest centroid, every centroid to the mean of its vectors, until the sum of distances changes by
less than a ten-thousandth. The first centroids are vectors drawn at random. An empty cluster takes
half the vectors of the largest: both get its mean, moved apart a little. For dot, centroids are of
length 1; for hamming, a centroid has the bits that most of its vectors have. Where there are many
vectors, the rounds go over a few of them until these settle, and then over all a few times. Beyond
256 centroids, vectors are first divided by 16, and each part gets its share of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import AnyVectors, Floats, Metric, accumulator, distances, normalized

Ids = NDArray[np.int64]
Counts = NDArray[np.int64]

BLOCK_SCORES, BLOCK_NUMBERS = 2**17, 2**22
"""Scores, and numbers of vectors, that are processed together, so that they stay in the cache."""

ROUNDS, LAST_ROUNDS = 50, 20
"""Rounds of Lloyd at most, and those over all vectors where others came first."""

SETTLED = 1e-4
"""Change of the sum of distances, as a share of it, at which the rounds end."""

ROWS_PER_CENTROID, FEW_PER_CENTROID = 512, 32
"""Vectors for each centroid: at most, and in the first rounds where there are twice as many."""

MOST_AT_ONCE, FAN_OUT = 256, 16
"""Centroids that are trained together; parts into which vectors are divided for more."""

APART = 1 / 1024
"""How far the halves of a cluster are moved apart, as a share of each component."""


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


def distances_to(vectors: AnyVectors, centroids: AnyVectors, ids: Ids, metric: Metric) -> Floats:
    """Return the distance of each vector [n, d] from the centroid with its id [n]: [n]."""
    result = np.empty(len(vectors), np.float32)
    step = max(1, BLOCK_SCORES // max(1, vectors.shape[1]))
    wide = np.dtype(np.uint8) if metric == "hamming" else accumulator(vectors)
    for start in range(0, len(vectors), step):
        rows = slice(start, start + step)
        near, own = centroids[ids[rows]].astype(wide), vectors[rows].astype(wide)
        if metric == "hamming":
            result[rows] = np.bitwise_count(own ^ near).sum(axis=1)
        elif metric == "dot":
            result[rows] = 1 - np.einsum("ij,ij->i", own, near)
        else:
            own -= near
            result[rows] = np.einsum("ij,ij->i", own, own)
    return result


def train(
    vectors: AnyVectors,
    k: int,
    metric: Metric,
    random: np.random.Generator,
    rounds: int = ROUNDS,
) -> AnyVectors:
    """Return k centroids [k, d] of vectors [n, d], n at least k, in their type.

    `metric` is l2, dot or hamming.
    """
    most = k * ROWS_PER_CENTROID
    if len(vectors) > most:
        vectors = vectors[np.sort(random.choice(len(vectors), most, replace=False))]
    if k <= MOST_AT_ONCE:
        return _train_together(vectors, k, metric, random, rounds).astype(vectors.dtype, copy=False)
    coarse = _train_together(vectors, FAN_OUT, metric, random, rounds)
    ids = assign(vectors, coarse, metric)
    parts = [vectors[ids == number] for number in range(FAN_OUT)]
    shares = divide(k, np.array([len(part) for part in parts])).tolist()
    pairs = zip(parts, shares, strict=True)
    return np.concatenate(
        [train(part, share, metric, random, rounds) for part, share in pairs if share]
    )


def divide(k: int, sizes: Counts) -> Counts:
    """Return how many of k centroids parts of these sizes get, none more than it has vectors.

    k is not more than the sizes together. Shares are in proportion to the sizes, rounded down; what
    is left goes to the parts that lost most by that. `sizes` and the result (parts,).
    """
    exact = k * sizes / sizes.sum()
    shares: Counts = np.minimum(exact.astype(np.int64), sizes)
    while shares.sum() < k:
        shares[np.argmax(np.where(shares < sizes, exact - shares, -np.inf))] += 1
    return shares


def _train_together(
    vectors: AnyVectors, k: int, metric: Metric, random: np.random.Generator, rounds: int
) -> AnyVectors:
    """Run the rounds of Lloyd: where there are many vectors, over few of them first."""
    centroids, few = initial_centroids(vectors, k, metric, random), k * FEW_PER_CENTROID
    samples = [vectors]
    if len(vectors) >= 2 * few:
        samples.insert(0, vectors[np.sort(random.choice(len(vectors), few, replace=False))])
    for sample in samples:

        def look(centroids: AnyVectors, sample: AnyVectors = sample) -> list[Partial]:
            return [partial_sums(sample, centroids, metric)]

        centroids = lloyd(look, centroids, metric, squared_lengths(sample, metric), rounds)
        rounds = min(rounds, LAST_ROUNDS)
    return centroids


def initial_centroids(
    vectors: AnyVectors, k: int, metric: Metric, random: np.random.Generator
) -> AnyVectors:
    """Return k of the vectors as the first centroids, in the type that rounds count in."""
    first = np.sort(random.choice(len(vectors), k, replace=False))
    centroids = vectors[first].astype(np.uint8 if metric == "hamming" else accumulator(vectors))
    return _unit(centroids) if metric == "dot" else centroids


@dataclass(frozen=True, slots=True)
class Partial:
    """What a part of the vectors contributes to one round.

    The sums of the vectors near to each centroid [k, d] (of hamming: of their bits), how many these
    are [k], and the sum of their scores: distances, of l2 without the squared lengths of vectors.
    """

    sums: AnyVectors
    counts: Counts
    loss: float


def partial_sums(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Partial:
    """Return the contribution of vectors [n, d], each near to the centroid of the best score."""
    ids, loss = np.empty(len(vectors), np.int64), 0.0
    for start, scores in score_blocks(vectors, centroids, metric):
        near = scores.argmin(axis=1)
        ids[start : start + len(near)] = near
        loss += float(scores[np.arange(len(near)), near].sum(dtype=np.float64))
    counts = np.bincount(ids, minlength=len(centroids))
    rows = vectors[np.argsort(ids.astype(np.uint16), kind="stable")]
    if metric == "hamming":
        rows = np.unpackbits(rows.view(np.uint8), axis=1)
    wide = np.int64 if metric == "hamming" else accumulator(vectors)
    sums = np.zeros((len(centroids), rows.shape[1]), wide)
    if len(rows):
        starts = (np.cumsum(counts) - counts)[counts > 0]
        sums[counts > 0] = np.add.reduceat(rows, starts, axis=0, dtype=wide)
    return Partial(sums, counts, loss)


def squared_lengths(vectors: AnyVectors, metric: Metric) -> float:
    """Return what scores lack of distances, summed: of l2 the squared lengths of vectors."""
    return float(np.square(vectors, dtype=np.float64).sum()) if metric == "l2" else 0.0


def lloyd(
    look: Callable[[AnyVectors], Iterable[Partial]],
    centroids: AnyVectors,
    metric: Metric,
    lengths: float,
    rounds: int = ROUNDS,
) -> AnyVectors:
    """Run rounds until the sum of distances hardly changes.

    `look` returns the parts of a round over all vectors, whose `squared_lengths` are `lengths`.
    """
    before = np.inf
    for _ in range(rounds):
        parts = list(look(centroids))
        counts = np.sum([part.counts for part in parts], axis=0)
        sums = parts[0].sums if len(parts) == 1 else np.sum([part.sums for part in parts], axis=0)
        centroids = _means(sums, counts, metric)
        loss = lengths + sum(part.loss for part in parts)
        if abs(before - loss) < SETTLED * abs(loss) or loss == before:
            break
        before = loss
    return centroids


def _means(sums: AnyVectors, counts: Counts, metric: Metric) -> AnyVectors:
    """Return the centroids of clusters [k, d], after halving large ones where some are empty."""
    if metric == "hamming":
        return np.packbits(sums * 2 > counts[:, None], axis=1)
    means: AnyVectors = sums / np.maximum(counts, 1).astype(sums.dtype)[:, None]
    signs = np.where(np.arange(means.shape[1]) % 2, -APART, APART)
    for empty in np.flatnonzero(counts == 0).tolist():
        largest = int(np.argmax(counts))
        if counts[largest] < 2:
            break
        counts[empty] = counts[largest] // 2
        counts[largest] -= counts[empty]
        means[empty] = means[largest] * (1 + signs)
        means[largest] *= 1 - signs
    return _unit(means) if metric == "dot" else means


def _unit(centroids: AnyVectors) -> AnyVectors:
    """Return centroids of length 1; zeros stay as they are."""
    unit = normalized(centroids)
    return np.where(np.isfinite(unit), unit, 0).astype(centroids.dtype)
