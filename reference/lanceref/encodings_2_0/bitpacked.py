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

import numpy as np
import pyarrow as pa

from lanceref.codecs.bitpack import BLOCK, unpack
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, expect
from lanceref.encodings_2_0.flat import RawFlat, slot_bits
from lanceref.encodings_2_0.page import Page, PageArray, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb


def open_bitpacked(
    encoding: pb.Bitpacked, type_: pa.DataType, num_rows: int, page: Page
) -> PageArray:
    """Open values packed back to back."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    size, clause = (num_rows * width + 7) // 8, "L.array.bitpacked.size"
    expect(clause, extent.size, size, page.at(extent))
    flat = RawFlat(extent, width, "values", f"bitpacked {type_}")

    def decode(rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Spread the bits of each value to the width of its type."""
        full = np.zeros((rows.count, type_.bit_width), np.uint8)
        at = 0
        for start, end in rows.bounds:
            cursor = next(parts)
            data = cursor.take(cursor.remaining, "values", clause, flat.kind)
            bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
            skip, count = start * width % 8, end - start
            full[at : at + count, :width] = bits[skip : skip + count * width].reshape(-1, width)
            at += count
        if encoding.signed:
            full[:, width:] = full[:, width - 1 : width]
        values = np.packbits(full.reshape(-1), bitorder="little")
        return pa.Array.from_buffers(type_, rows.count, [None, pa.py_buffer(values)])

    return PageArray(flat.plan, decode)


def open_bitpacked_for_non_neg(
    encoding: pb.BitpackedForNonNeg, type_: pa.DataType, num_rows: int, page: Page
) -> PageArray:
    """Open values packed in FastLanes chunks."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    chunk_bytes, clause = 128 * width, "L.array.bitpacked-for-non-neg.size"
    expect(clause, extent.size, -(-num_rows // BLOCK) * chunk_bytes, page.at(extent))
    dtype, kind = np.dtype(f"<u{type_.bit_width // 8}"), f"bitpacked u{type_.bit_width}"

    def chunks(rows: RowRanges) -> list[tuple[int, int]]:
        return [(start // BLOCK, -(-end // BLOCK)) for start, end in rows.bounds]

    def plan(rows: RowRanges) -> list[Extent]:
        offset = extent.offset
        return [Extent(offset + a * chunk_bytes, (b - a) * chunk_bytes) for a, b in chunks(rows)]

    def decode(rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Unpack the chunks and cut the rows out of them."""
        pieces = [np.empty(0, dtype)]
        for (first, last), (start, end) in zip(chunks(rows), rows.bounds, strict=True):
            cursor = next(parts)
            data = cursor.take(cursor.remaining, "values", clause, kind)
            values = np.empty((last - first, BLOCK), dtype)
            unpack(np.frombuffer(data, dtype).reshape(last - first, -1), width, values)
            pieces.append(values.reshape(-1)[start - first * BLOCK : end - first * BLOCK])
        buffers = [None, pa.py_buffer(np.concatenate(pieces))]
        return pa.Array.from_buffers(type_, rows.count, buffers)

    return PageArray(plan, decode)


def _width(encoding: pb.Bitpacked | pb.BitpackedForNonNeg, type_: pa.DataType, page: Page) -> int:
    bits = slot_bits(type_)
    width, full = encoding.compressed_bits_per_value, encoding.uncompressed_bits_per_value
    if bits not in (8, 16, 32, 64) or full != bits or not 0 < width <= bits:
        found, wanted = f"{full} bits packed into {width}", f"{type_} in 1 to {bits} bits"
        raise CorruptPage("L.array.bitpacked.width", page.place, found=found, wanted=wanted)
    return int(width)
