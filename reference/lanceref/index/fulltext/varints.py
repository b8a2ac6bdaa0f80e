"""Varints: numbers of 32 bits in groups of seven bits, low groups first.

Layout: bytes whose top bit says that another follows; at most five.

Clauses: L.index.fts.varint
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage
from lanceref.index.fulltext.bit_packer import Numbers
from lanceref.index.fulltext.byte_runs import ByteRuns

MOST_BYTES = 5


def parse_varint(cursor: Cursor, name: str) -> int:
    """Parse a number. Raises FormatError for more than 32 bits."""
    start = cursor.offset
    value = 0
    for number in range(MOST_BYTES):
        octet = cursor.u8(name, "L.index.fts.varint")
        value |= (octet & 0x7F) << 7 * number
        if octet < 0x80 and value < 1 << 32:
            return value
    raise CorruptPage(
        "L.index.fts.varint",
        cursor.ctx.at(start, MOST_BYTES),
        found=f"more than 32 bits in {name}",
        wanted="a number of 32 bits",
    )


def parse_varints(cursor: Cursor, count: int, name: str) -> Numbers:
    """Parse so many numbers, at least a byte each. Raises FormatError."""
    cursor.require(count, name, "L.index.fts.varint")
    return np.array([parse_varint(cursor, name) for _ in range(count)], np.uint32)


def encode_varint(value: int) -> bytes:
    """Return a number as bytes."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def encode_varints(values: Iterable[int]) -> bytes:
    """Return numbers as bytes, one behind the other."""
    return b"".join(map(encode_varint, values))


def varint_runs(values: Numbers | NDArray[np.uint64]) -> ByteRuns:
    """Return numbers below 2**35 as `encode_varint` does, a run each."""
    if not len(values) or int(values.max()) < 0x80:
        return ByteRuns(values.astype(np.uint8), np.ones(len(values), np.int64))
    sizes = np.ones(len(values), np.int64)
    octets = np.empty((len(values), MOST_BYTES), np.uint8)
    for number in range(MOST_BYTES):
        rest = values >> values.dtype.type(7 * number)
        more = rest >= 0x80
        sizes += more
        octets[:, number] = rest & values.dtype.type(0x7F)
        octets[more, number] |= 0x80
    return ByteRuns(octets[np.arange(MOST_BYTES) < sizes[:, np.newaxis]], sizes)
