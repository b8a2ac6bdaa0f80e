"""Byte-stream split: the bytes of all values by rank, so that a general codec finds them alike.

Layout of a chunk of n values of w bytes: w streams of n bytes; byte i of value j is at i * n + j.

Clauses: L.codec.byte-stream-split.size
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed


def decode(run: ChunkRun, bits: int) -> Fixed:
    """Decode buffer 0 of every chunk into values of `bits` bits."""
    width = bits // 8
    run.want_sizes(0, run.counts * width, "L.codec.byte-stream-split.size")
    run.own(0, "byte streams", "byte streams", "L.codec.byte-stream-split.size")
    out = np.empty((run.num_values, width), np.uint8)
    ends = np.cumsum(run.counts)
    for count, chunks in run.groups(run.counts):
        streams = run.rows(0, chunks, count * width).reshape(len(chunks), width, count)
        if len(chunks) == run.num_chunks:
            target = out.reshape(len(chunks), count, width)
            for byte in range(width):
                target[:, :, byte] = streams[:, byte]
        else:
            at = (ends[chunks] - count)[:, None] + np.arange(count)
            out[at] = streams.transpose(0, 2, 1)
    return Fixed(bits, run.num_values, out.reshape(-1))
