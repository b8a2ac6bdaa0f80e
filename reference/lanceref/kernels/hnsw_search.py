"""HNSW search: the nodes of a graph nearest to a query.

Malkov and Yashunin, arXiv 1603.09320, algorithm 5 (K-NN-SEARCH): from the entry point down to level
1, a search of one node goes from neighbour to nearer neighbour; on level 0, algorithm 2
(SEARCH-LAYER) keeps the `ef` nearest nodes it has met, W, and expands candidates, C, the nearest
first, until the nearest of C is farther than the furthest of W. Nodes that a filter does not admit
are expanded and not kept.

Clauses: L.index.vector.graph.ef
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import specified
from lanceref.kernels.hnsw_graph import Distances, Graph, Level, Nodes

DistanceOf: TypeAlias = Callable[[Nodes], Distances]
"""From nodes (k,) to their distances from the query."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What a walk may keep: nodes by a mask (n,), distances lower <= d < upper; None: all."""

    nodes: NDArray[np.bool_] | None = None
    lower: float | None = None
    upper: float | None = None

    def of(self, nodes: Nodes, distances: Distances) -> list[bool]:
        """Return which of some nodes are admitted. `nodes` and `distances` (n,)."""
        inside = np.ones(len(nodes), np.bool_) if self.nodes is None else self.nodes[nodes]
        if self.lower is not None:
            inside = inside & (distances >= self.lower)
        if self.upper is not None:
            inside = inside & (distances < self.upper)
        return inside.tolist()


ALL = Admitted()
"""No filter."""


def search(
    graph: Graph, distance_of: DistanceOf, ef: int, admitted: Admitted = ALL
) -> tuple[Nodes, Distances]:
    """Return the at most `ef` nearest admitted nodes the walk meets, nearest first, ties by number.

    Raises IndexError for edges that lead out of the graph: readers check them before. Both results
    are (found,).
    """
    if not graph.num_nodes:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    start = graph.entry_point
    best = distance_of(np.array([start]))[0]
    for level in graph.levels[:0:-1]:
        while len(neighbours := level.neighbours_of(start)):
            distances = distance_of(neighbours)
            nearest = int(distances.argmin())
            if not distances[nearest] < best:
                break
            start, best = int(neighbours[nearest]), distances[nearest]
    found = sorted(search_layer(graph.levels[0], distance_of, start, ef, admitted))
    nodes = np.array([node for _, node in found], np.int64)
    return nodes, np.array([distance for distance, _ in found], np.float32)


@specified
def search_layer(
    level: Level, distance_of: DistanceOf, start: int, ef: int, admitted: Admitted
) -> list[tuple[float, int]]:
    """Return distance and number of the at most `ef` nearest admitted nodes, in any order.

    Algorithm 2 with one entry point. Of nodes that are furthest alike the first by number leaves W.
    """
    candidates, found = list[tuple[float, int]](), list[tuple[float, int]]()  # C and W
    visited, new = {start}, [start]
    while True:
        nodes = np.array(new, np.int64)
        distances = distance_of(nodes) if new else np.empty(0, np.float32)
        inside = admitted.of(nodes, distances)
        for far, one, is_admitted in zip(distances.tolist(), new, inside, strict=True):
            if len(found) < ef or far <= max(found)[0]:
                candidates.append((far, one))
                if is_admitted and (len(found) < ef or far < max(found)[0]):
                    found.append((far, one))
            if len(found) > ef:
                found.remove(min(found, key=lambda pair: (-pair[0], pair[1])))
        if not candidates:
            return found
        nearest = min(candidates)
        candidates.remove(nearest)
        if len(found) >= ef and nearest[0] > max(found)[0]:
            return found
        new = [one for one in level.neighbours_of(nearest[1]).tolist() if one not in visited]
        visited.update(new)
