"""Resizing: partitions that have grown too large are split, or those that are too small given up.

Both happen when an index is brought up to date. Its centroids change then and its quantizer does
not; the rows of all its segments are assigned anew, and are one segment.

Of the rows that a partition is meant to have, one with more than four times as many is split, into
as many as make them have no more on the average. Where none is, those with less than a quarter are
given up, but for the largest when all are. The first of the new centroids stands in the place of
the old one, the others behind all.

Clauses: L.index.vector.resize.split, L.index.vector.resize.join
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import OperationRefused
from lanceref.index.training import Training
from lanceref.index.vector.indexed_vectors import indexed_vectors
from lanceref.index.vector.parameters import SAMPLE_RATE, VectorParameters
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.kernels.distance import AnyVectors
from lanceref.kernels.kmeans import Counts, assign, train

SPLIT_ABOVE = 4
"""Times the rows that a partition is meant to have, above which it is split."""

JOINED_BELOW = 4
"""The share of these rows, below which a partition is given up."""


def resized(
    indices: Sequence[VectorIndex], added: Training, table: Training, given: VectorParameters
) -> VectorParameters | None:
    """Return what to build over all rows of the table; None when all partitions may stay.

    `indices` are the segments, `added` the rows that none has, `given` what they were built with.
    Segments that do not share their centroids or what else they have learnt are left alone. Raises
    FormatError.
    """
    first, *others = indices
    model, held = first.head.model, [one.auxiliary.quantizer for one in indices]
    if not table.num_rows or not all(model.shares_partitions(one.head.model) for one in others):
        return None
    try:
        quantizer = held[0].joined(held[1:])
    except OperationRefused:
        return None
    sizes = sum((one.auxiliary.partitions.lengths for one in indices), _added(added, model))
    target = given.partition_rows
    large, small = sizes > SPLIT_ABOVE * target, sizes * JOINED_BELOW < target
    if large.any():
        centroids = _split(model, table, sizes, np.where(large, -(-sizes // target), 0))
    elif small.any() and len(sizes) > 1:
        centroids = _without(model, sizes, small)
    else:
        return None
    return replace(given, centroids=centroids, quantizer=quantizer)


def _added(added: Training, model: Model) -> Counts:
    """Return how many new vectors each partition would get."""
    counts = np.zeros(len(model.centroids), np.int64)
    for keyed in indexed_vectors(added, model.metric):
        numbers = assign(keyed.vectors, model.centroids, model.of_vectors)
        counts += np.bincount(numbers, minlength=len(counts))
    return counts


def _without(model: Model, sizes: Counts, small: NDArray[np.bool_]) -> AnyVectors:
    """Return the centroids of partitions that are not small; the last of the largest stays."""
    kept = ~small
    if not kept.any():
        kept[len(sizes) - 1 - int(np.argmax(sizes[::-1]))] = True
    return model.centroids[kept]


def _split(model: Model, table: Training, sizes: Counts, pieces: Counts) -> AnyVectors:
    """Return centroids with as many in the place of each as there are pieces; 0 leaves it."""
    random = np.random.default_rng()
    shares = np.minimum(1, pieces * SAMPLE_RATE / np.maximum(sizes, 1))
    vectors, numbers = [], []
    for keyed in indexed_vectors(table, model.metric):
        near = assign(keyed.vectors, model.centroids, model.of_vectors)
        drawn = random.random(len(near)) < shares[near]
        vectors.append(keyed.vectors[drawn])
        numbers.append(near[drawn])
    sample, of = np.concatenate(vectors), np.concatenate(numbers)
    centroids, behind = model.centroids.copy(), []
    for number in np.flatnonzero(pieces).tolist():
        own = sample[of == number]
        if len(own):
            count = min(int(pieces[number]), len(own))
            found = train(own, count, model.of_vectors, random)
            centroids[number] = found[0]
            behind.append(found[1:])
    return np.concatenate([centroids, *behind]).astype(centroids.dtype, copy=False)
