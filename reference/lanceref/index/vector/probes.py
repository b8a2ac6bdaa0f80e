"""Probes: how many partitions are searched first.

Those whose centroids are about as near as the nearest one are, within bounds that depend on the
metric and on how many rows are wanted. So many partitions at least are searched that there are
enough rows in them, if all have as many.

Clauses: L.index.vector.search.probes, L.index.vector.search.first
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lanceref.index.vector.search_parameters import Asked
from lanceref.kernels.distance import Floats, Metric


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
