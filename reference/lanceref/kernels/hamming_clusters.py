"""Clusters by hamming distance: bytes of which few bits differ, one from the next.

Two rows are of one cluster when a chain of rows leads from one to the other, each of which differs
from the next in no more bits than the threshold says. Rows that are alike are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK_WORDS = 1 << 20
"""Words of 8 bytes that are held against others at once."""

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]


def clusters(rows: NDArray[np.uint8], threshold: int) -> Numbers:
    """Return for each row [n, w], w a multiple of 8, the first row of its cluster."""
    words: Words = np.ascontiguousarray(rows).view(np.uint64)
    unlike, first, group = np.unique(words, axis=0, return_index=True, return_inverse=True)
    labels = np.arange(len(unlike))
    for left, right in _near(unlike, threshold):
        labels = _joined(labels, left, right)
    order = np.full(len(unlike), len(rows), np.int64)
    np.minimum.at(order, labels, first)
    return order[labels][group.reshape(-1)]


def _near(words: Words, threshold: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the pairs of rows that differ in few bits, a block of rows after the other."""
    if not threshold:
        return
    step = max(1, BLOCK_WORDS // max(1, words.size))
    for start in range(0, len(words), step):
        block = words[start : start + step]
        bits = np.bitwise_count(block[:, None] ^ words[None, start:]).sum(axis=2, dtype=np.int64)
        left, right = np.nonzero(bits <= threshold)
        yield left + start, right + start


def _joined(labels: Numbers, left: Numbers, right: Numbers) -> Numbers:
    """Give both rows of each pair the lower label, until no pair has two."""
    while True:
        least = np.minimum(labels[left], labels[right])
        joined = labels.copy()
        np.minimum.at(joined, labels[left], least)
        np.minimum.at(joined, labels[right], least)
        joined = joined[joined][labels]
        if np.array_equal(joined, labels):
            return labels
        labels = joined
