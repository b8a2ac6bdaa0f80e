"""HNSW graphs: nodes on levels, their edges, and the distances of their vectors.

Malkov and Yashunin, arXiv 1603.09320. Nodes are numbered from 0 as their vectors. Level 0 holds all
of them, each level above some of the one below: a node reaches the next level with probability 1/m
(section 4: `floor(-ln(u) / ln(m))`). The draws `u` are the upper 24 bits of the words of one fixed
sequence, so that levels follow from the number of nodes, m and the number of levels: xoshiro256++
of Blackman and Vigna, whose state is the first four words of SplitMix64 from seed 42.

Distances of many pairs come from a matrix product: `|x - y|^2 = |x|^2 + |y|^2 - 2 x.y` or
`1 - x.y`. Cosine vectors are brought to unit length, those of Hamming distance spread into bits.
The products lose digits of small distances; those stored in a graph are sums over differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

FEWEST_EDGES = 4
"""Edges per node that keep a graph connected."""


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """Edges per node, candidates per new node, levels at most."""

    m: int = 20
    ef_construction: int = 150
    max_level: int = 7


USUAL = GraphParameters()
"""Default parameters."""

SEED, WORD, DRAW_BITS = 42, 2**64 - 1, 24
"""Seed of the sequence, all bits of a word, bits of a draw (as many as a 32-bit float keeps)."""

Nodes = NDArray[np.int64]
Distances = NDArray[np.float32]

EMPTY = -1
"""No edge, in a table of edges."""


def node_levels(num_nodes: int, m: int, max_level: int) -> Nodes:
    """Return the highest level (num_nodes,) of each node, below `max_level`."""
    count = 1 << max(num_nodes - 1, 1023).bit_length()  # graphs of like size share their draws
    with np.errstate(divide="ignore"):
        levels = -np.log(_draws(count)[:num_nodes]) * np.float32(1 / np.log(m))
    return np.minimum(levels, max_level - 1).astype(np.int64)


def entry_point(levels: Nodes) -> int:
    """Return the node where searches start: the first of the highest level, 0 without nodes.

    `levels` (nodes,).
    """
    return int(levels.argmax()) if len(levels) else 0


@lru_cache(maxsize=4)
def _draws(count: int) -> NDArray[np.float32]:
    words = np.fromiter(islice(_xoshiro(SEED), count), np.uint64, count)
    return (words >> np.uint64(64 - DRAW_BITS)).astype(np.float32) / np.float32(2**DRAW_BITS)


def splitmix(state: int) -> Iterator[int]:
    """Yield the words of SplitMix64 from a state on, without end."""
    while True:
        state = state + 0x9E3779B97F4A7C15 & WORD
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & WORD
        word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
        yield word ^ word >> 31


def _xoshiro(seed: int) -> Iterator[int]:
    a, b, c, d = islice(splitmix(seed), 4)
    while True:
        total = a + d & WORD
        yield (total << 23 | total >> 41) + a & WORD
        shifted = b << 17 & WORD
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c ^= shifted
        d = (d << 45 | d >> 19) & WORD


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

    def neighbours_of(self, node: int) -> Nodes:
        """Return the neighbours of a node, none where it is not on the level: (neighbours,)."""
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
        """Number of nodes on level 0, which has all vectors."""
        return len(self.levels[0].nodes) if self.levels else 0


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Edges of nodes in rows (k, width): neighbours int64, `EMPTY` after the last, distances."""

    neighbours: Nodes
    distances: Distances

    def level(self, nodes: Nodes) -> Level:
        """Return a level whose `nodes` (k,) ascending have these edges."""
        filled = self.neighbours != EMPTY
        offsets = np.append(0, np.cumsum(filled.sum(1), dtype=np.int64))
        return Level(nodes, offsets, self.neighbours[filled], self.distances[filled])


def graph_of(levels: Nodes, tables: Sequence[EdgeTable]) -> Graph:
    """Return a graph by the highest level of each node and the edges of each level's nodes.

    `levels` (nodes,).
    """
    parts = (table.level(np.flatnonzero(levels >= i)) for i, table in enumerate(tables))
    return Graph(entry_point(levels), tuple(parts))


PAIRS_AT_ONCE = 1 << 14
"""Pairs whose differences are computed together."""

SMALLEST = np.float32(2**-126)
"""Least squared length that is divided by."""


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors (n, d) float32, whether distances are squared l2 (else 1 - x.y), squared norms."""

    vectors: NDArray[np.float32]
    is_l2: bool
    norms: Distances

    def take(self, rows: Nodes | slice) -> Space:
        """Return the space of some of the vectors. `rows` (n,)."""
        return Space(self.vectors[rows], self.is_l2, self.norms[rows])

    @property
    def directions(self) -> Space:
        """The space by whose l2 near vectors lie together: for dot, that of unit vectors."""
        if self.is_l2:
            return self
        lengths = np.sqrt(np.maximum(self.norms, SMALLEST))[:, None]
        return Space((self.vectors / lengths).astype(np.float32), True, np.ones_like(self.norms))

    def to(self, other: Space) -> Distances:
        """Return the distances (n, m) of all vectors to all m of another space."""
        return self._distances(
            self.vectors @ other.vectors.T, self.norms[:, None], other.norms[None]
        )

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

    def pairs(self, left: Nodes, right: Nodes) -> Distances:
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
    norms = np.einsum("ij,ij->i", floats, floats)
    if metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            floats = floats / np.sqrt(norms)[:, None]
        norms = np.ones_like(norms)
    return Space(floats, metric in ("l2", "hamming"), norms)
