"""Ragged pieces: parts of different lengths, joined.

Blocks hold a fixed number of values and chunks do not, so what was unpacked block by block is cut,
put together and counted here. Pieces are copied many at a time, each as wide as the longest: they
are written in order, and each overwrites what the one before it brought too much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
"""Where pieces start, where they end, or how many values they have."""

SPARE_BYTES = 2048
"""How much shorter than the longest the mean piece may be: more costs more than single copies."""

SLAB_BYTES = 2**18
"""Bytes copied at a time: they stay in the cache."""


def windows(data: NDArray[np.uint8], size: int) -> NDArray[np.void]:
    """Return the `size` bytes (at least one) from each byte of `data` on that has them: a view."""
    return np.ndarray((max(0, len(data) - size + 1),), f"V{size}", data.data, 0, (1,))


def gather_rows(data: NDArray[np.uint8], starts: Positions, size: int) -> NDArray[np.uint8]:
    """Return `size` bytes from each of `starts`, inside `data`: uint8 (len(starts), size)."""
    if not 0 < size <= SLAB_BYTES:
        return join_pieces(data, starts, starts + size).reshape(len(starts), size)
    rows: NDArray[np.uint8] = windows(data, size)[starts].view(np.uint8).reshape(-1, size)
    return rows


def join_pieces(data: NDArray[np.uint8], starts: Positions, ends: Positions) -> NDArray[np.uint8]:
    """Return the byte ranges `starts`..`ends` of `data`, inside it, joined."""
    sizes = ends - starts
    total = int(sizes.sum())
    out = np.empty(total + SLAB_BYTES, np.uint8)
    _put(out, np.cumsum(sizes) - sizes, data, starts, sizes)
    return out[:total]


def _put(
    out: NDArray[np.uint8],
    at: Positions,
    data: NDArray[np.uint8],
    starts: Positions,
    sizes: Positions,
) -> None:
    """Copy `sizes` bytes from each of `starts` to `at` (ascending); what is behind them may change.

    `out` has room for SLAB_BYTES behind the last.
    """
    width = int(sizes.max(initial=0))
    spare = width - int(sizes.sum()) // max(1, len(sizes))
    together = np.zeros(len(starts), np.bool_)
    if 0 < width <= SLAB_BYTES and spare <= SPARE_BYTES:
        together = starts <= len(data) - width
        sources, targets = windows(data, width), windows(out, width)
        from_, to = starts[together], at[together]
        step = SLAB_BYTES // width
        for first in range(0, len(to), step):
            some = slice(first, first + step)
            targets[to[some]] = sources[from_[some]]  # assigned in the order of the indices
    alone = ~together
    source, target = data.data, out.data
    for begin, start, size in zip(
        at[alone].tolist(), starts[alone].tolist(), sizes[alone].tolist()
    ):
        target[begin : begin + size] = source[start : start + size]


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
    size = values.dtype.itemsize
    return join_pieces(_bytes(values), first * size, last * size).view(values.dtype)


def interleave(
    values: NDArray[np.generic],
    starts: Positions,
    counts: Positions,
    tails: NDArray[np.generic],
    tail_counts: Positions,
) -> NDArray[np.generic]:
    """Join for every piece `counts` values from `starts`, and the next `tail_counts` of `tails`."""
    ends, size = np.cumsum(counts + tail_counts), values.dtype.itemsize
    begins, total = ends - counts - tail_counts, int(ends[-1]) if len(ends) else 0
    out = np.empty(total + SLAB_BYTES // size, values.dtype)
    _put(_bytes(out), begins * size, _bytes(values), starts * size, counts * size)
    before = np.cumsum(tail_counts) - tail_counts
    out[np.repeat(ends - tail_counts - before, tail_counts) + np.arange(len(tails))] = tails
    return out[:total]


def _bytes(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    return values.view(np.uint8)


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
