"""HNSW repair: every node of level 0 can be reached from the entry point.

Edges have a direction, and a node that chose others may be chosen by none. Whatever a walk along
all edges from the entry point does not meet gets one edge to it from a near node that the walk met,
one edge above the limit of a level for each of those.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.integers import unique
from lanceref.kernels.hnsw_graph import EMPTY, EdgeTable, Nodes
from lanceref.kernels.hnsw_space import Space

Mask = NDArray[np.bool_]


def reached(neighbours: Nodes, known: Mask, start: int) -> None:
    """Mark in `known` (n,) what edges (n, width) lead to from a row, rows known before aside."""
    known[start] = True
    border = np.array([start])
    while len(border):
        ahead = neighbours[border].ravel()
        ahead = ahead[ahead != EMPTY]
        border = unique(ahead[~known[ahead]])
        known[border] = True


def repaired(space: Space, table: EdgeTable) -> EdgeTable:
    """Return edges by which every row is reached from row 0: a column more where there is need."""
    known = np.zeros(len(table.neighbours), np.bool_)
    reached(table.neighbours, known, 0)
    if known.all():
        return table
    column = np.full((len(known), 1), EMPTY, np.int64)
    neighbours = np.concatenate((table.neighbours, column), axis=1)
    free = np.ones(len(known), np.bool_)
    for node in np.flatnonzero(~known).tolist():
        if known[node]:
            continue
        nearest = _nearest(space, node, table.neighbours[node], known & free)
        neighbours[nearest, -1] = node
        free[nearest] = False
        reached(neighbours, known, node)
    return EdgeTable(_closed_up(neighbours), np.full(neighbours.shape, np.inf, np.float32))


def _nearest(space: Space, node: int, around: Nodes, open_: Mask) -> int:
    """Return the nearest open row: of a node's own neighbours, or else of all."""
    rows = around[around != EMPTY]
    rows = rows[open_[rows]]
    if not len(rows):
        rows = np.flatnonzero(open_)
    return int(rows[space.pairs(np.full(len(rows), node), rows).argmin()])


def _closed_up(neighbours: Nodes) -> Nodes:
    """Move the edges of each row before its empty places."""
    order = np.argsort(neighbours == EMPTY, axis=1, kind="stable")
    return np.take_along_axis(neighbours, order, 1)
