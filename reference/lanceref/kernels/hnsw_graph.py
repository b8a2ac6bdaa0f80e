"""HNSW graphs: nodes on levels, their edges, and the nodes nearest to a query.

Malkov and Yashunin, arXiv 1603.09320. Nodes are numbered from 0 as their vectors. Level 0 holds all
of them, each level above some of the one below: a node reaches the next level with probability 1/m
(section 4: `floor(-ln(u) / ln(m))`). The draws `u` are the upper 24 bits of the words of one fixed
sequence, so that levels follow from the number of nodes, m and the number of levels: xoshiro256++
of Blackman and Vigna, whose state is the first four words of SplitMix64 from seed 42.

Search, algorithm 5 (K-NN-SEARCH): from the entry point down to level 1, a search of one node goes
from neighbour to nearer neighbour; on level 0, algorithm 2 (SEARCH-LAYER) keeps the `ef` nearest
nodes it has met, W, and expands candidates, C, the nearest first, until the nearest of C is farther
than the furthest of W. Nodes that a filter does not admit are expanded and not kept.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified

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
    """Return distance and number of the at most `ef` nearest admitted nodes, in any order."""
    return walk(level.neighbours_of, distance_of, start, ef, admitted)


def walk(
    neighbours_of: Callable[[int], Nodes],
    distance_of: DistanceOf,
    start: int,
    ef: int,
    admitted: Admitted = ALL,
) -> list[tuple[float, int]]:
    """Return distance and number of the at most `ef` nearest admitted nodes, nearest first.

    Algorithm 2 with one entry point. Of nodes that are furthest alike the first by number leaves W.
    `neighbours_of` returns those of a node: (neighbours,).
    """
    candidates, found = list[tuple[float, int]](), list[tuple[float, int]]()  # C and W
    visited, new = {start}, [start]
    while True:
        nodes = np.array(new, np.int64)
        distances = distance_of(nodes) if new else np.empty(0, np.float32)
        inside = admitted.of(nodes, distances)
        for far, one, is_admitted in zip(distances.tolist(), new, inside, strict=True):
            if len(found) < ef or far <= found[-1][0]:
                insort(candidates, (far, one))
                if is_admitted and (len(found) < ef or far < found[-1][0]):
                    insort(found, (far, -one))
            if len(found) > ef:
                found.pop()
        if not candidates or (len(found) >= ef and candidates[0][0] > found[-1][0]):
            return [(far, -one) for far, one in found]
        _, nearest = candidates.pop(0)
        new = [one for one in neighbours_of(nearest).tolist() if one not in visited]
        visited.update(new)
