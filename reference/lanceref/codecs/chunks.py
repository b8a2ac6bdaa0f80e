"""A run of chunks: the unit of decoding of a mini-block page.

All chunks of a run are decoded together: their buffers are described by arrays of positions in one
block of bytes, so that a codec can work on whole groups of chunks of equal layout at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.context import Context
from lanceref.errors import Place


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Chunks that are decoded together.

    `data` uint8, the bytes of the run, `base` the absolute offset of its first byte; `starts` and
    `sizes` int64 (num_buffers, num_chunks), positions in `data`, already checked to lie inside it;
    `counts` int64 (num_chunks,), values (for level buffers: levels) in each chunk.
    """

    ctx: Context
    data: NDArray[np.uint8]
    base: int
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def num_chunks(self) -> int:
        """Chunks in the run."""
        return len(self.counts)

    @property
    def num_values(self) -> int:
        """Values in all chunks of the run."""
        return int(self.counts.sum())

    def place(self, buffer: int, chunk: int) -> Place:
        """Where buffer `buffer` of chunk `chunk` lies in the file, for errors."""
        start = self.base + int(self.starts[buffer, chunk])
        return self.ctx.at(start, int(self.sizes[buffer, chunk]))

    def bytes_of(self, buffer: int, chunk: int) -> NDArray[np.uint8]:
        """The bytes of one buffer of one chunk, as a view."""
        start = int(self.starts[buffer, chunk])
        return self.data[start : start + int(self.sizes[buffer, chunk])]

    def only(self, buffer: int) -> ChunkRun:
        """The same chunks with one of their buffers."""
        return ChunkRun(
            self.ctx,
            self.data,
            self.base,
            self.starts[buffer : buffer + 1],
            self.sizes[buffer : buffer + 1],
            self.counts,
        )
