"""Run-length encoding: values and how often each stands.

Layout in a chunk: buffer 0 the run values, buffer 1 the run lengths, one each a run.
Layout as a block: u64 size of the values, the values, the lengths.

Clauses: L.codec.rle.sum, L.codec.rle.pairs, L.codec.rle.frame, L.codec.rle.children
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed
from lanceref.errors import CorruptPage


def decode_mini(run: ChunkRun, bits: int, length_bits: int) -> Fixed:
    """Decode buffers 0 (values of `bits` bits) and 1 (lengths) of every chunk."""
    width, length_width = bits // 8, length_bits // 8
    runs = run.sizes[1] // length_width
    wrong = np.flatnonzero((run.sizes[0] != runs * width) | (run.sizes[1] % length_width != 0))
    if len(wrong):
        chunk = int(wrong[0])
        sizes = run.sizes[:, chunk].tolist()
        raise CorruptPage(
            "L.codec.rle.pairs",
            run.place(0, chunk),
            found=f"{sizes[0]} bytes of values, {sizes[1]} of lengths",
            wanted=f"a value of {width} bytes for each length of {length_width}",
        )
    run.own(0, "run values", f"{bits}-bit values", "L.codec.rle.pairs")
    run.own(1, "run lengths", f"run lengths u{length_bits}[]", "L.codec.rle.sum")
    values = np.ascontiguousarray(run.gather(0)).view(f"V{width}")
    lengths = np.ascontiguousarray(run.gather(1)).view(f"<u{length_width}").astype(np.int64)
    totals = np.diff(np.append(0, np.cumsum(lengths))[np.append(0, np.cumsum(runs))])
    wrong = np.flatnonzero(totals != run.counts)
    if len(wrong):
        chunk = int(wrong[0])
        raise CorruptPage(
            "L.codec.rle.sum",
            run.place(1, chunk),
            found=f"runs of {int(totals[chunk])} values",
            wanted=f"{int(run.counts[chunk])}, the values of the chunk",
        )
    if width in (1, 2, 4, 8):
        values = values.view(f"<u{width}")
    return Fixed(bits, run.num_values, np.repeat(values, lengths).view(np.uint8))


def split_frames(run: ChunkRun) -> ChunkRun:
    """Return the two buffers inside the frame of every chunk's buffer 0."""
    short = np.flatnonzero(run.sizes[0] < 8)
    heads = np.zeros(run.num_chunks, np.uint64)
    if not len(short):
        everything = np.arange(run.num_chunks)
        heads = np.ascontiguousarray(run.rows(0, everything, 8)).view("<u8").reshape(-1)
        short = np.flatnonzero(heads > (run.sizes[0] - 8).astype(np.uint64))
    if len(short):
        chunk = int(short[0])
        raise CorruptPage(
            "L.codec.rle.frame",
            run.place(0, chunk),
            found=f"{int(heads[chunk])} bytes of values in {int(run.sizes[0, chunk])} bytes",
            wanted="a frame that holds its values",
        )
    if run.ctx.spans is not None and run.origin is None:
        for start, head in zip((run.base + run.starts[0]).tolist(), heads.tolist()):
            run.ctx.leaf(start, start + 8, "size of values", "u64", "L.codec.rle.frame", head)
    sizes = heads.astype(np.int64)
    starts = run.starts[0] + 8
    return replace(
        run,
        starts=np.stack([starts, starts + sizes]),
        sizes=np.stack([sizes, run.sizes[0] - 8 - sizes]),
    )
