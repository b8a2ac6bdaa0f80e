"""Search in a vector index: partitions near the query, and the rows in them that are nearest.

Partitions are ranked by the distance of their centroids. As many are looked at as are asked for,
and more when they do not have enough rows.

Clauses: L.index.vector.search.ranking
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.index.segment import Moved
from lanceref.index.vector.graph_search import kept_nodes, walk, worth_walking
from lanceref.index.vector.probes import probes
from lanceref.index.vector.search_parameters import Asked
from lanceref.index.vector.search_results import NOBODY, Neighbours, joined
from lanceref.index.vector.storage import Bounded, Model
from lanceref.index.vector.vector_index import Partition, VectorIndex
from lanceref.kernels.distance import AnyVectors, Floats, distances, normalized

EVERYWHERE = (None, None)
"""The range in which all distances are."""


def search(index: VectorIndex, queries: AnyVectors, asked: Asked, alive: Moved) -> list[Neighbours]:
    """Return what is nearest to each of some vectors [q, d] of the column's type.

    A row that has several vectors may be found more than once. `alive` says which keys count, and
    where these rows are now. Raises FormatError, QueryRefused.
    """
    if index.head.type.graphs:
        kept_nodes(asked)  # whether or not a graph is walked
    if index.head.model.metric == "cosine":
        queries = normalized(queries)
    return [_search_one(index, query, asked, alive) for query in queries]


def _search_one(index: VectorIndex, query: AnyVectors, asked: Asked, alive: Moved) -> Neighbours:
    """Return the rows nearest to one vector [d]."""
    if not np.isfinite(query).all():
        return NOBODY
    model, lengths = index.head.model, index.auxiliary.partitions.lengths
    numbers, near = ranking(model, query)
    least, most = probes(near, asked, model.metric, int(lengths.sum()))
    found: list[Neighbours] = []
    rows = 0
    for place, number in enumerate(numbers[:most].tolist()):
        if place >= least and rows >= asked.wanted:
            break
        if lengths[number]:
            partition = index.partition(number)
            there = _nearest(partition, query, asked, alive)
            rows += len(there.ids)
            there = there.best(asked.k)
            once = asked.several and partition.graph is not None
            found.append(there.once() if once else there)
    return joined(found).best(asked.k)


def ranking(model: Model, query: AnyVectors) -> tuple[NDArray[np.int64], Floats]:
    """Return the partitions, the one with the nearest centroid first, and how far these are."""
    near = distances(query[None], model.centroids, model.of_vectors)[0]
    numbers = np.argsort(near, kind="stable")
    return numbers, near[numbers]


def _nearest(partition: Partition, query: AnyVectors, asked: Asked, alive: Moved) -> Neighbours:
    """Return the rows of a partition that may be nearest: all, or what a walk finds."""
    kept, keys = alive(partition.keys)
    if partition.graph is not None and worth_walking(kept):
        return walk(partition.graph, partition.stored.score(query, asked.mode), asked, kept, keys)
    if isinstance(partition.stored, Bounded) and asked.range == EVERYWHERE:
        rows, near = partition.stored.nearest(query, asked.mode, kept, asked.k)
        places = rows if len(keys) == len(kept) else np.cumsum(kept)[rows] - 1
        return Neighbours(keys[places], near).within(asked.range)
    near = partition.stored.score(query, asked.mode)(slice(None))
    if not kept.all():
        near = near[kept]
    return Neighbours(keys, near).within(asked.range)
