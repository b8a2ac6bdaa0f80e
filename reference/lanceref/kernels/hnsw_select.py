"""HNSW neighbours: which of a node's candidates it keeps an edge to.

The heuristic of Malkov and Yashunin (arXiv 1603.09320, algorithm 4, pruned connections kept):
candidates are looked at from the nearest on, and one is accepted when it is nearer to the node than
to every one accepted before, so that edges point in different directions. Places that are left are
filled with the nearest of the others. No more candidates than places: all are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.hnsw_graph import EMPTY, Distances, EdgeTable, Nodes
from lanceref.kernels.hnsw_space import Space

Mask = NDArray[np.bool_]

NUMBERS_AT_ONCE = 1 << 18
"""Numbers of the candidates' vectors that are held together, so that they stay in the cache."""


def select(space: Space, candidates: Nodes, distances: Distances, m: int) -> EdgeTable:
    """Return at most m edges of each node.

    `candidates` (b, k) are rows of the space, nearest first, `EMPTY` behind the last of a node;
    `distances` (b, k) how far they are, inf behind the last.
    """
    num_nodes, width = candidates.shape
    if width <= m:
        return EdgeTable(candidates, distances)
    keep = np.empty((num_nodes, m), np.int64)
    step = max(NUMBERS_AT_ONCE // (width * space.vectors.shape[1]), 1)
    for start in range(0, num_nodes, step):
        run = slice(start, start + step)
        keep[run] = _chosen(space, candidates[run], distances[run], m)
    few = np.flatnonzero(candidates[:, m] == EMPTY)
    keep[few] = np.arange(m)
    return EdgeTable(
        np.take_along_axis(candidates, keep, 1), np.take_along_axis(distances, keep, 1)
    )


def _chosen(space: Space, candidates: Nodes, distances: Distances, m: int) -> Nodes:
    accepted = _accepted(space, candidates, distances, m)
    return np.argsort(~accepted, axis=1, kind="stable")[:, :m]


def _accepted(space: Space, candidates: Nodes, distances: Distances, m: int) -> Mask:
    """Return the candidates (b, k) that the heuristic accepts, m of a node at most.

    The first one left is accepted, and those behind it are left no more.
    """
    left = candidates != EMPTY
    accepted = np.zeros(candidates.shape, np.bool_)
    groups = space.take(np.maximum(candidates, 0).ravel())
    nodes = np.arange(len(candidates))
    for _ in range(m):
        first = left.argmax(axis=1)
        some = left[nodes, first]
        if not some.any():
            break
        accepted[nodes, first] |= some
        left &= groups.to_one(first) > distances
        left[nodes, first] = False
    return accepted
