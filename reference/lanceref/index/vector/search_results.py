"""Neighbours: rows that a search for vectors has found, and how far they are.

The nearest stand first, those as near by their row id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.integers import unique
from lanceref.index.row_set import Keys
from lanceref.kernels.distance import Floats
from lanceref.kernels.top_k import smallest


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
