"""HNSW candidates: the nearest nodes of each new one among those inserted before it.

Up to `NEAR_ALL` nodes, a block of new ones is compared with all before it. Of more nodes, the
others are compared with those before them that lie in the same region of space: nodes belong to the
nearest of some that are drawn as centres, and the region of a centre are the nodes of the centres
nearest to it, enough for `REGION_ROWS`. By dot product, which centre is nearest is a matter of
direction, and the longest vectors belong to every region.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lanceref.core.integers import union, unique
from lanceref.kernels.hnsw_graph import EMPTY, Distances, Nodes
from lanceref.kernels.hnsw_space import Space

BLOCK_BYTES = 1 << 25
"""Distances of a block of new nodes to all before them."""

BLOCK_ROWS = 1024
"""Nodes of a block, at most."""

NEAR_ALL = 1 << 15
"""Nodes that are compared with all before them."""

REGION_ROWS = 1 << 15
"""Nodes of a region, at least."""

MOST_ROWS = 1 << 16
"""Nodes of a region that new ones are compared with, about, at most."""

CELL_ROWS = 1 << 10
"""Nodes that belong to a centre, on average."""

LONGEST_ROWS = 1 << 10
"""Vectors that belong to every region, by dot product."""


def candidates(space: Space, most: int) -> Iterator[tuple[Nodes, Nodes, Distances]]:
    """Yield rows (b,), and up to `most` rows before each that are near it, nearest first.

    They are (b, k) rows, `EMPTY` behind the last of one, and distances, inf there.
    """
    num_nodes = len(space.vectors)
    first = min(num_nodes, NEAR_ALL)
    for start, end in _blocks(first):
        rows = np.arange(start, end)
        block = space.take(slice(start, end)).to(space.take(slice(0, end)))
        yield rows, *_nearest(block, rows, np.arange(end), most)
    if first < num_nodes:
        for rows, region in _regions(space, first):
            before = region[region < rows[-1]]
            block = space.take(rows).to(space.take(before))
            yield rows, *_nearest(block, rows, before, most)


def _blocks(num_nodes: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < num_nodes:
        rows = max(min(BLOCK_BYTES // (4 * start + 4), BLOCK_ROWS), 64)
        end = min(start + rows, num_nodes)
        yield start, end
        start = end


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


def _regions(space: Space, first: int) -> Iterator[tuple[Nodes, Nodes]]:
    """Yield rows from `first` on, ascending, and the rows of the region they lie in."""
    num_nodes = len(space.vectors)
    random = np.random.default_rng(num_nodes)
    drawn = random.choice(num_nodes, num_nodes // CELL_ROWS, replace=False)
    directions = space.directions
    centres = directions.take(np.sort(drawn))
    cells = np.empty(num_nodes, np.int64)
    for start in range(0, num_nodes, BLOCK_ROWS):
        run = slice(start, start + BLOCK_ROWS)
        cells[run] = directions.take(run).to(centres).argmin(axis=1)
    by_cell = np.argsort(cells, kind="stable")
    counts = np.bincount(cells, minlength=len(drawn))
    ends = np.cumsum(counts)
    members = np.split(by_cell, ends[:-1])
    always = np.empty(0, np.int64)
    if not space.is_l2:
        always = np.argpartition(-space.norms, LONGEST_ROWS)[:LONGEST_ROWS]
    around = centres.to(centres).argsort(axis=1, kind="stable")
    for cell in np.flatnonzero(counts).tolist():
        needed = 1 + int(np.searchsorted(np.cumsum(counts[around[cell]]), REGION_ROWS))
        parts = [members[one] for one in around[cell, :needed].tolist()]
        region = unique(np.concatenate([always, *parts]))
        own = members[cell][members[cell] >= first]
        step = max(BLOCK_BYTES // (4 * min(len(region), MOST_ROWS)), 64)
        for start in range(0, len(own), step):
            rows = own[start : start + step]
            yield rows, _thinned(region, rows, random)


def _thinned(region: Nodes, rows: Nodes, random: np.random.Generator) -> Nodes:
    """Return the rows of a region, or some of too many, those given among them."""
    if len(region) <= MOST_ROWS:
        return region
    return union(random.choice(region, MOST_ROWS, replace=False), rows)
