"""Search in a vector index: partitions near the query, and the rows in them that are nearest.

Partitions are ranked by the distance of their centroids. As many are looked at as are asked for,
and more when they do not have enough rows.

Clauses: L.index.vector.search.ranking

Asked: what a search wants of an index of vectors.

Neighbours: rows that a search for vectors has found, and how far they are.

The nearest stand first, those as near by their row id.

Probes: how many partitions are searched first.

Those whose centroids are about as near as the nearest one are, within bounds that depend on the
metric and on how many rows are wanted. So many partitions at least are searched that there are
enough rows in them, if all have as many.

Clauses: L.index.vector.search.probes, L.index.vector.search.first

Graph search: the rows of a partition that a walk over its graph finds.

A walk keeps `ef` rows, of which the nearest are the answer. Rows that do not count are walked over;
where few count, these are looked at one by one.

Clauses: L.index.vector.graph.ef
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
from lanceref.index.vector.storage import Bounded, Mode, Model, Score
from lanceref.index.vector.vector_index import Partition, VectorIndex
from lanceref.kernels import hnsw_search
from lanceref.kernels.distance import AnyVectors, Floats, Metric, distances, normalized
from lanceref.kernels.hnsw_graph import Graph
from lanceref.kernels.hnsw_search import Admitted
from lanceref.kernels.top_k import smallest

Mask = NDArray[np.bool_]

FEW = 10
"""A walk is worth it where one row of so many counts."""

WHOLE_ROWS = 200
"""For each row that a walk keeps, rows of a partition up to which all distances are computed at
once: a walk asks for few, twice for each that it keeps, and asking takes as long as computing 100.
"""


def kept_nodes(asked: Asked) -> int:
    """Return how many nodes a walk keeps. Raises QueryRefused for fewer than are asked for."""
    ef = asked.k + asked.k // 2 if asked.ef is None else asked.ef
    if ef < asked.k:  # L.index.vector.graph.ef
        raise QueryRefused(f"ef must be greater than or equal to k, got {ef} and {asked.k}")
    return ef


def worth_walking(kept: Mask) -> bool:
    """Return whether enough rows count for a walk over the graph."""
    return int(kept.sum()) * FEW >= len(kept)


def walk(graph: Graph, score: Score, asked: Asked, kept: Mask, keys: Keys) -> Neighbours:
    """Return the rows nearest to a query that a walk finds.

    `kept` [n] says which rows count, `keys` have the ids of these. Raises QueryRefused.
    """
    ef = kept_nodes(asked)
    whole = len(kept) <= WHOLE_ROWS * ef
    admitted = Admitted(None if kept.all() else kept, *asked.range)
    distance_of = score(slice(None)).__getitem__ if whole else score
    rows, near = hnsw_search.search(graph, distance_of, ef, admitted)
    places = rows if admitted.nodes is None else np.cumsum(kept)[rows] - 1
    return Neighbours(keys[places], near).best(asked.k)


@dataclass(frozen=True, slots=True)
class Reach:
    """The least and the most partitions, and how much further than the nearest their centroids.

    `factor` is the greatest distance as a multiple of the nearest, for dot the greatest difference
    as a share of the nearest product.
    """

    least: int
    most: int
    factor: float


UP_TO = (1, 10)
"""Rows wanted, up to which the first and the second reach of a metric hold."""

EVERY = 1 << 32

REACHES: dict[Metric, tuple[Reach, Reach, Reach]] = {
    "l2": (Reach(5, 19, 1.2175), Reach(6, 24, 1.265), Reach(11, 38, 1.33)),
    "cosine": (Reach(3, 50, 1.235), Reach(8, 77, 1.2875), Reach(7, 106, 1.38)),
    "dot": (Reach(56, 112, 0.14), Reach(144, 432, 0.055), Reach(200, 768, 0.062)),
    "hamming": (Reach(1, EVERY, 0.6), Reach(1, EVERY, 7), Reach(1, EVERY, 81)),
}
"""Of each metric, for one row, for up to ten, and for more."""


def probes(near: Floats, asked: Asked, metric: Metric, rows: int) -> tuple[int, int]:
    """Return how many partitions are searched first, and how many at most.

    `near` are the distances of the centroids [partitions], ascending, `rows` all rows of the index.
    """
    most = len(near) if asked.most is None else min(asked.most, len(near))
    least = min(max(1, asked.least or 1), most)
    usual = _reached(near, asked.wanted, metric)
    usual = max(usual, math.ceil(asked.wanted * len(near) / max(rows, 1)), least)
    return _with_effort(asked.effort, least, min(usual, most), most), most


def _reached(near: Floats, wanted: int, metric: Metric) -> int:
    """Return how many centroids are about as near as the nearest one."""
    reach = REACHES[metric][int(np.searchsorted(UP_TO, wanted))]
    first = np.float64(near[0])
    furthest = first + reach.factor * abs(1 - first) if metric == "dot" else reach.factor * first
    count = int(np.count_nonzero(near <= furthest))
    return min(max(count, reach.least), reach.most)


def _with_effort(effort: float | None, least: int, usual: int, most: int) -> int:
    """Return a number of partitions between the least, the usual and the most, geometrically."""
    if effort is None:
        return usual
    low, high, share = least, usual, 2 * effort
    if effort > 0.5:
        low, high, share = usual, most, 2 * effort - 1
    return math.ceil(math.pow(low, 1 - share) * math.pow(high, share) - 1e-9)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Rows by id, and the distance of each."""

    ids: Keys
    distances: Floats

    def chosen(self, places: NDArray[np.generic]) -> Neighbours:
        """Return some of them, by their places or by a mask."""
        return Neighbours(self.ids[places], self.distances[places])

    def within(self, range_: tuple[float | None, float | None]) -> Neighbours:
        """Return those whose distance is a number, at least the first of two, below the second."""
        low, high = range_
        mask = ~np.isnan(self.distances)
        if low is not None:
            mask &= self.distances >= np.float32(low)
        if high is not None:
            mask &= self.distances < np.float32(high)
        return self if mask.all() else self.chosen(mask)

    def once(self) -> Neighbours:
        """Return every row once, with the least of its distances."""
        order = np.lexsort((self.distances, self.ids))
        ids = self.ids[order]
        return self.chosen(order[np.diff(ids, prepend=~ids[:1]) != 0])

    def best(self, k: int) -> Neighbours:
        """Return the k nearest."""
        if k < len(self.distances):
            furthest = self.distances[smallest(self.distances, k)[-1]]
            places = np.flatnonzero(self.distances <= furthest)
        else:
            places = np.arange(len(self.distances))
        order = np.lexsort((self.ids[places], self.distances[places]))
        return self.chosen(places[order[:k]])


NOBODY = Neighbours(np.empty(0, np.uint64), np.empty(0, np.float32))
"""No rows."""


def joined(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows of all parts."""
    if len(parts) == 1:
        return parts[0]
    return Neighbours(
        np.concatenate([NOBODY.ids, *(one.ids for one in parts)]),
        np.concatenate([NOBODY.distances, *(one.distances for one in parts)]),
    )


def summed(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows of any part once, with the sum of their least distances in all.

    Where a row is in no part, it is as far as the furthest of those that are there, from a vector
    that nothing is near as far as one at a right angle: 1.
    """
    ids = unique(np.concatenate([one.ids for one in parts]))
    total = np.zeros(len(ids), np.float32)
    for one in parts:
        own = np.full(len(ids), one.distances.max() if len(one.ids) else 1, np.float32)
        found = one.once()
        own[np.searchsorted(ids, found.ids)] = found.distances
        total += own
    return Neighbours(ids, total)


@dataclass(frozen=True, slots=True)
class Asked:
    """The `k` nearest rows; `least` and `most` partitions to be looked at, None: no limit.

    `effort` in 0..1 says how many partitions are looked at first, None: as always. `ef` says how
    many rows a walk over a graph keeps, None: half as many again as wanted. With `several` rows may
    have more than one vector.
    """

    k: int
    least: int | None = None
    most: int | None = None
    effort: float | None = None
    ef: int | None = None
    mode: Mode = "normal"
    range: tuple[float | None, float | None] = (None, None)
    in_the_end: int | None = None
    several: bool = False

    @property
    def wanted(self) -> int:
        """How many rows are returned in the end, of those that are looked at again."""
        return self.k if self.in_the_end is None else self.in_the_end


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
