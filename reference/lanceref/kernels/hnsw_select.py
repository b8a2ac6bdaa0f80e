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

PAIRS_AT_ONCE = 1 << 22
"""Distances between candidates that are held together."""


def select(space: Space, candidates: Nodes, distances: Distances, m: int) -> EdgeTable:
    """Return at most m edges of each node.

    `candidates` (b, k) are rows of the space, nearest first, `EMPTY` behind the last of a node;
    `distances` (b, k) how far they are, inf behind the last.
    """
    num_nodes, width = candidates.shape
    if width <= m:
        return EdgeTable(candidates, distances)
    keep = np.empty((num_nodes, m), np.int64)
    step = max(PAIRS_AT_ONCE // width**2, 1)
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
    """Return the candidates (b, k) that the heuristic accepts, m of a node at most."""
    between = space.among(np.maximum(candidates, 0))
    behind = between <= distances[:, None, :]
    passed = np.ones(candidates.shape, np.bool_)
    passed &= candidates != EMPTY
    count = np.zeros(len(candidates), np.int64)
    for place in range(candidates.shape[1]):
        here = passed[:, place]
        here &= count < m
        count += here
        passed[:, place + 1 :] &= ~(behind[:, place, place + 1 :] & here[:, None])
    return passed
