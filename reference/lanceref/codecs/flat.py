"""Flat: values as they are.

The plainest codec, and the innermost one of most others.

Layout: `bits_per_value` bits a value, little-endian; one-bit values are packed, least significant
bit first, and every chunk starts at a byte.

Clauses: L.codec.flat.size, L.codec.flat.bits

Byte-stream split: the bytes of all values by rank, so that a general codec finds them alike.

Layout of a chunk of n values of w bytes: w streams of n bytes; byte i of value j is at i * n + j.

Clauses: L.codec.byte-stream-split.size

Byte stream split, encoded: the bytes of values sorted by their position.

Layout: see `byte_stream_split`.

Clauses: L.codec.byte-stream-split.size
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.encoder_inputs import flat_chunk
from lanceref.codecs.values import Fixed, MiniBlocks, even_counts, flat_encoding
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

MAX_BITS = 2**31
"""Widest value, lists included: `values of a page * bits` stays inside an int64."""


def check_bits(bits: int, place: Place) -> None:
    """Refuse a width that is neither one bit nor whole bytes."""
    if bits != 1 and (bits % 8 or not 0 < bits <= MAX_BITS):
        raise CorruptPage(
            "L.codec.flat.bits", place, found=f"{bits} bits per value", wanted="1 or whole bytes"
        )


def kind_of(bits: int) -> str:
    """Name the element type of `bits` bits."""
    if bits == 1:
        return "bitmap"
    return f"u{bits}[]" if bits in (8, 16, 32, 64) else f"{bits}-bit values"


def decode(run: ChunkRun, bits: int, name: str = "values") -> Fixed:
    """Decode buffer 0 of every chunk; explain calls it `name`."""
    run.want_sizes(0, -(-run.counts * bits // 8), "L.codec.flat.size")
    run.own(0, name, kind_of(bits), "L.codec.flat.size")
    if bits == 1:
        return Fixed(1, run.num_values, join_bits(run, 0, run.counts))
    return Fixed(bits, run.num_values, run.gather(0))


def join_bits(run: ChunkRun, buffer: int, counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Join bitmaps of `counts` bits, one a chunk, into one packed bitmap."""
    joined = run.gather(buffer)
    if np.all(counts[:-1] % 8 == 0):
        return joined
    ends = np.cumsum(run.sizes[buffer])
    bits = [
        np.unpackbits(joined[end - size : end], count=count, bitorder="little")
        for end, size, count in zip(ends.tolist(), run.sizes[buffer].tolist(), counts.tolist())
    ]
    return np.packbits(np.concatenate(bits), bitorder="little")


def decode_streams(run: ChunkRun, bits: int) -> Fixed:
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


def encode_streams(values: Fixed, per_chunk: int | None = None) -> MiniBlocks:
    """Split the bytes of values of 32 or 64 bits in chunks of `per_chunk` values."""
    width = values.bits // 8
    counts = even_counts(values.count, per_chunk or flat_chunk(width, 1))
    cells = values.data.reshape(values.count, width)
    ends = np.cumsum(counts).tolist()
    parts = [cells[start:end].T.ravel() for start, end in zip([0, *ends], ends)]
    encoding = CompressiveEncoding()
    encoding.byte_stream_split.values.CopyFrom(flat_encoding(values.bits))
    return MiniBlocks(encoding, counts, ((np.concatenate(parts), counts * width),))
