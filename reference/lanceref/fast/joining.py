"""Pieces of bytes copied many at a time, and flags counted by words.

Pieces are copied each as wide as the longest: they are written in order, and each overwrites what
the one before it wrote too much. The specification is `codecs.chunks`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import chunks
from lanceref.codecs.values import Bools, Bytes, Ints

SPARE_BYTES = 2048
"""How much shorter than the longest the mean piece may be: more costs more than single copies."""

SLAB_BYTES = 2**18
"""Bytes copied at a time: they stay in the cache."""


def windows(data: Bytes, size: int) -> NDArray[np.void]:
    """Return the `size` bytes (at least one) from each byte of `data` on that has them: a view.

    The result is (bytes - size + 1,).
    """
    return np.ndarray((max(0, len(data) - size + 1),), f"V{size}", data.data, 0, (1,))


@chunks.gather_rows.replaced_by
def gather_rows(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return `size` bytes from each of `starts`, inside `data`: uint8 (len(starts), size).

    `starts` (n,).
    """
    if not 0 < size <= SLAB_BYTES:
        return join_pieces(data, starts, starts + size).reshape(len(starts), size)
    rows: Bytes = windows(data, size)[starts].view(np.uint8).reshape(-1, size)
    return rows


@chunks.join_pieces.replaced_by
def join_pieces(data: Bytes, starts: Ints, ends: Ints) -> Bytes:
    """Return the byte ranges `starts`..`ends` of `data`, inside it, joined.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    sizes = ends - starts
    total = int(sizes.sum())
    if len(sizes) > 1 and (sizes[:-1] == sizes[0]).all():
        body, size, step = len(sizes) - 1, int(sizes[0]), int(starts[1] - starts[0])
        if step >= size and (np.diff(starts) == step).all():  # pieces at equal distances
            out = np.empty(total, np.uint8)
            rows = np.ndarray((body, size), np.uint8, data.data, int(starts[0]), (step, 1))
            out[: body * size].reshape(body, size)[:] = rows
            out[body * size :] = data[int(starts[-1]) : int(ends[-1])]
            return out
    out = np.empty(total + SLAB_BYTES, np.uint8)
    _put(out, np.cumsum(sizes) - sizes, data, starts, sizes)
    return out[:total]


def _put(out: Bytes, at: Ints, data: Bytes, starts: Ints, sizes: Ints) -> None:
    """Copy `sizes` bytes from each of `starts` to `at` (ascending); what follows them may change.

    `out` has room for SLAB_BYTES after the last.
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


@chunks.count_before.replaced_by
def count_before(flags: Bools, at: Ints) -> Ints:
    """Return how many of `flags` are set before each of the positions `at`.

    `flags` (n,); `at` and the result (m,).
    """
    words = np.zeros(len(flags) // 64 + 1, np.uint64)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    counts = np.bitwise_count(words)
    word, bit = at >> 6, (at & 63).astype(np.uint64)
    below = words[word] & ((np.uint64(1) << bit) - np.uint64(1))
    before: Ints = np.cumsum(counts, dtype=np.int64)[word] - counts[word]
    before += np.bitwise_count(below)
    return before
