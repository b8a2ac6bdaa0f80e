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
from lanceref.core.errors import CorruptPage
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
        width, wanted = self.flat.bits, self.type.bit_width
        columns = []
        for start, end in rows.bounds:
            cursor = next(parts)
            data = cursor.take(cursor.remaining, "values", "L.array.bitpacked.size", self.flat.kind)
            bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
            skip = start * width % 8
            columns.append(bits[skip : skip + (end - start) * width].reshape(-1, width))
        full = np.zeros((rows.count, wanted), np.uint8)
        if columns:
            full[:, :width] = np.concatenate(columns)
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
        size = 128 * self.width
        return [
            Extent(self.extent.offset + first * size, (last - first) * size)
            for first, last in _chunks(rows)
        ]

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Unpack the chunks and cut the rows out of them."""
        dtype = np.dtype(f"<u{self.type.bit_width // 8}")
        pieces = [np.empty(0, dtype)]
        for (first, last), (start, end) in zip(_chunks(rows), rows.bounds, strict=True):
            cursor = next(parts)
            data = cursor.take(
                cursor.remaining,
                "values",
                "L.array.bitpacked-for-non-neg.size",
                f"bitpacked u{self.type.bit_width}",
            )
            packed = np.frombuffer(data, dtype).reshape(last - first, -1)
            values = np.empty((last - first, BLOCK), dtype)
            unpack(packed, self.width, values)
            pieces.append(values.reshape(-1)[start - first * BLOCK : end - first * BLOCK])
        joined = np.concatenate(pieces)
        return pa.Array.from_buffers(self.type, rows.count, [None, pa.py_buffer(joined)])


def _chunks(rows: RowRanges) -> list[tuple[int, int]]:
    return [(start // BLOCK, -(-end // BLOCK)) for start, end in rows.bounds]


def open_bitpacked(
    encoding: pb.Bitpacked, type_: pa.DataType, num_rows: int, page: Page
) -> BitpackedArray:
    """Open values packed back to back."""
    width = _width(encoding, type_, page)
    extent = page.extent(encoding.buffer)
    _check_size(extent, (num_rows * width + 7) // 8, "L.array.bitpacked.size", page)
    flat = RawFlat(extent, width, "values", f"bitpacked {type_}")
    return BitpackedArray(type_, flat, encoding.signed)


def open_bitpacked_for_non_neg(
    encoding: pb.BitpackedForNonNeg, type_: pa.DataType, num_rows: int, page: Page
) -> FastLanesArray:
    """Open values packed in FastLanes chunks."""
    width = _width(encoding, type_, page)
    extent = page.extent(encoding.buffer)
    chunks = -(-num_rows // BLOCK)
    _check_size(extent, chunks * 128 * width, "L.array.bitpacked-for-non-neg.size", page)
    return FastLanesArray(type_, extent, width)


def _width(encoding: pb.Bitpacked | pb.BitpackedForNonNeg, type_: pa.DataType, page: Page) -> int:
    bits = slot_bits(type_)
    width, full = encoding.compressed_bits_per_value, encoding.uncompressed_bits_per_value
    if bits not in (8, 16, 32, 64) or full != bits or not 0 < width <= bits:
        raise CorruptPage(  # L.array.bitpacked.width
            "L.array.bitpacked.width",
            page.place,
            found=f"{full} bits packed into {width}",
            wanted=f"values of {type_} in 1 to {bits} bits",
        )
    return int(width)


def _check_size(extent: Extent, size: int, clause: str, page: Page) -> None:
    if extent.size != size:
        raise CorruptPage(
            clause,
            page.at(extent),
            found=f"a buffer of {extent.size} bytes",
            wanted=f"{size} bytes of packed values",
        )
