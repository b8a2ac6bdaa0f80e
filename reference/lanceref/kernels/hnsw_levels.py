"""HNSW levels: the highest level of each node of a graph.

A node of an HNSW graph lies on level 0 and, with probability 1/m per level, on each one above
(Malkov and Yashunin, arXiv 1603.09320, section 4: `floor(-ln(u) / ln(m))`). The draws `u` come from
one fixed sequence that starts anew for every graph, so that the levels follow from the number of
nodes, m and the number of levels: xoshiro256++ of Blackman and Vigna, whose four words of state are
the first four of SplitMix64 from seed 42. A draw is the upper 24 bits of a word, as a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

SEED = 42
"""From which every sequence starts."""

WORD = 2**64 - 1
"""All bits of a word."""

DRAW_BITS = 24
"""Bits of a word that make a draw: as many as a 32-bit float keeps."""

Levels = NDArray[np.int64]


def node_levels(num_nodes: int, m: int, max_level: int) -> Levels:
    """Return the highest level (num_nodes,) of each node, below `max_level`."""
    with np.errstate(divide="ignore"):
        rounds = -np.log(_draws(_block(num_nodes))[:num_nodes]) * np.float32(1 / np.log(m))
    return np.minimum(rounds, max_level - 1).astype(np.int64)


def entry_point(levels: Levels) -> int:
    """Return the node where searches start: the first one of the highest level, 0 of none."""
    return int(levels.argmax()) if len(levels) else 0


def _block(num_nodes: int) -> int:
    """Round up, so that graphs of nearly the same size share their draws."""
    return 1 << max(num_nodes - 1, 1023).bit_length()


@lru_cache(maxsize=4)
def _draws(count: int) -> NDArray[np.float32]:
    words = np.fromiter(islice(_xoshiro(SEED), count), np.uint64, count)
    return (words >> np.uint64(64 - DRAW_BITS)).astype(np.float32) / np.float32(2**DRAW_BITS)


def _splitmix(state: int) -> Iterator[int]:
    while True:
        state = state + 0x9E3779B97F4A7C15 & WORD
        word = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & WORD
        word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
        yield word ^ word >> 31


def _xoshiro(seed: int) -> Iterator[int]:
    a, b, c, d = islice(_splitmix(seed), 4)
    while True:
        total = a + d & WORD
        yield (total << 23 | total >> 41) + a & WORD
        shifted = b << 17 & WORD
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = (d << 45 | d >> 19) & WORD
