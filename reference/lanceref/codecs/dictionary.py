"""Dictionary: a sequence of 2.3 as indices into its few distinct values.

Not to be confused with the dictionary of a mini-block page, which is a buffer of the page.

Layout: u64 size of the indices, u64 size of the items, the indices, the items; each a block of its
own, without bytes when its codec needs none.

Clauses: L.codec.dictionary.frame, L.codec.dictionary.index-range
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed
from lanceref.core.errors import CorruptPage

HEADER_BYTES = 16
"""Size of the two sizes in front."""


def split_frames(run: ChunkRun, num_items: int) -> tuple[ChunkRun, ChunkRun]:
    """Return the runs of the indices and of the items of every chunk."""
    short = np.flatnonzero(run.sizes[0] < HEADER_BYTES)
    heads = np.zeros((run.num_chunks, 2), np.uint64)
    if not len(short):
        words = np.ascontiguousarray(run.rows(0, np.arange(run.num_chunks), HEADER_BYTES))
        heads = words.view("<u8")
        rest = (run.sizes[0] - HEADER_BYTES).astype(np.uint64)
        short = np.flatnonzero((heads[:, 0] > rest) | (heads[:, 1] != rest - heads[:, 0]))
    if len(short):
        chunk = int(short[0])
        raise CorruptPage(
            "L.codec.dictionary.frame",
            run.place(0, chunk),
            found=f"sizes {heads[chunk].tolist()} in {int(run.sizes[0, chunk])} bytes",
            wanted="sizes that fill the bytes behind them",
        )
    if run.ctx.spans is not None and run.in_file(0):
        clause = "L.codec.dictionary.frame"
        for start, sizes in zip((run.base + run.starts[0]).tolist(), heads.tolist()):
            run.ctx.leaf(start, start + 8, "size of indices", "u64", clause, sizes[0])
            run.ctx.leaf(start + 8, start + 16, "size of items", "u64", clause, sizes[1])
    parts = np.ascontiguousarray(heads.astype(np.int64).T)
    starts = run.starts[0] + HEADER_BYTES
    indices = replace(run, starts=starts[None], sizes=parts[:1])
    items = replace(run, starts=(starts + parts[0])[None], sizes=parts[1:])
    return indices, items.counting(np.full(run.num_chunks, num_items, np.int64))


def look_up(run: ChunkRun, indices: NDArray[np.uint64], items: Fixed, num_items: int) -> Fixed:
    """Return the items that the indices of every chunk name."""
    largest = int(indices.max(initial=0))
    if len(indices) and largest >= num_items:
        raise CorruptPage(
            "L.codec.dictionary.index-range",
            run.place(),
            found=f"an index {largest}",
            wanted=f"indices below {num_items}",
        )
    first = np.repeat(np.arange(run.num_chunks) * num_items, run.counts)
    table = items.data.reshape(items.count, items.bits // 8)
    cells = table[first + indices.astype(np.int64)]
    return Fixed(items.bits, len(indices), cells.reshape(-1))
