"""HNSW build: the graph of vectors.

Nodes are inserted one after another, on each level from their highest down (Malkov and Yashunin,
arXiv 1603.09320, algorithm 1): the candidates of a new node are the nearest of those inserted
before it, the heuristic of `hnsw_select` chooses m of them, and each of these gets an edge back;
those with more edges than a level allows (2 m on level 0, m above) choose anew. The entry point is
the first node of every level, the others follow by number.

Two things differ from the paper, and no reader can tell: the candidates are found by comparing with
earlier nodes (`hnsw_candidates`), not by walking the unfinished graph, so that they depend on
nothing but the vectors, and whole blocks of nodes are inserted by one matrix product; and a node
chooses anew once, when all edges to it are there. At the end every node of level 0 that cannot be
reached gets one more edge to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.hnsw_candidates import candidates
from lanceref.kernels.hnsw_graph import EMPTY, Distances, EdgeTable, Graph, Nodes, graph_of
from lanceref.kernels.hnsw_levels import entry_point, node_levels
from lanceref.kernels.hnsw_parameters import GraphParameters
from lanceref.kernels.hnsw_repair import repaired
from lanceref.kernels.hnsw_select import select
from lanceref.kernels.hnsw_space import Space, space_of


def build(vectors: NDArray[np.generic], metric: str, parameters: GraphParameters) -> Graph:
    """Return the graph of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    if not len(vectors):
        return Graph(0, ())
    space = space_of(vectors, metric)
    levels = node_levels(len(vectors), parameters.m, parameters.max_level)
    first = entry_point(levels)
    tables = []
    for level in range(int(levels[first]) + 1):
        nodes = np.flatnonzero(levels >= level)
        table = _connected(space.take(nodes), int(np.searchsorted(nodes, first)), level, parameters)
        neighbours = np.where(table.neighbours == EMPTY, EMPTY, nodes[table.neighbours])
        tables.append(EdgeTable(neighbours, table.distances))
    return graph_of(levels, tables)


def _connected(space: Space, first: int, level: int, parameters: GraphParameters) -> EdgeTable:
    """Return the edges of a level's nodes; `first` is the row of the entry point."""
    num_nodes = len(space.vectors)
    order = np.concatenate(([first], np.arange(first), np.arange(first + 1, num_nodes)))
    ranked = space.take(order)
    m = min(parameters.m, num_nodes)
    limit = m if level else 2 * m
    out = _own_edges(ranked, m, parameters.ef_construction)
    both = _with_edges_back(ranked, out, limit, max(parameters.ef_construction, limit))
    table = both if level else repaired(ranked, both)
    rank = np.empty(num_nodes, np.int64)
    rank[order] = np.arange(num_nodes)
    neighbours = np.where(table.neighbours == EMPTY, EMPTY, order[table.neighbours])[rank]
    exact = np.full(neighbours.shape, np.inf, np.float32)
    filled = neighbours != EMPTY
    exact[filled] = space.pairs(np.nonzero(filled)[0], neighbours[filled])
    return EdgeTable(neighbours, exact)


def _own_edges(space: Space, m: int, most: int) -> EdgeTable:
    """Return the edges (n, m) that each node chooses among the `most` nearest before it."""
    neighbours = np.full((len(space.vectors), m), EMPTY, np.int64)
    distances = np.full(neighbours.shape, np.inf, np.float32)
    for rows, near, far in candidates(space, most):
        table = select(space, near, far, m)
        width = table.neighbours.shape[1]
        neighbours[rows, :width] = table.neighbours
        distances[rows, :width] = table.distances
    return EdgeTable(neighbours, distances)


def _with_edges_back(space: Space, own: EdgeTable, limit: int, most: int) -> EdgeTable:
    """Return the edges (n, limit) of all nodes with those from the other ends.

    Nodes with more than `limit` choose among the `most` nearest of them.
    """
    edges = _both_ways(own)
    neighbours = np.full((len(own.neighbours), limit), EMPTY, np.int64)
    distances = np.full(neighbours.shape, np.inf, np.float32)
    kept = edges.counts[edges.sources] <= limit
    sources, columns = edges.sources[kept], edges.columns[kept]
    neighbours[sources, columns] = edges.targets[kept]
    distances[sources, columns] = edges.lengths[kept]
    for nodes in _of_like_size(np.flatnonzero(edges.counts > limit), edges.counts):
        near, far = edges.nearest(nodes, most)
        table = select(space, near, far, limit)
        neighbours[nodes], distances[nodes] = table.neighbours, table.distances
    return EdgeTable(neighbours, distances)


@dataclass(frozen=True, slots=True)
class _Edges:
    """Edges (e,), those of a source together, in places `columns` from 0; `counts` (n,) of each."""

    sources: Nodes
    targets: Nodes
    lengths: Distances
    columns: Nodes
    counts: Nodes

    def nearest(self, nodes: Nodes, most: int) -> tuple[Nodes, Distances]:
        """Return the nearest targets of nodes, ties by number, and their distances."""
        width = int(self.counts[nodes].max())
        starts = (np.cumsum(self.counts) - self.counts)[nodes]
        inside = np.arange(width) < self.counts[nodes][:, None]
        cells = np.where(inside, starts[:, None] + np.arange(width), 0)
        far = np.where(inside, self.lengths[cells], np.float32(np.inf))
        near = np.where(inside, self.targets[cells], EMPTY)
        order = np.lexsort((near, far), axis=1)[:, :most]
        return np.take_along_axis(near, order, 1), np.take_along_axis(far, order, 1)


def _both_ways(own: EdgeTable) -> _Edges:
    """Return all edges with one back for each; a node's own come first."""
    heads, places = np.nonzero(own.neighbours != EMPTY)
    tails, lengths = own.neighbours[heads, places], own.distances[heads, places]
    sources = np.concatenate((heads, tails))
    order = np.argsort(sources, kind="stable")
    sources = sources[order]
    counts = np.bincount(sources, minlength=len(own.neighbours))
    columns = np.arange(len(sources)) - (np.cumsum(counts) - counts)[sources]
    targets, both = np.concatenate((tails, heads)), np.concatenate((lengths, lengths))
    return _Edges(sources, targets[order], both[order], columns, counts)


def _of_like_size(nodes: Nodes, counts: Nodes) -> Iterator[Nodes]:
    """Cut nodes into groups, the largest count of each below twice its smallest."""
    ordered = nodes[np.argsort(counts[nodes], kind="stable")]
    start = 0
    while start < len(ordered):
        limit = 2 * counts[ordered[start]]
        end = start + max(int(np.searchsorted(counts[ordered[start:]], limit)), 1)
        yield ordered[start : min(end, start + 1024)]
        start = min(end, start + 1024)
