"""HNSW build: the graph of vectors (Malkov and Yashunin, arXiv 1603.09320, algorithm 1).

Nodes are inserted one after another (INSERT): first the entry point, which is on every level, then
the others by number. Above its highest level a node walks to the nearest one; from there down,
SEARCH-LAYER finds `ef_construction` candidates on each level, SELECT-NEIGHBORS-HEURISTIC (algorithm
4, pruned connections kept) chooses m of them, and each of these gets an edge back. One with more
edges than its level allows, M_max (2 m on level 0, m above), chooses anew. The next level starts
from the nearest candidate.

Distances are squared l2 or `1 - x.y`; cosine vectors are brought to unit length, those of Hamming
distance spread into bits.

Repair: edges have a direction, and a node may be chosen by none. Each node of level 0 that cannot
be reached from the entry point gets an edge from a near node that can, one above the limit each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.core.integers import unique
from lanceref.kernels import hnsw_graph

EMPTY = -1
"""No edge: rows of edges (width,) have it after their last one."""

PAIRS_AT_ONCE = 1 << 14
"""Pairs whose differences are computed together."""


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors (n, d) float32, and whether distances are squared l2 (else 1 - x.y)."""

    vectors: NDArray[np.float32]
    is_l2: bool

    def pairs(self, left: hnsw_graph.Nodes, right: hnsw_graph.Nodes) -> hnsw_graph.Distances:
        """Return the distances (p,) of pairs of rows, to the last digits of 32-bit floats."""
        out = np.empty(len(left), np.float32)
        for start in range(0, len(left), PAIRS_AT_ONCE):
            run = slice(start, start + PAIRS_AT_ONCE)
            x, y = self.vectors[left[run]], self.vectors[right[run]]
            if self.is_l2:
                x -= y
                out[run] = np.einsum("ij,ij->i", x, x)
            else:
                out[run] = 1 - np.einsum("ij,ij->i", x, y)
        return out


def space_of(vectors: NDArray[np.generic], metric: str) -> Space:
    """Return the space of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    if metric == "hamming":
        floats = np.unpackbits(vectors.astype(np.uint8), axis=1).astype(np.float32)
    else:
        floats = np.ascontiguousarray(vectors, np.float32)
    if metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            floats = floats / np.sqrt(np.einsum("ij,ij->i", floats, floats))[:, None]
    return Space(floats, metric in ("l2", "hamming"))


class Edges(dict[int, list[int]]):
    """The neighbours of each node of an unfinished level."""

    def neighbours_of(self, node: int) -> hnsw_graph.Nodes:
        """Return the neighbours of a node of the level: (neighbours,)."""
        return np.array(self[node], np.int64)


@specified
def build(
    vectors: NDArray[np.generic], metric: str, parameters: hnsw_graph.GraphParameters
) -> hnsw_graph.Graph:
    """Return the graph of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    if not len(vectors):
        return hnsw_graph.Graph(0, ())
    space = space_of(vectors, metric)
    highest = hnsw_graph.node_levels(len(vectors), parameters.m, parameters.max_level)
    first = hnsw_graph.entry_point(highest)
    growing = [Edges({first: []}) for _ in range(int(highest[first]) + 1)]
    for node in range(len(vectors)):
        if node != first:
            _insert(space, growing, node, int(highest[node]), first, parameters)
    levels = []
    for number, edges in enumerate(growing):
        nodes, width = sorted(edges), max(map(len, edges.values()))
        rows = [edges[node] + [EMPTY] * (width - len(edges[node])) for node in nodes]
        table = np.array(rows, np.int64).reshape(len(nodes), width)
        table = table if number else repair(space, table, first)
        levels.append(level_of(space, np.array(nodes, np.int64), table))
    return hnsw_graph.Graph(first, tuple(levels))


def _insert(
    space: Space,
    levels: list[Edges],
    node: int,
    highest: int,
    start: int,
    parameters: hnsw_graph.GraphParameters,
) -> None:
    """Add a node to the levels from 0 to its highest: algorithm 1, from the entry point `start`."""

    def distance_of(others: hnsw_graph.Nodes) -> hnsw_graph.Distances:
        return space.pairs(np.full(len(others), node), others)

    for level in range(len(levels) - 1, -1, -1):
        edges = levels[level]
        ef = parameters.ef_construction if level <= highest else 1
        near = hnsw_graph.walk(edges.neighbours_of, distance_of, start, ef)
        start = near[0][1]
        if level > highest:
            continue
        edges[node] = select(space, near, parameters.m)
        limit = parameters.m if level else 2 * parameters.m  # M_max
        for other in edges[node]:
            edges[other].append(node)
            if len(edges[other]) > limit:
                own = edges.neighbours_of(other)
                distances = space.pairs(np.full(len(own), other), own)
                ranked = sorted(zip(distances.tolist(), own.tolist(), strict=True))
                edges[other] = select(space, ranked, limit)


def select(space: Space, near: list[tuple[float, int]], m: int) -> list[int]:
    """Return at most m of a node's candidates, given as distance and number, nearest first.

    Algorithm 4: one is kept when it is nearer to the node than to all kept before; the nearest of
    those pruned fill the places that are left.
    """
    kept, pruned = list[int](), list[int]()
    for distance, one in near:
        if len(kept) == m:
            break
        to_kept = space.pairs(np.full(len(kept), one), np.array(kept, np.int64))
        (kept if (distance < to_kept).all() else pruned).append(one)
    return (kept + pruned)[:m]


def level_of(space: Space, nodes: hnsw_graph.Nodes, table: hnsw_graph.Nodes) -> hnsw_graph.Level:
    """Return a level of `nodes` (k,), ascending, whose edges are rows of a table (k, width)."""
    filled = table != EMPTY
    degrees, ends = filled.sum(axis=1), table[filled]
    distances = space.pairs(np.repeat(nodes, degrees), ends)
    return hnsw_graph.Level(nodes, np.append(0, np.cumsum(degrees)), ends, distances)


def mark_reachable(neighbours: hnsw_graph.Nodes, known: NDArray[np.bool_], start: int) -> None:
    """Mark in `known` (n,) the rows that edges (n, width) lead to from one through unknown rows."""
    known[start] = True
    border = np.array([start])
    while len(border):
        ahead = neighbours[border].ravel()
        ahead = ahead[ahead != EMPTY]
        border = unique(ahead[~known[ahead]])
        known[border] = True


def repair(space: Space, table: hnsw_graph.Nodes, first: int) -> hnsw_graph.Nodes:
    """Return edges (n, width) that reach all rows from one, in one column more where needed.

    A row gets its edge from the nearest of its own neighbours that is reached, else of all rows.
    """
    known = np.zeros(len(table), np.bool_)
    mark_reachable(table, known, first)
    if known.all():
        return table
    neighbours = np.pad(table, ((0, 0), (0, 1)), constant_values=EMPTY)
    free = np.ones(len(known), np.bool_)
    for node in np.flatnonzero(~known).tolist():
        if known[node]:
            continue
        own = table[node]
        own = own[own != EMPTY]
        rows = own[(known & free)[own]]
        rows = rows if len(rows) else np.flatnonzero(known & free)
        nearest = int(rows[space.pairs(np.full(len(rows), node), rows).argmin()])
        neighbours[nearest, -1] = node
        free[nearest] = False
        mark_reachable(neighbours, known, node)
    order = np.argsort(neighbours == EMPTY, axis=1, kind="stable")  # edges before empty places
    return np.take_along_axis(neighbours, order, 1)
