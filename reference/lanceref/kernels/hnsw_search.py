"""HNSW search: the nodes of a graph nearest to a query.

A walk goes down the levels by single steps to the nearest neighbour, then keeps on level 0 the `ef`
nearest nodes it has met and expands each of them (Malkov and Yashunin, arXiv 1603.09320, algorithms
2 and 5). It ends when the nearest unexpanded node is farther than all it keeps. Nodes that a filter
does not admit are expanded and not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.hnsw_graph import Distances, Graph, Nodes

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

    Raises IndexError for edges that lead out of the graph: readers check them before. Both are
    The result is (found,).
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
    kept = _walk(graph, distance_of, start, ef, admitted)
    kept.sort(key=lambda pair: (-pair[0], pair[1]))
    nodes = np.array([node for _, node in kept], np.int64)
    return nodes, np.array([-distance for distance, _ in kept], np.float32)


def _walk(
    graph: Graph, distance_of: DistanceOf, start: int, ef: int, admitted: Admitted
) -> list[tuple[float, int]]:
    """Return a heap of the kept nodes on level 0, as (-distance, node)."""
    offsets, neighbours = graph.levels[0].offsets, graph.levels[0].neighbours
    seen = np.zeros(graph.num_nodes, np.bool_)
    seen[start] = True
    first = np.array([start])
    distances = distance_of(first)
    ahead = [(float(distances[0]), start)]
    kept = [(-ahead[0][0], start)] if admitted.of(first, distances)[0] else []
    while ahead:
        distance, node = heappop(ahead)
        full = len(kept) >= ef
        if full and distance > -kept[0][0]:
            break
        new = neighbours[offsets[node] : offsets[node + 1]]
        new = new[~seen[new]]
        if not len(new):
            continue
        seen[new] = True
        distances = distance_of(new)
        if full:
            near = distances <= -kept[0][0]
            new, distances = new[near], distances[near]
        rows = zip(distances.tolist(), new.tolist(), admitted.of(new, distances), strict=True)
        for far, neighbour, is_admitted in rows:
            if len(kept) >= ef and far > -kept[0][0]:
                continue
            heappush(ahead, (far, neighbour))
            if is_admitted and len(kept) < ef:
                heappush(kept, (-far, neighbour))
            elif is_admitted and far < -kept[0][0]:
                heapreplace(kept, (-far, neighbour))
    return kept
