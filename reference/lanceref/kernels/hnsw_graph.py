"""HNSW graphs: nodes on levels, each with edges to others of its level.

Nodes are numbered from 0 as the vectors they stand for. Level 0 holds all of them, each level above
some of the one below (Malkov and Yashunin, arXiv 1603.09320).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.hnsw_levels import Levels, entry_point

Nodes = NDArray[np.int64]
Distances = NDArray[np.float32]

EMPTY = -1
"""What stands for no edge in a table of edges."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level: `nodes` (k,) ascending, and the edges of the node at place i.

    They are `neighbours[offsets[i]:offsets[i + 1]]`, of `distances` as long; offsets (k + 1,) int64
    ascend from 0.
    """

    nodes: Nodes
    offsets: Nodes
    neighbours: Nodes
    distances: Distances

    def around(self, node: int) -> Nodes:
        """Return the neighbours of a node, none where it is not on the level."""
        place = int(np.searchsorted(self.nodes, node))
        if place == len(self.nodes) or self.nodes[place] != node:
            return self.neighbours[:0]
        return self.neighbours[self.offsets[place] : self.offsets[place + 1]]


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph: `levels` from 0 up, none of them empty, and the node where searches start."""

    entry_point: int
    levels: tuple[Level, ...]

    @property
    def num_nodes(self) -> int:
        """Nodes of level 0."""
        return len(self.levels[0].nodes) if self.levels else 0


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Edges of nodes in rows (k, width): neighbours int64, `EMPTY` behind the last, distances."""

    neighbours: Nodes
    distances: Distances

    def level(self, nodes: Nodes) -> Level:
        """Return a level whose `nodes` (k,) ascending have these edges."""
        filled = self.neighbours != EMPTY
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(filled.sum(1), out=offsets[1:])
        return Level(nodes, offsets, self.neighbours[filled], self.distances[filled])


def graph_of(levels: Levels, tables: Sequence[EdgeTable]) -> Graph:
    """Return a graph by the highest level of each node and the edges of each level's nodes."""
    parts = (table.level(np.flatnonzero(levels >= i)) for i, table in enumerate(tables))
    return Graph(entry_point(levels), tuple(parts))
