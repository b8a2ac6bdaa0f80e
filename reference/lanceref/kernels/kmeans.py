"""K-means: the nearest centroid of each vector, and centroids that vectors are near to.

The nearest centroid is the one of the least distance, the first of equally near ones. For the
cosine, vectors are normalized and assigned by l2.

Training is Lloyd's algorithm (Least squares quantization in PCM, 1982): every vector goes to its
nearest centroid, every centroid to the mean of its vectors, until the sum of distances changes by
less than a ten-thousandth. The first centroids are vectors drawn at random. An empty cluster takes
half the vectors of the largest: both get its mean, moved apart a little. For dot, centroids are of
length 1; for hamming, a centroid has the bits that most of its vectors have. Where there are many
vectors, the rounds go over a few of them until these settle, and then over all a few times. Beyond
256 centroids, vectors are first divided by 16, and each part gets its share of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.kernels.distance import (
    AnyVectors,
    Floats,
    Metric,
    accumulator,
    blocks,
    distances,
    normalized,
)

Ids = NDArray[np.int64]
Counts = NDArray[np.int64]

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


@specified
def assign(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Ids:
    """Return the nearest of centroids [k, d] of vectors [n, d]: ids [n], the least of several.

    `metric` is l2, dot or hamming; k is at least 1.
    """
    nearest: Ids = distances(centroids, vectors, metric).argmin(axis=0)
    return nearest


def distances_to(vectors: AnyVectors, centroids: AnyVectors, ids: Ids, metric: Metric) -> Floats:
    """Return the distance of each vector [n, d] from the centroid with its id [n]: [n]."""
    result = np.empty(len(vectors), np.float32)
    wide = np.dtype(np.uint8) if metric == "hamming" else accumulator(vectors)
    for rows in blocks(vectors):
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
    vectors: AnyVectors, k: int, metric: Metric, random: np.random.Generator, rounds: int = ROUNDS
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


@specified
def partial_sums(vectors: AnyVectors, centroids: AnyVectors, metric: Metric) -> Partial:
    """Return the contribution of vectors [n, d] to a round over centroids [k, d]."""
    ids = assign(vectors, centroids, metric)
    near = distances_to(vectors, centroids, ids, metric)
    loss = float(near.sum(dtype=np.float64)) - squared_lengths(vectors, metric)
    return Partial(*cluster_sums(vectors, ids, len(centroids), metric), loss)


def cluster_sums(
    vectors: AnyVectors, ids: Ids, k: int, metric: Metric
) -> tuple[AnyVectors, Counts]:
    """Return the sums [k, d] of vectors [n, d] by ids [n] of their centroids, and counts [k]."""
    counts = np.bincount(ids, minlength=k)
    rows = vectors[np.argsort(ids.astype(np.uint16), kind="stable")]
    if metric == "hamming":
        rows = np.unpackbits(rows.view(np.uint8), axis=1)
    wide = np.int64 if metric == "hamming" else accumulator(vectors)
    sums = np.zeros((k, rows.shape[1]), wide)
    if len(rows):
        starts = (np.cumsum(counts) - counts)[counts > 0]
        sums[counts > 0] = np.add.reduceat(rows, starts, axis=0, dtype=wide)
    return sums, counts


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
    # An empty cluster takes half of the largest; both centroids move a little apart.
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
