"""Clusters by hamming distance: by hand, and against the slow clear way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels import hamming_clusters
from lanceref.kernels.hamming_clusters import clusters


def _slow(rows, threshold):
    """Return the first row of each cluster, found by going from row to row."""
    labels = list(range(len(rows)))
    for start in range(len(rows)):
        if labels[start] != start:
            continue
        waiting = [start]
        while waiting:
            row = waiting.pop()
            for other in range(start + 1, len(rows)):
                bits = sum(bin(int(a) ^ int(b)).count("1") for a, b in zip(rows[row], rows[other]))
                if labels[other] == other and bits <= threshold:
                    labels[other] = start
                    waiting.append(other)
    return labels


def test_a_chain_is_one_cluster():
    """Its ends need not be near each other; rows that are alike are of one in any case."""
    rows = np.zeros((5, 8), np.uint8)
    rows[:, 0] = [0b1, 0b11, 0b111, 0b1111, 0b1]

    assert [0, 1, 2, 3, 0] == clusters(rows, 0).tolist()
    assert [0] * 5 == clusters(rows, 1).tolist()
    assert [] == clusters(rows[:0], 3).tolist()


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2), max_size=12),
    st.integers(0, 5),
    st.sampled_from([1, 8]),
)
def test_clusters_are_those_of_the_slow_way(pairs, threshold, words):
    """Of any rows, in blocks of any size."""
    rows = np.zeros((len(pairs), 16), np.uint8)
    for number, (low, high) in enumerate(pairs):
        rows[number, [0, 15]] = low, high
    usual = hamming_clusters.BLOCK_WORDS
    hamming_clusters.BLOCK_WORDS = words
    try:
        found = clusters(rows, threshold)
    finally:
        hamming_clusters.BLOCK_WORDS = usual

    assert _slow(rows, threshold) == found.tolist()
