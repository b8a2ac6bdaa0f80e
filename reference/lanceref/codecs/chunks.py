"""A run of chunks: the unit of decoding of a mini-block page.

All chunks of a run are decoded together: their buffers are described by arrays of positions in one
block of bytes, so that a codec can work on whole groups of chunks of equal layout at once.

Ragged pieces: parts of different lengths, joined.

Blocks hold a fixed number of values and chunks do not, so what was unpacked block by block is cut,
put together and counted here. Pieces are copied many at a time, each as wide as the longest: they
are written in order, and each overwrites what the one before it brought too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place

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


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks that are decoded together.

    `data` uint8, the bytes of the run, `base` the absolute offset of its first byte; `starts` and
    `sizes` int64 (num_buffers, num_chunks), positions in `data`, already checked to lie inside it;
    `counts` int64 (num_chunks,), values (for level buffers: levels) in each chunk. When buffer 0
    was decompressed, `origin` is the run it came from, and only the first `file_bytes` of `data`
    are bytes of the file.
    """

    ctx: Context
    data: NDArray[np.uint8]
    base: int
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    origin: ChunkRun | None = None
    file_bytes: int = 0

    @property
    def num_chunks(self) -> int:
        """Chunks in the run."""
        return len(self.counts)

    @property
    def num_values(self) -> int:
        """Values in all chunks of the run."""
        return int(self.counts.sum())

    def in_file(self, buffer: int) -> bool:
        """Whether the buffer's bytes are those of the file, not decompressed ones."""
        return self.origin is None or bool(np.all(self.starts[buffer] < self.file_bytes))

    def place(self, buffer: int = 0, chunk: int = 0) -> Place:
        """Where a buffer of a chunk lies in the file (or what it was decompressed from)."""
        if chunk >= self.num_chunks:
            return self.ctx.at(self.base, len(self.data))
        start, size = int(self.starts[buffer, chunk]), int(self.sizes[buffer, chunk])
        if self.origin is not None and start >= self.file_bytes:
            return self.origin.place(0, chunk)
        return self.ctx.at(self.base + start, size)

    def bytes_of(self, buffer: int, chunk: int) -> NDArray[np.uint8]:
        """The bytes of one buffer of one chunk, as a view."""
        start = int(self.starts[buffer, chunk])
        return self.data[start : start + int(self.sizes[buffer, chunk])]

    def counting(self, counts: NDArray[np.int64]) -> ChunkRun:
        """The same chunks with other numbers of values."""
        return replace(self, counts=counts)

    def without_buffers(self) -> ChunkRun:
        """The same chunks with one empty buffer: what a codec that reads no bytes gets."""
        nothing = np.zeros((1, self.num_chunks), np.int64)
        return replace(self, starts=nothing, sizes=nothing, origin=None)

    def only(self, first: int, last: int | None = None) -> ChunkRun:
        """The same chunks with their buffers `first`..`last` (default: just `first`)."""
        end = first + 1 if last is None else last
        return replace(self, starts=self.starts[first:end], sizes=self.sizes[first:end])

    def own(self, buffer: int, name: str, kind: str, clause: str) -> None:
        """Record that `name` owns this buffer of every chunk, when spans are recorded."""
        if self.ctx.spans is None or not self.in_file(buffer):
            return
        for start, size in zip(self.starts[buffer].tolist(), self.sizes[buffer].tolist()):
            self.ctx.leaf(self.base + start, self.base + start + size, name, kind, clause)

    def gather(self, buffer: int) -> NDArray[np.uint8]:
        """Join one buffer of all chunks: uint8 (sum of sizes,); a view when there is one chunk."""
        starts, sizes = self.starts[buffer], self.sizes[buffer]
        if len(starts) == 1:
            return self.bytes_of(buffer, 0)
        if len(starts) == 0:
            return self.data[:0]
        body, size = len(starts) - 1, int(sizes[0])
        step = int(starts[1] - starts[0])
        if step >= size and np.all(sizes[:-1] == size) and np.all(np.diff(starts) == step):
            out = np.empty(body * size + int(sizes[-1]), np.uint8)
            whole = self.data[int(starts[0]) : int(starts[0]) + body * step].reshape(body, step)
            out[: body * size].reshape(body, size)[:] = whole[:, :size]
            out[body * size :] = self.bytes_of(buffer, body)
            return out
        return self.slices(starts, starts + sizes)

    def rows(
        self, buffer: int, chunks: NDArray[np.int64], size: int, at: int = 0
    ) -> NDArray[np.uint8]:
        """Return bytes at..at+size of one buffer of `chunks`: uint8 (len(chunks), size).

        The caller has checked that the buffers hold them.
        """
        starts, num_rows = self.starts[buffer][chunks] + at, len(chunks)
        if num_rows > 1 and size:
            first, step = int(starts[0]), int(starts[1] - starts[0])
            if step >= size and np.all(np.diff(starts) == step):
                return np.ndarray((num_rows, size), np.uint8, self.data.data, first, (step, 1))
        return gather_rows(self.data, starts, size)

    def slices(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Join byte ranges of `data` that lie inside it."""
        return join_pieces(self.data, starts, ends)

    def groups(self, key: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield (value, chunk numbers) for every distinct value of `key`, one per chunk."""
        if len(key) and (key == key[0]).all():
            yield int(key[0]), np.arange(len(key))
            return
        for value in np.unique(key).tolist():
            yield int(value), np.flatnonzero(key == value)

    def want_sizes(self, buffer: int, wanted: NDArray[np.int64], clause: str) -> None:
        """Refuse unless this buffer has exactly `wanted` bytes in every chunk."""
        wrong = self.sizes[buffer] != wanted
        if wrong.any():
            chunk = int(np.flatnonzero(wrong)[0])
            size, count = int(self.sizes[buffer, chunk]), int(self.counts[chunk])
            raise CorruptPage(
                clause,
                self.place(buffer, chunk),
                found=f"{size} bytes for {count} values",
                wanted=f"{int(wanted[chunk])} bytes",
            )
