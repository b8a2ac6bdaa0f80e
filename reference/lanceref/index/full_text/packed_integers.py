"""Packed integers: bit-packed groups and varints, and many of them in one buffer.

A group has 128 or 256 small numbers, each with as many bits as the largest needs. They lie in 4 or
8 lanes: number i in lane i % lanes. A lane is a stream of bits, low bits first, cut into words of
32 bits; the words of the lanes take turns. A varint has seven bits of a number in each byte, the
low ones first; the top bit of a byte says that another follows.

Writers encode millions of small pieces: all that are alike at once, as byte runs, which are brought
into order afterwards.

Layout (little-endian): group: u8 width, then width x lanes words, u32; word w of lane j is the
(lanes x w + j)-th. Varint: one to five bytes.

Clauses: L.index.fts.posting.width, L.index.fts.varint
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage

Numbers = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.int64]

PER_LANE = 32
"""Numbers of a lane."""

MOST_BYTES = 5
"""Bytes of a varint at most."""


@dataclass(frozen=True, slots=True)
class ByteRuns:
    """Runs of bytes, one after the other: uint8 [all bytes], and the size of each, int64 [runs]."""

    data: NDArray[np.uint8]
    sizes: Counts

    @property
    def ends(self) -> Counts:
        """Where the runs begin, and where the last ends: int64 [runs + 1]."""
        return offsets_of(self.sizes)

    def take(self, order: Counts) -> ByteRuns:
        """Return runs by their numbers. `order` (n,)."""
        sizes = self.sizes[order]
        return ByteRuns(self.data[ranges(self.ends[:-1][order], sizes)], sizes)

    def merged(self, counts: Counts) -> ByteRuns:
        """Return so many runs each time as one. `counts` (merged runs,)."""
        return ByteRuns(self.data, np.diff(self.ends[offsets_of(counts)]))

    def as_bytes(self) -> list[bytes]:
        """Return the bytes of each run as an object of its own."""
        data, ends = self.data.tobytes(), self.ends.tolist()
        return [data[start:end] for start, end in pairwise(ends)]


def offsets_of(sizes: Counts) -> Counts:
    """Return where runs of some sizes begin, and where the last ends: int64 [runs + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def ranges(starts: Counts, sizes: Counts) -> Counts:
    """Return the numbers from each start (n,) on, as many as its size (n,): (sum of sizes,)."""
    shifts = starts - offsets_of(sizes)[:-1]
    return np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))


def split_groups(counts: Counts, size: int) -> tuple[Counts, Counts, Counts]:
    """Split groups of values that follow each other into runs of at most `size`.

    Returns where runs begin, how many values each has, and the runs of each group. `counts`
    (groups,); the first two results (runs,), the last (groups,).
    """
    runs = -(-counts // size)
    within = np.arange(int(runs.sum())) - np.repeat(offsets_of(runs)[:-1], runs)
    starts = np.repeat(offsets_of(counts)[:-1], runs) + within * size
    return starts, np.minimum(np.repeat(counts, runs) - within * size, size), runs


def word_runs(values: NDArray[np.generic]) -> ByteRuns:
    """Return the bytes of each value as they lie in memory. `values` (n,), a run each."""
    data = np.ascontiguousarray(values).view(np.uint8)
    return ByteRuns(data, np.full(len(values), values.itemsize, np.int64))


def concat_runs(parts: Sequence[ByteRuns]) -> ByteRuns:
    """Return the runs of all parts, those of the first in front."""
    data = np.concatenate([part.data for part in parts])
    return ByteRuns(data, np.concatenate([part.sizes for part in parts]))


def zip_runs(*parts: ByteRuns) -> ByteRuns:
    """Return runs that hold the bytes of the first part, then of the second, and so on."""
    number, rows = len(parts), len(parts[0].sizes)
    order = np.arange(number * rows).reshape(number, rows).T.reshape(-1)
    return concat_runs(parts).take(order).merged(np.full(rows, number, np.int64))


def arrange_runs(parts: Sequence[ByteRuns], places: Sequence[Counts]) -> ByteRuns:
    """Return the runs of all parts in the order of the places (runs,) given for each part."""
    return concat_runs(parts).take(np.argsort(np.concatenate(places), kind="stable"))


def unpack(data: memoryview, width_bits: int, lanes: int) -> Numbers:
    """Return the 32 x lanes numbers of a group, (32 * lanes,)."""
    words = np.frombuffer(data, np.uint8).reshape(width_bits, lanes, 4)
    streams = words.transpose(1, 0, 2).reshape(lanes, -1)  # the bytes of each lane
    bits = np.unpackbits(streams, axis=1, bitorder="little")
    numbers = np.zeros((lanes, PER_LANE, 32), np.uint8)
    numbers[:, :, :width_bits] = bits.reshape(lanes, PER_LANE, width_bits)
    values = np.packbits(numbers, axis=2, bitorder="little").view("<u4")[:, :, 0]
    return np.ascontiguousarray(values.T).reshape(-1)


def parse_group(cursor: Cursor, lanes: int, name: str) -> Numbers:
    """Parse a width and its group, (32 * lanes,). Raises FormatError."""
    start = cursor.offset
    width = cursor.u8(f"width of {name}", "L.index.fts.posting.width")
    if width > PER_LANE:
        place, found = cursor.ctx.at(start, 1), f"{width} bits for {name}"
        raise CorruptPage("L.index.fts.posting.width", place, found, "at most 32")
    data = cursor.take(4 * lanes * width, name, "L.index.fts.posting.width")
    return unpack(data, width, lanes)


def pack_rows(rows: Numbers, width_bits: int) -> NDArray[np.uint8]:
    """Return groups whose numbers have at most so many bits: [groups, 128 or 256] as bytes."""
    lanes = rows.shape[1] // PER_LANE
    columns = rows.astype("<u4").reshape(len(rows), PER_LANE, lanes).transpose(0, 2, 1)
    octets = np.ascontiguousarray(columns)[..., np.newaxis].view(np.uint8)
    bits = np.unpackbits(octets, axis=3, bitorder="little")[..., :width_bits]
    packed = np.packbits(bits.reshape(len(rows), lanes, -1), axis=2, bitorder="little")
    words = np.ascontiguousarray(packed).view("<u4").transpose(0, 2, 1)
    octets = np.ascontiguousarray(words).view(np.uint8)
    return octets.reshape(len(rows), -1)


def widths_of(rows: Numbers) -> NDArray[np.uint8]:
    """Return the bits that the largest number of each row (n, size) needs: (n,)."""
    _, bits = np.frexp(rows.max(axis=1, initial=0).astype(np.float64))
    return np.asarray(bits, np.uint8)


def pack_runs(rows: Numbers, widths: NDArray[np.uint8]) -> ByteRuns:
    """Return each row (n, size) of numbers as a group of its width (n,), without the width."""
    parts, places = [ByteRuns(np.empty(0, np.uint8), np.empty(0, np.int64))], [np.empty(0, int)]
    for width in np.unique(widths):
        own = np.flatnonzero(widths == width)
        packed = pack_rows(rows[own], int(width)) if width else np.empty((len(own), 0), np.uint8)
        parts.append(ByteRuns(packed.reshape(-1), np.full(len(own), packed.shape[1], np.int64)))
        places.append(own)
    return arrange_runs(parts, places)


def group_runs(rows: Numbers) -> ByteRuns:
    """Return each row of numbers as a width and its group. `rows` (n, size)."""
    widths = widths_of(rows)
    return zip_runs(word_runs(widths), pack_runs(rows, widths))


def parse_varint(cursor: Cursor, name: str) -> int:
    """Parse a number. Raises FormatError for more than 32 bits."""
    start = cursor.offset
    value = 0
    for number in range(MOST_BYTES):
        octet = cursor.u8(name, "L.index.fts.varint")
        value |= (octet & 0x7F) << 7 * number
        if octet < 0x80 and value < 1 << 32:
            return value
    place = cursor.ctx.at(start, MOST_BYTES)
    raise CorruptPage("L.index.fts.varint", place, f"more than 32 bits in {name}", "32 bits")


@specified
def parse_varints(cursor: Cursor, count: int, name: str) -> Numbers:
    """Parse so many numbers, at least a byte each: (count,). Raises FormatError."""
    cursor.require(count, name, "L.index.fts.varint")
    return np.array([parse_varint(cursor, name) for _ in range(count)], np.uint32)


def varint_runs(values: Numbers | NDArray[np.uint64]) -> ByteRuns:
    """Return numbers below 2**35 as varints, a run each. `values` (n,)."""
    if int(values.max(initial=0)) < 0x80:
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
