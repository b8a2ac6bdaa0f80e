"""Bit-packed groups: 128 or 256 small numbers, each with as many bits as the largest needs.

The numbers lie in 4 or 8 lanes: number i in lane i % lanes. A lane is a stream of bits, low bits
first, cut into words of 32 bits; the words of the lanes take turns.

Layout (little-endian): width x lanes words, u32; word w of lane j is the (lanes x w + j)-th.

Clauses: L.index.fts.posting.width
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.index.full_text.byte_runs import ByteRuns, beside, of_words, placed

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
    rows = np.frombuffer(data, np.uint8)[np.newaxis]
    return unpack_rows(rows, width_bits, lanes).reshape(-1)


def unpack_rows(rows: NDArray[np.uint8], width_bits: int, lanes: int) -> Numbers:
    """Return the 32 x lanes numbers of each of some groups, with 1 bit or more: uint32.

    Every row has the bytes of a group, and the result a row for each.
    """
    words = rows.view("<u4").reshape(len(rows), width_bits, lanes)
    word, bit = np.divmod(np.arange(PER_LANE) * width_bits, 32)
    numbers = words.take(word, axis=1)
    numbers >>= bit.astype(np.uint32)[:, np.newaxis]
    split = np.flatnonzero(bit + width_bits > 32)  # these go on in the next word
    rest = words.take(word[split] + 1, axis=1)
    rest <<= (32 - bit[split]).astype(np.uint32)[:, np.newaxis]
    numbers[:, split] |= rest
    numbers &= np.uint32((1 << width_bits) - 1)
    return numbers.reshape(len(rows), PER_LANE * lanes)


def pack(numbers: Numbers, width_bits: int) -> bytes:
    """Return numbers that have at most so many bits, 128 or 256 of them, as a group."""
    return _packed(numbers[np.newaxis], width_bits).tobytes()


def _packed(rows: Numbers, width_bits: int) -> NDArray[np.uint8]:
    """Return groups whose numbers have at most so many bits: uint8 [groups, bytes]."""
    lanes = rows.shape[1] // PER_LANE
    columns = rows.astype("<u4").reshape(len(rows), PER_LANE, lanes).transpose(0, 2, 1)
    octets = np.ascontiguousarray(columns)[..., np.newaxis].view(np.uint8)
    bits = np.unpackbits(octets, axis=3, bitorder="little")[..., :width_bits]
    packed = np.packbits(bits.reshape(len(rows), lanes, -1), axis=2, bitorder="little")
    words = np.ascontiguousarray(packed).view("<u4").transpose(0, 2, 1)
    found: NDArray[np.uint8] = np.ascontiguousarray(words).view(np.uint8).reshape(len(rows), -1)
    return found


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


def widths_of(rows: Numbers) -> NDArray[np.uint8]:
    """Return the bits that the largest of each row needs."""
    _, bits = np.frexp(rows.max(axis=1, initial=0).astype(np.float64))
    found: NDArray[np.uint8] = bits.astype(np.uint8)
    return found


def pack_runs(rows: Numbers, widths: NDArray[np.uint8]) -> ByteRuns:
    """Return each row as a group of its width, as `pack` does; rows: [groups, 128 or 256]."""
    parts, places = [ByteRuns(np.empty(0, np.uint8), np.empty(0, np.int64))], [np.empty(0, int)]
    for width in np.unique(widths[widths > 0]):
        own = np.flatnonzero(widths == width)
        packed = _packed(rows[own], int(width))
        parts.append(ByteRuns(packed.reshape(-1), np.full(len(own), packed.shape[1], np.int64)))
        places.append(own)
    own = np.flatnonzero(widths == 0)
    parts.append(ByteRuns(np.empty(0, np.uint8), np.zeros(len(own), np.int64)))
    return placed(parts, [*places, own])


def group_runs(rows: Numbers) -> ByteRuns:
    """Return each row as `encode_group` does."""
    widths = widths_of(rows)
    return beside(of_words(widths), pack_runs(rows, widths))
