"""Neighbours: rows that a search for vectors has found, and how far they are.

The nearest stand first, those as near by their row id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.index.row_set import Keys
from lanceref.index.vector.vectors import Vectors
from lanceref.kernels.distance import Floats, Metric, distances
from lanceref.kernels.top_k import smallest
from lanceref.query.vector_query import VectorQuery


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

    def best(self, k: int) -> Neighbours:
        """Return the k nearest."""
        places = np.arange(len(self.distances))
        if k < len(places):
            furthest = self.distances[smallest(self.distances, k)[-1]]
            places = np.flatnonzero(self.distances <= furthest)
        order = np.lexsort((self.ids[places], self.distances[places]))
        return self.chosen(places[order[:k]])


NOBODY = Neighbours(np.empty(0, np.uint64), np.empty(0, np.float32))
"""No rows."""


def joined(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows of all parts."""
    return Neighbours(
        np.concatenate([NOBODY.ids, *(one.ids for one in parts)]),
        np.concatenate([NOBODY.distances, *(one.distances for one in parts)]),
    )


def measured(query: VectorQuery, metric: Metric, vectors: Vectors, ids: Keys) -> list[Neighbours]:
    """Return the rows with vectors, by true distance, for each query of a batch.

    `ids` are those of all rows. Where a row has several vectors its distance is that of the nearest
    one, of several queries the sum.
    """
    near = distances(query.vectors, vectors.values, metric)
    first = np.flatnonzero(np.diff(vectors.rows, prepend=-1))
    if len(first) < len(vectors.rows):
        near = np.fmin.reduceat(near, first, axis=1)
    if not query.batch and len(near) > 1:
        near = near.sum(axis=0, keepdims=True, dtype=np.float32)
    rows = ids[vectors.rows[first]]
    return [Neighbours(rows, row) for row in near]
