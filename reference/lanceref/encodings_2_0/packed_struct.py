"""Packed struct: rows stored one after another in one buffer.

For each row the bytes of the children in field order, without padding. The inner encodings give
only the widths; the buffers they name mean nothing. Neither rows nor children can be null.

Layout: row r of stride s bytes at r * s; child c at the sum of the widths before it.

Clauses: L.array.packed-struct.size, L.array.packed-struct.children, L.array.packed-struct.width
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, DataRefused, expect
from lanceref.encodings_2_0.flat import RawFlat, bare_flat, slot_bits
from lanceref.encodings_2_0.nullable import (
    PageBuffers,
    encode_nullable,
    fixed_array,
    fixed_width,
    innermost_items,
)
from lanceref.encodings_2_0.page import Page, PageArray, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding


def open_packed_struct(
    encoding: pb.PackedStruct, type_: pa.DataType, num_rows: int, page: Page
) -> PageArray:
    """Open rows whose children have the widths that the schema gives them."""
    num_fields = type_.num_fields if pa.types.is_struct(type_) else None
    expect("L.array.packed-struct.children", len(encoding.inner), num_fields, page.place)
    widths = []
    for inner, field in zip(encoding.inner, type_, strict=True):
        bits = _child_bits(inner, page)
        if bits != slot_bits(field.type) or bits % 8 or pa.types.is_boolean(field.type):
            clause, wanted = "L.array.packed-struct.width", f"whole bytes of {field.type}"
            raise CorruptPage(clause, page.place, found=f"{bits} bits", wanted=wanted)
        widths.append(bits // 8)
    extent, size = page.extent(encoding.buffer), num_rows * sum(widths)
    expect("L.array.packed-struct.size", extent.size, size, page.at(extent))
    stored = RawFlat(extent, 8 * sum(widths), "rows", "packed rows")

    def decode(rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        table = stored.data(rows, parts).reshape(rows.count, sum(widths))
        children, at = [], 0
        for field, width in zip(type_, widths, strict=True):
            column = np.ascontiguousarray(table[:, at : at + width]).reshape(-1)
            children.append(fixed_array(field.type, rows.count, column))
            at += width
        return pa.Array.from_buffers(type_, rows.count, [None], children=children)

    return PageArray(stored.plan, decode)


def _child_bits(encoding: ArrayEncoding, page: Page) -> int:
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


def encode_packed(array: pa.StructArray, page: PageBuffers) -> ArrayEncoding:
    """Encode the rows of a packed struct as one buffer. Raises DataRefused for nulls and bits."""
    children = [array.field(i) for i in range(array.type.num_fields)]
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
    return ArrayEncoding(packed_struct=pb.PackedStruct(inner=inner, buffer=pb.Buffer()))
