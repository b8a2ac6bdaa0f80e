"""Varints: numbers of 32 bits in groups of seven bits, low groups first.

Layout: bytes whose top bit says that another follows; at most five.

Clauses: L.index.fts.varint
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.byte_runs import ByteRuns

MOST_BYTES = 5

SHORT = MOST_BYTES - 1
"""Bytes of a number that cannot have too many bits."""

FEW = 8
"""Numbers from which parsing all at once pays."""


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
    if count >= FEW and cursor.ctx.spans is None:
        octets = np.frombuffer(cursor.data, np.uint8)[cursor.position :][: MOST_BYTES * count]
        ends = np.flatnonzero(octets < 0x80)[:count]
        starts = np.append(0, ends[:-1] + 1)
        if len(ends) == count and int((ends - starts).max()) < SHORT:
            cursor.skip(int(ends[-1]) + 1, name, "L.index.fts.varint")
            return _short(octets, starts, ends)
    return np.array([parse_varint(cursor, name) for _ in range(count)], np.uint32)


def _short(
    octets: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Numbers:
    """Return numbers of SHORT bytes at most, which cannot have more than 32 bits."""
    values = np.zeros(len(starts), np.uint32)
    for number in range(int((ends - starts).max()) + 1):
        there = starts + number <= ends
        values[there] |= (octets[starts[there] + number] & 0x7F).astype(np.uint32) << 7 * number
    return values


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
