"""Fast form of building HNSW graphs: whole blocks of nodes are inserted by one matrix product.

Two things differ from algorithm 1 (`kernels.hnsw_build`), and no reader can tell: candidates are
found by comparing vectors, not by walking the unfinished graph; and a node that has more edges than
its level allows chooses anew once, when all edges to it exist. The graph is another one of the same
nodes, levels and bounds.

Candidates: up to `NEAR_ALL` nodes, a block of new ones is compared with all before it. The other
nodes are compared with those before them in the same region of space: nodes belong to the nearest
of some drawn centres, and a region is the nodes of the centres nearest to one, at least
`REGION_ROWS`. By dot product, the nearest centre is a matter of direction, and the longest vectors
belong to every region.

Distances of many pairs come from a matrix product: `|x - y|^2 = |x|^2 + |y|^2 - 2 x.y` or
`1 - x.y`. The products lose digits of small distances; those stored in a graph are sums over
differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.integers import union, unique
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_build import EMPTY, Space, level_of, repair, space_of
from lanceref.kernels.hnsw_graph import (
    Distances,
    Graph,
    GraphParameters,
    Level,
    Nodes,
    entry_point,
    node_levels,
)

BLOCK_BYTES, BLOCK_ROWS = 1 << 25, 1024
"""Bytes of the distances of a block of new nodes to all before them; nodes of a block, at most."""

NEAR_ALL = 1 << 15
"""Nodes that are compared with all before them."""

REGION_ROWS, MOST_ROWS = 1 << 15, 1 << 16
"""Nodes of a region at least; nodes of it that new ones are compared with, at most."""

CELL_ROWS, LONGEST_ROWS = 1 << 10, 1 << 10
"""Nodes of a centre, on average; by dot product, longest vectors that belong to every region."""

NUMBERS_AT_ONCE = 1 << 18
"""Numbers of the candidates' vectors that are held together, so that they stay in the cache."""

SMALLEST = np.float32(2**-126)
"""Least squared length that is divided by."""


@dataclass(frozen=True, slots=True)
class Blocks(Space):
    """A space whose distances come from matrix products, with the squared norms (n,)."""

    norms: Distances

    def take(self, rows: Nodes | slice) -> Blocks:
        """Return the space of some of the vectors. `rows` (n,)."""
        return Blocks(self.vectors[rows], self.is_l2, self.norms[rows])

    @property
    def directions(self) -> Blocks:
        """The space by whose l2 near vectors lie together: for dot, that of unit vectors."""
        if self.is_l2:
            return self
        lengths = np.sqrt(np.maximum(self.norms, SMALLEST))[:, None]
        return Blocks((self.vectors / lengths).astype(np.float32), True, np.ones_like(self.norms))

    def to(self, other: Blocks) -> Distances:
        """Return the distances (n, m) of all vectors to all m of another space."""
        products = self.vectors @ other.vectors.T
        return self._distances(products, self.norms[:, None], other.norms[None])

    def to_one(self, places: Nodes) -> Distances:
        """Return the distances (b, k) of b groups of k to one member of each, by its place.

        The vectors are those of the groups, one group after the other.
        """
        count = len(places)
        groups = self.vectors.reshape(count, -1, self.vectors.shape[1])
        products = (groups @ groups[np.arange(count), places, :, None])[:, :, 0]
        norms = self.norms.reshape(count, -1)
        return self._distances(products, np.take_along_axis(norms, places[:, None], 1), norms)

    def _distances(self, products: Distances, first: Distances, second: Distances) -> Distances:
        """Turn products into distances in place, by the squared norms of both factors."""
        if not self.is_l2:
            return np.subtract(1, products, out=products)
        products *= -2
        products += second
        products += first
        return np.maximum(products, 0, out=products)


def space_of_blocks(vectors: NDArray[np.generic], metric: str) -> Blocks:
    """Return the space of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    plain = space_of(vectors, metric)
    norms = np.einsum("ij,ij->i", plain.vectors, plain.vectors)
    return Blocks(plain.vectors, plain.is_l2, norms)


@hnsw_build.build.replaced_by
def build(vectors: NDArray[np.generic], metric: str, parameters: GraphParameters) -> Graph:
    """Return a graph of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    if not len(vectors):
        return Graph(0, ())
    space = space_of_blocks(vectors, metric)
    levels = node_levels(len(vectors), parameters.m, parameters.max_level)
    first = entry_point(levels)
    nodes = [np.flatnonzero(levels >= level) for level in range(int(levels[first]) + 1)]
    parts = [_connect(space, own, first, level, parameters) for level, own in enumerate(nodes)]
    return Graph(first, tuple(parts))


def _connect(
    space: Blocks, nodes: Nodes, first: int, level: int, parameters: GraphParameters
) -> Level:
    """Return a level with its `nodes` (k,), ascending; `first` is the entry point."""
    order = np.concatenate(([first], nodes[nodes != first]))
    ranked = space.take(order)
    m = min(parameters.m, len(nodes))
    limit = m if level else 2 * m
    out, lengths = _own_edges(ranked, m, parameters.ef_construction)
    table = _with_edges_back(ranked, out, lengths, limit, max(parameters.ef_construction, limit))
    if not level:
        table = repair(ranked, table, 0)
    table = table[np.argsort(order)]
    return level_of(space, nodes, np.where(table == EMPTY, EMPTY, order[table]))


def _own_edges(space: Blocks, m: int, most: int) -> tuple[Nodes, Distances]:
    """Return the edges (n, m) that each node chooses among the `most` nearest before it."""
    neighbours = np.full((len(space.vectors), m), EMPTY, np.int64)
    distances = np.full(neighbours.shape, np.inf, np.float32)
    for rows, near, far in candidates(space, most):
        chosen, lengths = select(space, near, far, m)
        width = chosen.shape[1]
        neighbours[rows, :width], distances[rows, :width] = chosen, lengths
    return neighbours, distances


def candidates(space: Blocks, most: int) -> Iterator[tuple[Nodes, Nodes, Distances]]:
    """Yield rows (b,), and up to `most` rows before each that are near it, nearest first.

    They are (b, k) rows, `EMPTY` after the last of one, and distances, inf there.
    """
    num_nodes = len(space.vectors)
    first = min(num_nodes, NEAR_ALL)
    start = 0
    while start < first:
        count = max(min(BLOCK_BYTES // (4 * start + 4), BLOCK_ROWS), 64)
        rows = np.arange(start, min(start + count, first))
        start += len(rows)
        block = space.take(rows).to(space.take(slice(0, start)))
        yield rows, *_nearest(block, rows, np.arange(start), most)
    if first < num_nodes:
        for rows, region in _regions(space, first):
            before = region[region < rows[-1]]
            block = space.take(rows).to(space.take(before))
            yield rows, *_nearest(block, rows, before, most)


def _nearest(block: Distances, rows: Nodes, among: Nodes, most: int) -> tuple[Nodes, Distances]:
    """Return the nearest of `among` (n,), ascending, that come before each of `rows` (b,).

    `block` (b, n) are their distances.
    """
    block[among >= rows[:, None]] = np.inf
    if most < len(among):
        near = np.argpartition(block, most - 1, axis=1)[:, :most]
        near.sort(axis=1)
    else:
        near = np.broadcast_to(np.arange(len(among)), block.shape)
    far = np.take_along_axis(block, near, 1)
    order = np.argsort(far, axis=1, kind="stable")
    far = np.take_along_axis(far, order, 1)
    near = among[np.take_along_axis(near, order, 1)]
    near[far == np.inf] = EMPTY
    return near, far


def _regions(space: Blocks, first: int) -> Iterator[tuple[Nodes, Nodes]]:
    """Yield rows from `first` on, ascending, and the rows of their region, or a sample of them."""
    num_nodes = len(space.vectors)
    random = np.random.default_rng(num_nodes)
    drawn = random.choice(num_nodes, num_nodes // CELL_ROWS, replace=False)
    directions = space.directions
    centres = directions.take(np.sort(drawn))
    cells = np.empty(num_nodes, np.int64)
    for start in range(0, num_nodes, BLOCK_ROWS):
        run = slice(start, start + BLOCK_ROWS)
        cells[run] = directions.take(run).to(centres).argmin(axis=1)
    counts = np.bincount(cells, minlength=len(drawn))
    members = np.split(np.argsort(cells, kind="stable"), np.cumsum(counts)[:-1])
    always = np.empty(0, np.int64)
    if not space.is_l2:
        always = np.argpartition(-space.norms, LONGEST_ROWS)[:LONGEST_ROWS]
    nearest = centres.to(centres).argsort(axis=1, kind="stable")
    for cell in np.flatnonzero(counts).tolist():
        needed = 1 + int(np.searchsorted(np.cumsum(counts[nearest[cell]]), REGION_ROWS))
        parts = [members[one] for one in nearest[cell, :needed].tolist()]
        region = unique(np.concatenate([always, *parts]))
        own = members[cell][members[cell] >= first]
        step = max(BLOCK_BYTES // (4 * min(len(region), MOST_ROWS)), 64)
        for start in range(0, len(own), step):
            rows = own[start : start + step]
            if len(region) <= MOST_ROWS:
                yield rows, region
            else:
                yield rows, union(random.choice(region, MOST_ROWS, replace=False), rows)


def select(
    space: Blocks, candidates: Nodes, distances: Distances, m: int
) -> tuple[Nodes, Distances]:
    """Return at most m edges of each node; no more candidates than m are all kept.

    `candidates` (b, k) are rows of the space, nearest first, `EMPTY` after the last of a node;
    `distances` (b, k) how far they are, inf after the last.
    """
    num_nodes, width = candidates.shape
    if width <= m:
        return candidates, distances
    keep = np.empty((num_nodes, m), np.int64)
    step = max(NUMBERS_AT_ONCE // (width * space.vectors.shape[1]), 1)
    for start in range(0, num_nodes, step):
        run = slice(start, start + step)
        accepted = _accepted(space, candidates[run], distances[run], m)
        keep[run] = np.argsort(~accepted, axis=1, kind="stable")[:, :m]
    keep[candidates[:, m] == EMPTY] = np.arange(m)
    return np.take_along_axis(candidates, keep, 1), np.take_along_axis(distances, keep, 1)


def _accepted(space: Blocks, candidates: Nodes, distances: Distances, m: int) -> NDArray[np.bool_]:
    """Return the candidates (b, k) that the heuristic accepts, m of a node at most.

    The first one left is accepted; those nearer to it than to the node are left no more.
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


def _with_edges_back(
    space: Blocks, own: Nodes, distances: Distances, limit: int, most: int
) -> Nodes:
    """Return the edges (n, limit) of all nodes with those from the other ends.

    Nodes with more than `limit` choose among the `most` nearest of them, ties by number.
    """
    heads, places = np.nonzero(own != EMPTY)
    tails, lengths = own[heads, places], distances[heads, places]
    sources, targets = np.concatenate((heads, tails)), np.concatenate((tails, heads))
    order = np.argsort(sources, kind="stable")  # a node's own edges come first
    sources, targets = sources[order], targets[order]
    lengths = np.concatenate((lengths, lengths))[order]
    counts = np.bincount(sources, minlength=len(own))
    starts = np.cumsum(counts) - counts
    neighbours = np.full((len(counts), limit), EMPTY, np.int64)
    kept = counts[sources] <= limit
    neighbours[sources[kept], (np.arange(len(sources)) - starts[sources])[kept]] = targets[kept]
    for nodes in _of_like_size(np.flatnonzero(counts > limit), counts):
        columns = np.arange(counts[nodes].max())
        inside = columns < counts[nodes, None]
        edges = np.where(inside, starts[nodes, None] + columns, 0)
        far = np.where(inside, lengths[edges], np.float32(np.inf))
        near = np.where(inside, targets[edges], EMPTY)
        nearest = np.lexsort((near, far), axis=1)[:, :most]
        near, far = (np.take_along_axis(one, nearest, 1) for one in (near, far))
        neighbours[nodes], _ = select(space, near, far, limit)
    return neighbours


def _of_like_size(nodes: Nodes, counts: Nodes) -> Iterator[Nodes]:
    """Cut nodes into groups, the largest count of each below twice its smallest."""
    ordered = nodes[np.argsort(counts[nodes], kind="stable")]
    start = 0
    while start < len(ordered):
        limit = 2 * counts[ordered[start]]
        end = start + max(int(np.searchsorted(counts[ordered[start:]], limit)), 1)
        yield ordered[start : min(end, start + 1024)]
        start = min(end, start + 1024)
