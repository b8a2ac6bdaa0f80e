"""Flat: values as they are.

The plainest codec, and the innermost one of most others.

Layout: `bits_per_value` bits a value, little-endian; one-bit values are packed, least significant
bit first, and every chunk starts at a byte.

Clauses: L.codec.flat.size, L.codec.flat.bits
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed
from lanceref.core.errors import CorruptPage, Place

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
