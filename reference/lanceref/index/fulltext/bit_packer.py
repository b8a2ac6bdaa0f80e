"""Bit-packed groups: 128 or 256 small numbers, each with as many bits as the largest needs.

The numbers lie in 4 or 8 lanes: number i in lane i % lanes. A lane is a stream of bits, low bits
first, cut into words of 32 bits; the words of the lanes take turns.

Layout (little-endian): width x lanes words, u32; word w of lane j is the (lanes x w + j)-th.

Clauses: L.index.fts.posting.width
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage

Numbers = NDArray[np.uint32]

PER_LANE = 32
"""Numbers of a lane."""


def width_of(numbers: Numbers) -> int:
    """Return the bits that the largest of some numbers needs."""
    return int(numbers.max(initial=0)).bit_length()


def unpack(data: memoryview, width_bits: int, lanes: int) -> Numbers:
    """Return the 32 x lanes numbers of a group."""
    if not width_bits:
        return np.zeros(PER_LANE * lanes, np.uint32)
    words = np.frombuffer(data, "<u4").reshape(width_bits, lanes)
    octets = np.ascontiguousarray(words.T).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little").reshape(lanes, PER_LANE, width_bits)
    weights = np.uint64(1) << np.arange(width_bits, dtype=np.uint64)
    return (bits @ weights).T.reshape(-1).astype(np.uint32)


def pack(numbers: Numbers, width_bits: int) -> bytes:
    """Return numbers that have at most so many bits, 128 or 256 of them, as a group."""
    lanes = len(numbers) // PER_LANE
    columns = numbers.astype("<u4").reshape(PER_LANE, lanes).T
    octets = np.ascontiguousarray(columns)[:, :, np.newaxis].view(np.uint8)
    bits = np.unpackbits(octets, axis=2, bitorder="little")[:, :, :width_bits]
    packed = np.packbits(bits.reshape(lanes, -1), axis=1, bitorder="little")
    words = np.ascontiguousarray(packed).view("<u4")
    return np.ascontiguousarray(words.T).tobytes()


def parse_group(cursor: Cursor, lanes: int, name: str) -> Numbers:
    """Parse the width, u8, and the group behind it. Raises FormatError."""
    start = cursor.offset
    width = cursor.u8(f"width of {name}", "L.index.fts.posting.width")
    if width > PER_LANE:
        raise CorruptPage(
            "L.index.fts.posting.width",
            cursor.ctx.at(start, 1),
            found=f"{width} bits for {name}",
            wanted="at most 32",
        )
    data = cursor.take(4 * lanes * width, name, "L.index.fts.posting.width")
    return unpack(data, width, lanes)


def encode_group(numbers: Numbers) -> bytes:
    """Return the least width that fits, and the group."""
    width = width_of(numbers)
    return bytes([width]) + pack(numbers, width)
