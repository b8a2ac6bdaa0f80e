"""Search in a vector index: partitions near the query, and the rows in them that are nearest.

Partitions are ranked by the distance of their centroids. As many are looked at as are asked for,
and more when they do not have enough rows.

Clauses: L.index.vector.search.ranking, L.index.vector.search.probes
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lanceref.index.segment import Moved
from lanceref.index.vector.asked import Asked
from lanceref.index.vector.graph_search import walk, worth_walking
from lanceref.index.vector.neighbours import NOBODY, Neighbours, joined, summed
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_index import Partition, VectorIndex
from lanceref.kernels.distance import AnyVectors, distances, normalized

FIRST_PROBES = ((1, 5), (10, 6))
"""Up to so many rows wanted, so many partitions are looked at first."""

MOST_FIRST_PROBES = 11
"""Partitions that are looked at first when more rows are wanted."""


def search(index: VectorIndex, queries: AnyVectors, asked: Asked, alive: Moved) -> Neighbours:
    """Return the rows nearest to a query of vectors [q, d] of the column's type.

    `alive` says which keys count, and where these rows are now. Raises FormatError.
    """
    if index.head.model.metric == "cosine":
        queries = normalized(queries)
    found = [_search_one(index, query, asked, alive) for query in queries]
    return found[0] if len(found) == 1 else summed(found).best(asked.k)


def _search_one(index: VectorIndex, query: AnyVectors, asked: Asked, alive: Moved) -> Neighbours:
    """Return the rows nearest to one vector [d]."""
    if not np.isfinite(query).all():
        return NOBODY
    ranked = ranking(index.head.model, query)
    least, most = _probes(asked, index)
    found = NOBODY
    for place, number in enumerate(ranked[:most].tolist()):
        if place >= least and len(found.ids) >= asked.k:
            break
        if index.auxiliary.partitions.lengths[number]:
            near = _nearest(index.partition(number), query, asked, alive)
            found = joined([found, near]).once().best(asked.k)
    return found


def ranking(model: Model, query: AnyVectors) -> NDArray[np.int64]:
    """Return the partitions by the distance of their centroids from a query, the nearest first."""
    near = distances(query[None], model.centroids, model.of_vectors)[0]
    return np.argsort(near, kind="stable")


def _probes(asked: Asked, index: VectorIndex) -> tuple[int, int]:
    """Return how many partitions are looked at first, and at most."""
    count = len(index.head.model.centroids)
    most = count if asked.most is None else min(asked.most, count)
    rows = int(index.auxiliary.partitions.lengths.sum())
    least = max(1, asked.least or 1)
    if asked.least is None or asked.effort is not None:
        first = next((n for k, n in FIRST_PROBES if asked.k <= k), MOST_FIRST_PROBES)
        first = max(first, math.ceil(asked.k * count / max(rows, 1)), least)
        least = _with_effort(asked.effort, least, min(first, count), count)
    return min(least, most), most


def _with_effort(effort: float | None, least: int, first: int, most: int) -> int:
    """Return a number of partitions between the least, the usual and the most, geometrically."""
    if effort is None:
        return first
    low, high, share = (
        (least, first, 2 * effort) if effort <= 0.5 else (first, most, 2 * effort - 1)
    )
    return math.ceil(math.pow(low, 1 - share) * math.pow(high, share) - 1e-9)


def _nearest(partition: Partition, query: AnyVectors, asked: Asked, alive: Moved) -> Neighbours:
    """Return the rows of a partition that are nearest."""
    kept, keys = alive(partition.keys)
    score = partition.stored.score(query, asked.mode)
    if partition.graph is not None and worth_walking(kept):
        return walk(partition.graph, score, asked, kept, keys)
    near = score(slice(None))
    if not kept.all():
        near = near[kept]
    return Neighbours(keys, near).within(asked.range).best(asked.k)
