"""Flat: values as they are, and byte-stream split, their bytes by rank.

The plainest codec is the innermost one of most others. Where the bytes of values are split by their
rank, a general codec finds them alike.

Layout, flat: `bits_per_value` bits a value, little-endian; one-bit values are packed, least
significant bit first, and every chunk starts at a byte.
Layout, byte-stream split of n values of w bytes: w streams of n bytes; byte i of value j is at
i * n + j.

Clauses: L.codec.flat.size, L.codec.flat.bits, L.codec.byte-stream-split.size
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.values import (
    Bytes,
    ChunkRun,
    Fixed,
    Ints,
    MiniBlocks,
    Part,
    concat_bits,
    even_counts,
    flat_encoding,
)
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto.encodings_v2_1_pb2 import ByteStreamSplit, CompressiveEncoding

MAX_BITS = 2**31
"""Widest value, lists included: `values of a page * bits` stays inside an int64."""


def check_bits(bits: int, place: Place) -> None:
    """Raise CorruptPage for a width that is neither one bit nor whole bytes."""
    if bits != 1 and (bits % 8 or not 0 < bits <= MAX_BITS):
        raise CorruptPage("L.codec.flat.bits", place, bits, "1 or whole bytes")


def kind_of(bits: int) -> str:
    """Return the name of the element type of `bits` bits."""
    if bits == 1:
        return "bitmap"
    return f"u{bits}[]" if bits in (8, 16, 32, 64) else f"{bits}-bit values"


def decode(run: ChunkRun, bits: int, name: str = "values") -> Fixed:
    """Decode buffer 0 of every chunk; explain calls it `name`. Raises CorruptPage."""
    run.want_sizes(0, -(-run.counts * bits // 8), "L.codec.flat.size")
    run.own(0, name, kind_of(bits), "L.codec.flat.size")
    data = join_bits(run, 0, run.counts) if bits == 1 else run.gather(0)
    return Fixed(bits, run.num_values, data)


def join_bits(run: ChunkRun, buffer: int, counts: Ints) -> Bytes:
    """Join bitmaps of `counts` bits, one a chunk, into one packed bitmap.

    `counts` (chunks,); the bitmap is uint8 (bytes,).
    """
    joined = run.gather(buffer)
    if np.all(counts[:-1] % 8 == 0):
        return joined
    return concat_bits(joined, np.zeros_like(counts), counts)


def encode_blocks(values: Unsigned, counts: Ints) -> Part:
    """Encode chunks of `counts` integers; return bytes and sizes.

    `values` (n,), `counts` (chunks,).
    """
    return values.view(np.uint8), counts * values.dtype.itemsize


def decode_streams(run: ChunkRun, bits: int) -> Fixed:
    """Decode buffer 0 of every chunk into values of `bits` bits. Raises CorruptPage."""
    width = bits // 8
    run.want_sizes(0, run.counts * width, "L.codec.byte-stream-split.size")
    run.own(0, "byte streams", "byte streams", "L.codec.byte-stream-split.size")
    parts = [np.empty(0, np.uint8)]
    for chunk in range(run.num_chunks):
        parts.append(run.bytes_of(0, chunk).reshape(width, -1).T.reshape(-1))
    return Fixed(bits, run.num_values, np.concatenate(parts))


def encode_streams(values: Fixed, per_chunk: int) -> MiniBlocks:
    """Split the bytes of values of 32 or 64 bits in chunks of `per_chunk` values."""
    width, counts = values.bits // 8, even_counts(values.count, per_chunk)
    cells = values.data.reshape(values.count, width)
    ends = np.cumsum(counts).tolist()
    parts = [cells[start:end].T.ravel() for start, end in zip([0, *ends], ends)]
    split = ByteStreamSplit(values=flat_encoding(values.bits))
    encoding = CompressiveEncoding(byte_stream_split=split)
    return MiniBlocks(encoding, counts, ((np.concatenate(parts), counts * width),))
