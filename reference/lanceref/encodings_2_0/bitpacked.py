"""Bitpacked integers: values of fewer bits than their type.

Two forms, neither written by the writers of today. `bitpacked` packs values back to back, least
significant bit first, and sign-extends them when they are signed. `bitpacked_for_non_neg` packs
chunks of 1024 values in the FastLanes order, the last one filled up with zeros.

Layout, bitpacked: value i at bit i * width; size ceil(rows * width / 8).
Layout, bitpacked_for_non_neg: chunk c of 128 * width bytes at c * 128 * width.

Clauses: L.array.bitpacked.width, L.array.bitpacked.size, L.array.bitpacked-for-non-neg.size
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.codecs.bitpack import BLOCK, unpack
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, expect
from lanceref.encodings_2_0.flat import RawFlat, slot_bits
from lanceref.encodings_2_0.page import Page, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb


@dataclass(frozen=True, slots=True)
class BitpackedArray:
    """Integers of `flat.bits` bits each, back to back."""

    type: pa.DataType
    flat: RawFlat
    signed: bool

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the packed values."""
        return self.flat.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Spread the bits of each value to the width of its type."""
        width = self.flat.bits
        full = np.zeros((rows.count, self.type.bit_width), np.uint8)
        at = 0
        for start, end in rows.bounds:
            cursor = next(parts)
            data = cursor.take(cursor.remaining, "values", "L.array.bitpacked.size", self.flat.kind)
            bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
            skip, count = start * width % 8, end - start
            full[at : at + count, :width] = bits[skip : skip + count * width].reshape(-1, width)
            at += count
        if self.signed:
            full[:, width:] = full[:, width - 1 : width]
        values = np.packbits(full.reshape(-1), bitorder="little")
        return pa.Array.from_buffers(self.type, rows.count, [None, pa.py_buffer(values)])


@dataclass(frozen=True, slots=True)
class FastLanesArray:
    """Integers in FastLanes chunks of `width` bits a value."""

    type: pa.DataType
    extent: Extent
    width: int

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the chunks that hold the rows."""
        size, offset = 128 * self.width, self.extent.offset
        return [Extent(offset + a * size, (b - a) * size) for a, b in _chunks(rows)]

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Unpack the chunks and cut the rows out of them."""
        bits = self.type.bit_width
        dtype = np.dtype(f"<u{bits // 8}")
        clause, kind = "L.array.bitpacked-for-non-neg.size", f"bitpacked u{bits}"
        pieces = [np.empty(0, dtype)]
        for (first, last), (start, end) in zip(_chunks(rows), rows.bounds, strict=True):
            cursor = next(parts)
            data = cursor.take(cursor.remaining, "values", clause, kind)
            values = np.empty((last - first, BLOCK), dtype)
            unpack(np.frombuffer(data, dtype).reshape(last - first, -1), self.width, values)
            pieces.append(values.reshape(-1)[start - first * BLOCK : end - first * BLOCK])
        buffers = [None, pa.py_buffer(np.concatenate(pieces))]
        return pa.Array.from_buffers(self.type, rows.count, buffers)


def _chunks(rows: RowRanges) -> list[tuple[int, int]]:
    return [(start // BLOCK, -(-end // BLOCK)) for start, end in rows.bounds]


def open_bitpacked(
    encoding: pb.Bitpacked, type_: pa.DataType, num_rows: int, page: Page
) -> BitpackedArray:
    """Open values packed back to back."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    size = (num_rows * width + 7) // 8
    expect("L.array.bitpacked.size", extent.size, size, page.at(extent))
    flat = RawFlat(extent, width, "values", f"bitpacked {type_}")
    return BitpackedArray(type_, flat, encoding.signed)


def open_bitpacked_for_non_neg(
    encoding: pb.BitpackedForNonNeg, type_: pa.DataType, num_rows: int, page: Page
) -> FastLanesArray:
    """Open values packed in FastLanes chunks."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    size = -(-num_rows // BLOCK) * 128 * width
    expect("L.array.bitpacked-for-non-neg.size", extent.size, size, page.at(extent))
    return FastLanesArray(type_, extent, width)


def _width(encoding: pb.Bitpacked | pb.BitpackedForNonNeg, type_: pa.DataType, page: Page) -> int:
    bits = slot_bits(type_)
    width, full = encoding.compressed_bits_per_value, encoding.uncompressed_bits_per_value
    if bits not in (8, 16, 32, 64) or full != bits or not 0 < width <= bits:
        found, wanted = f"{full} bits packed into {width}", f"{type_} in 1 to {bits} bits"
        raise CorruptPage("L.array.bitpacked.width", page.place, found=found, wanted=wanted)
    return int(width)
