"""Search in a vector index: partitions near the query, and the rows in them that are nearest.

Partitions are ranked by the distance of their centroids; the first are searched, and more follow
while there are not enough rows. A walk over the graph of a partition keeps `ef` rows; rows that do
not count are walked over, and where few count, these are compared one by one.

Clauses: L.index.vector.search.ranking, L.index.vector.search.probes, L.index.vector.search.first,
L.index.vector.graph.ef
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import QueryRefused
from lanceref.core.integers import unique
from lanceref.index.row_set import Keys
from lanceref.index.segment import Moved
from lanceref.index.vector.storage import Mask, Mode, Model, Score, nearest_rows
from lanceref.index.vector.vector_index import Partition, VectorIndex
from lanceref.kernels import hnsw_graph
from lanceref.kernels.distance import AnyVectors, Floats, Metric, distances, normalized
from lanceref.kernels.hnsw_graph import Admitted, Graph

EVERYWHERE = (None, None)
"""The range in which all distances are."""

FEW = 10
"""A walk is worth it where one row of so many counts."""

WHOLE_ROWS = 200
"""For each row that a walk keeps, rows of a partition up to which all distances are computed at
once: a walk asks for few, twice for each that it keeps, and asking takes as long as computing 100.
"""


USUAL_EFFORT = 0.5
"""Effort by which the usual number of partitions is searched first."""


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """A search for the `k` nearest rows in `min_probes` to `max_probes` partitions; None: no limit.

    `ef` is how many rows a walk over a graph keeps, None: half as many again as wanted. Of the rows
    found `final_k` are returned in the end, None: all. In a `multivector` column rows may have
    several vectors. An `effort`, from 0 to 1, is of how many partitions are searched first: the
    fewest, with 0.5 the usual number, with 1 the most.
    """

    k: int
    min_probes: int | None = None
    max_probes: int | None = None
    ef: int | None = None
    mode: Mode = "normal"
    range: tuple[float | None, float | None] = EVERYWHERE
    final_k: int | None = None
    multivector: bool = False
    effort: float = USUAL_EFFORT

    @property
    def wanted(self) -> int:
        """How many rows are returned in the end, of those that are compared again."""
        return self.k if self.final_k is None else self.final_k

    @property
    def walk_size(self) -> int:
        """How many nodes a walk keeps. Raises QueryRefused for fewer than are asked for."""
        ef = self.k + self.k // 2 if self.ef is None else self.ef
        if ef < self.k:  # L.index.vector.graph.ef
            raise QueryRefused(f"ef must be greater than or equal to k, got {ef} and {self.k}")
        return ef


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Row ids [n] found by a search, and the distance [n] of each."""

    ids: Keys
    distances: Floats

    def take(self, places: NDArray[np.generic]) -> Neighbours:
        """Return some of them, by their places or by a mask. Places or a mask: (n,)."""
        return Neighbours(self.ids[places], self.distances[places])

    def within(self, range_: tuple[float | None, float | None]) -> Neighbours:
        """Return those whose distance is a number, at least the first of two, below the second."""
        # L.index.vector.search.range
        low, high = range_
        mask = ~np.isnan(self.distances)
        if low is not None:
            mask &= self.distances >= np.float32(low)
        if high is not None:
            mask &= self.distances < np.float32(high)
        return self if mask.all() else self.take(mask)

    def distinct(self) -> Neighbours:
        """Return every row once, with the least of its distances."""
        order = np.lexsort((self.distances, self.ids))
        ids = self.ids[order]
        return self.take(order[np.diff(ids, prepend=~ids[:1]) != 0])

    def best(self, k: int) -> Neighbours:
        """Return the k nearest, ascending; those as near by their row id."""
        if k < len(self.distances):
            furthest = np.partition(self.distances, k - 1)[k - 1]
            places = np.flatnonzero(self.distances <= furthest)
        else:
            places = np.arange(len(self.distances))
        order = np.lexsort((self.ids[places], self.distances[places]))
        return self.take(places[order[:k]])


NO_NEIGHBOURS = Neighbours(np.empty(0, np.uint64), np.empty(0, np.float32))


def concat(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows that several parts found as one."""
    parts = [NO_NEIGHBOURS, *parts]
    ids, near = [one.ids for one in parts], [one.distances for one in parts]
    return Neighbours(np.concatenate(ids), np.concatenate(near))


def sum_distances(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows of any part once, with the sum of their least distances in all.

    A row that is not in a part is as far as the furthest row of it; in a part without rows as far
    as at a right angle: 1.
    """
    ids = unique(np.concatenate([one.ids for one in parts]))
    total = np.zeros(len(ids), np.float32)
    for one in parts:
        own = np.full(len(ids), one.distances.max() if len(one.ids) else 1, np.float32)
        part = one.distinct()
        own[np.searchsorted(ids, part.ids)] = part.distances
        total += own
    return Neighbours(ids, total)


EVERY = 1 << 32
UP_TO = (1, 10)
"""Rows wanted, up to which the first and the second reach of a metric hold."""

REACHES: dict[Metric, tuple[tuple[int, int, float], ...]] = {
    "l2": ((5, 19, 1.2175), (6, 24, 1.265), (11, 38, 1.33)),
    "cosine": ((3, 50, 1.235), (8, 77, 1.2875), (7, 106, 1.38)),
    "dot": ((56, 112, 0.14), (144, 432, 0.055), (200, 768, 0.062)),
    "hamming": ((1, EVERY, 0.6), (1, EVERY, 7), (1, EVERY, 81)),
}
"""Of each metric, for one row, for up to ten, and for more: the least and the most partitions, and
the greatest distance of a centroid as a multiple of the nearest one's; for dot the greatest
difference as a share of the nearest product."""


def probes(
    near: Floats, parameters: SearchParameters, metric: Metric, rows: int
) -> tuple[int, int]:
    """Return how many partitions are searched first, and how many at most.

    `near` are the distances of the centroids [partitions], ascending, `rows` all rows of the index.
    """
    # L.index.vector.search.probes
    count, wanted = len(near), parameters.wanted
    most = count if parameters.max_probes is None else min(parameters.max_probes, count)
    least = min(max(1, parameters.min_probes or 1), most)
    fewest, greatest, factor = REACHES[metric][int(np.searchsorted(UP_TO, wanted))]
    first = np.float64(near[0])
    furthest = first + factor * abs(1 - first) if metric == "dot" else factor * first
    reached = min(max(int(np.count_nonzero(near <= furthest)), fewest), greatest)
    usual = min(max(reached, math.ceil(wanted * count / max(rows, 1)), least), most)
    share, start, end = 2 * parameters.effort, least, usual
    if share > 1:
        share, start, end = share - 1, usual, most
    return min(math.ceil(start * (end / start) ** share), end), most  # floats round up past it


def ranking(model: Model, query: AnyVectors) -> tuple[NDArray[np.int64], Floats]:
    """Return the partitions, the one with the nearest centroid first, and how far these are.

    `query` (dimension,), both results (partitions,).
    """
    # L.index.vector.search.ranking
    near = distances(query[None], model.centroids, model.of_vectors)[0]
    numbers = np.argsort(near, kind="stable")
    return numbers, near[numbers]


def search(
    index: VectorIndex, queries: AnyVectors, parameters: SearchParameters, alive: Moved
) -> list[Neighbours]:
    """Return the nearest rows to each of some vectors [q, d] of the column's type.

    A row that has several vectors may be found more than once. `alive` decides which keys count,
    and where these rows are now. Raises FormatError, QueryRefused.
    """
    if index.head.type.graphs:
        _ = parameters.walk_size  # is checked whether or not a graph is walked
    if index.head.model.metric == "cosine":
        queries = normalized(queries)
    return [_search_one(index, query, parameters, alive) for query in queries]


def _search_one(
    index: VectorIndex, query: AnyVectors, parameters: SearchParameters, alive: Moved
) -> Neighbours:
    """Return the rows nearest to one vector [d]."""
    if not np.isfinite(query).all():
        return NO_NEIGHBOURS
    model, lengths = index.head.model, index.auxiliary.partitions.lengths
    numbers, near = ranking(model, query)
    least, most = probes(near, parameters, model.metric, int(lengths.sum()))
    parts: list[Neighbours] = []
    rows = 0
    for place, number in enumerate(numbers[:most].tolist()):
        if place >= least and rows >= parameters.wanted:
            break
        if lengths[number]:
            partition = index.partition(number)
            part = _nearest(partition, query, parameters, alive)
            rows += len(part.ids)
            part = part.best(parameters.k)
            walked = parameters.multivector and partition.graph is not None
            parts.append(part.distinct() if walked else part)
    return concat(parts).best(parameters.k)


def _nearest(
    partition: Partition, query: AnyVectors, parameters: SearchParameters, alive: Moved
) -> Neighbours:
    """Return the rows of a partition that may be nearest: all, or those that a walk finds."""
    mask, keys = alive(partition.keys)
    mode, rows = parameters.mode, partition.rows
    if partition.graph is not None and int(mask.sum()) * FEW >= len(mask):
        return walk(partition.graph, rows.score(query, mode), parameters, mask, keys)
    if parameters.range == EVERYWHERE:
        found, near = nearest_rows(rows, query, mode, mask, parameters.k)
        places = found if len(keys) == len(mask) else np.cumsum(mask)[found] - 1
        return Neighbours(keys[places], near).within(EVERYWHERE)
    near = rows.score(query, mode)(slice(None))
    return Neighbours(keys, near if mask.all() else near[mask]).within(parameters.range)


def walk(
    graph: Graph, score: Score, parameters: SearchParameters, kept: Mask, keys: Keys
) -> Neighbours:
    """Return the rows nearest to a query that a walk finds.

    `kept` [n] are the rows that count, `keys` the ids of these. Raises QueryRefused.
    """
    ef = parameters.walk_size
    admitted = Admitted(None if kept.all() else kept, *parameters.range)
    whole = len(kept) <= WHOLE_ROWS * ef
    distance_of = score(slice(None)).__getitem__ if whole else score
    rows, near = hnsw_graph.search(graph, distance_of, ef, admitted)
    places = rows if admitted.nodes is None else np.cumsum(kept)[rows] - 1
    return Neighbours(keys[places], near).best(parameters.k)
