"""Packed values: integers of fewer bits than their type, and rows of structs in one buffer.

Two forms of integers, neither written by the writers of today. `bitpacked` packs values back to
back, least significant bit first, and sign-extends them when they are signed.
`bitpacked_for_non_neg` packs chunks of 1024 values in the FastLanes order, the last one filled up
with zeros. A packed struct stores for each row the bytes of the children in field order, without
padding. Its inner encodings give only the widths; the buffers they name mean nothing. Neither rows
nor children can be null.

Layout, bitpacked: value i at bit i * width; size ceil(rows * width / 8).
Layout, bitpacked_for_non_neg: chunk c of 128 * width bytes at c * 128 * width.
Layout, packed struct: row r of stride s bytes at r * s; child c at the sum of the widths before it.

Clauses: L.array.bitpacked.width, L.array.bitpacked.size, L.array.bitpacked-for-non-neg.size,
L.array.packed-struct.size, L.array.packed-struct.children, L.array.packed-struct.width
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lanceref.codecs.bitpack import BLOCK, unpack
from lanceref.core.arrow_buffers import children_of
from lanceref.core.context import expect
from lanceref.core.cursor import Extent
from lanceref.core.errors import CorruptPage, DataRefused
from lanceref.core.packed_values import fixed_array
from lanceref.encodings_2_0.flat import (
    PageBuffers,
    RawFlat,
    bare_flat,
    encode_nullable,
    fixed_width,
    innermost_items,
)
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.file.schema import slot_bits
from lanceref.proto import encodings_v2_0_pb2 as pb


def open_bitpacked(
    encoding: pb.Bitpacked, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open values that are packed back to back at one bit width."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    size, clause = (num_rows * width + 7) // 8, "L.array.bitpacked.size"
    expect(clause, extent.size, size, page.at(extent))
    flat = RawFlat(page.file, extent, 1, "values", f"bitpacked {type_}", clause)

    def read(rows: RowRanges) -> pa.Array:
        """Spread the bits of each value to the width of its type."""
        full, bits = np.zeros((rows.count, type_.bit_width), np.uint8), rows.scaled(width)
        stored = np.unpackbits(flat.data(bits), count=rows.count * width, bitorder="little")
        full[:, :width] = stored.reshape(-1, width)
        if encoding.signed:
            full[:, width:] = full[:, width - 1 : width]
        values = np.packbits(full.reshape(-1), bitorder="little")
        return pa.Array.from_buffers(type_, rows.count, [None, pa.py_buffer(values)])

    return read


def open_bitpacked_for_non_neg(
    encoding: pb.BitpackedForNonNeg, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open values that are packed in FastLanes blocks of 1 024."""
    width, extent = _width(encoding, type_, page), page.extent(encoding.buffer)
    chunk_bytes, clause = 128 * width, "L.array.bitpacked-for-non-neg.size"
    expect(clause, extent.size, -(-num_rows // BLOCK) * chunk_bytes, page.at(extent))
    dtype, kind = np.dtype(f"<u{type_.bit_width // 8}"), f"bitpacked u{type_.bit_width}"

    def read(rows: RowRanges) -> pa.Array:
        """Unpack the chunks and cut the rows out of them."""
        pieces = [np.empty(0, dtype)]
        for start, end in zip(rows.starts.tolist(), rows.ends.tolist(), strict=True):
            first, last = start // BLOCK, -(-end // BLOCK)
            stored = Extent(extent.offset + first * chunk_bytes, (last - first) * chunk_bytes)
            cursor = page.file.cursor(stored, "page buffer", "L.file.pages.extent")
            data = cursor.take(cursor.remaining, "values", clause, kind)
            values = np.empty((last - first, BLOCK), dtype)
            unpack(np.frombuffer(data, dtype).reshape(last - first, -1), width, values)
            pieces.append(values.reshape(-1)[start - first * BLOCK : end - first * BLOCK])
        buffers = [None, pa.py_buffer(np.concatenate(pieces))]
        return pa.Array.from_buffers(type_, rows.count, buffers)

    return read


def _width(encoding: pb.Bitpacked | pb.BitpackedForNonNeg, type_: pa.DataType, page: Page) -> int:
    bits = slot_bits(type_)
    width, full = encoding.compressed_bits_per_value, encoding.uncompressed_bits_per_value
    if bits not in (8, 16, 32, 64) or full != bits or not 0 < width <= bits:
        found, wanted = f"{full} bits packed into {width}", f"{type_} in 1 to {bits} bits"
        raise CorruptPage("L.array.bitpacked.width", page.place, found, wanted)
    return int(width)


def open_packed_struct(
    encoding: pb.PackedStruct, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open rows whose children have the widths that the schema gives them. Raises CorruptPage."""
    num_fields = type_.num_fields if pa.types.is_struct(type_) else None
    expect("L.array.packed-struct.children", len(encoding.inner), num_fields, page.place)
    widths = []
    for inner, field in zip(encoding.inner, type_, strict=True):
        bits = _child_bits(inner, page)
        if bits != slot_bits(field.type) or bits % 8 or pa.types.is_boolean(field.type):
            clause, wanted = "L.array.packed-struct.width", f"whole bytes of {field.type}"
            raise CorruptPage(clause, page.place, f"{bits} bits", wanted)
        widths.append(bits // 8)
    extent, size = page.extent(encoding.buffer), num_rows * sum(widths)
    expect("L.array.packed-struct.size", extent.size, size, page.at(extent))
    stored = RawFlat(page.file, extent, 8 * sum(widths), "rows", "packed rows")

    def read(rows: RowRanges) -> pa.Array:
        table = stored.data(rows).reshape(rows.count, sum(widths))
        children, at = [], 0
        for field, width in zip(type_, widths, strict=True):
            column = np.ascontiguousarray(table[:, at : at + width]).reshape(-1)
            children.append(fixed_array(field.type, rows.count, column))
            at += width
        return pa.Array.from_buffers(type_, rows.count, [None], children=children)

    return read


def _child_bits(encoding: pb.ArrayEncoding, page: Page) -> int:
    """Return the bits of one value of a child: flat, or fixed-size lists of flat."""
    factor = 1
    while encoding.WhichOneof("array_encoding") in ("nullable", "fixed_size_list"):
        if encoding.HasField("fixed_size_list"):
            factor *= encoding.fixed_size_list.dimension
            encoding = encoding.fixed_size_list.items
        elif encoding.nullable.WhichOneof("nullability") == "no_nulls":
            encoding = encoding.nullable.no_nulls.values
        else:
            break
    return factor * int(bare_flat(encoding, page, "a child of a packed struct").bits_per_value)


def encode_packed(array: pa.StructArray, page: PageBuffers) -> pb.ArrayEncoding:
    """Encode the rows of a packed struct as one buffer. Raises DataRefused for nulls and bits."""
    children = children_of(array)
    if not children:
        raise DataRefused("a packed struct needs a child")
    leaves = list(map(innermost_items, children))
    if array.null_count or any(one.null_count for one in (*children, *leaves)):
        raise DataRefused("a packed struct of 2.0 cannot hold nulls")
    cells = []
    for leaf in leaves:
        data, bits = fixed_width(leaf)
        if bits % 8:
            raise DataRefused("a packed struct cannot hold booleans")
        cells.append(np.ascontiguousarray(data).reshape(len(array), -1))
    page.buffers.append(np.concatenate(cells, axis=1).reshape(-1))
    inner = [encode_nullable(child, PageBuffers()) for child in children]
    return pb.ArrayEncoding(packed_struct=pb.PackedStruct(inner=inner, buffer=pb.Buffer()))
