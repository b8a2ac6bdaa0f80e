"""A run of chunks: the unit of decoding of a mini-block page.

All chunks of a run are decoded together: their buffers are described by arrays of positions in one
block of bytes, so that a codec can work on whole groups of chunks of equal layout at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.concat_variable import gather_rows, join_pieces
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place


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
