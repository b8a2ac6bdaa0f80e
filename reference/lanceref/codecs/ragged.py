"""Ragged pieces: parts of different lengths, joined.

Blocks hold a fixed number of values and chunks do not, so what was unpacked block by block is cut,
put together and counted here. A piece costs one slice of a memoryview, an eighth of a slice of an
array.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
"""Where pieces start, where they end, or how many values they have."""


def join_rows(rows: NDArray[np.generic], counts: Positions) -> NDArray[np.generic]:
    """Return the first `counts` values of every row of `rows` (n, width), joined."""
    if (counts[:-1] == rows.shape[1]).all():
        return rows.reshape(-1)[: int(counts.sum())]
    starts = np.arange(len(rows)) * rows.shape[1]
    return join_ranges(rows.reshape(-1), starts, starts + counts)


def join_ranges(
    values: NDArray[np.generic], starts: Positions, ends: Positions
) -> NDArray[np.generic]:
    """Return the ranges `starts`..`ends` (ascending) of `values`, joined; a view if they touch."""
    cuts = np.flatnonzero(starts[1:] != ends[:-1])
    if not len(starts):
        return values[:0]
    first, last = np.append(starts[0], starts[cuts + 1]), np.append(ends[cuts], ends[-1])
    if not len(cuts):
        return values[int(first[0]) : int(last[0])]
    return np.frombuffer(b"".join(_pieces(values, first, last)), values.dtype)


def interleave(
    values: NDArray[np.generic],
    starts: Positions,
    counts: Positions,
    tails: NDArray[np.generic],
    tail_counts: Positions,
) -> NDArray[np.generic]:
    """Join for every piece `counts` values from `starts`, and the next `tail_counts` of `tails`."""
    tail_ends = np.cumsum(tail_counts)
    heads = _pieces(values, starts, starts + counts)
    pairs = zip(heads, _pieces(tails, tail_ends - tail_counts, tail_ends), strict=True)
    return np.frombuffer(b"".join(chain.from_iterable(pairs)), values.dtype)


def _pieces(values: NDArray[np.generic], starts: Positions, ends: Positions) -> list[memoryview]:
    data, size = values.view(np.uint8).data, values.dtype.itemsize
    return [data[a:b] for a, b in zip((starts * size).tolist(), (ends * size).tolist())]


def count_before(flags: NDArray[np.bool_], at: Positions) -> Positions:
    """Return how many of `flags` are set before each of the positions `at`."""
    words = np.zeros(len(flags) // 64 + 1, np.uint64)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    counts = np.bitwise_count(words)
    word, bit = at >> 6, (at & 63).astype(np.uint64)
    below = words[word] & ((np.uint64(1) << bit) - np.uint64(1))
    before: Positions = np.cumsum(counts, dtype=np.int64)[word] - counts[word]
    before += np.bitwise_count(below)
    return before
