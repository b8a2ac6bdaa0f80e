"""Packed struct: rows stored one after another in one buffer.

For each row the bytes of the children in field order, without padding. The inner encodings give
only the widths; the buffers they name mean nothing. Neither rows nor children can be null.

Layout: row r of stride s bytes at r * s; child c at the sum of the widths before it.

Clauses: L.array.packed-struct.size, L.array.packed-struct.children, L.array.packed-struct.width
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.encodings_2_0.flat import RawFlat, bare_flat, slot_bits
from lanceref.encodings_2_0.page import Page, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb


@dataclass(frozen=True, slots=True)
class PackedStructArray:
    """Rows of a packed struct; `widths` in bytes, one for each child."""

    type: pa.DataType
    rows: RawFlat
    widths: tuple[int, ...]

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the rows."""
        return self.rows.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Cut the rows into columns."""
        count = rows.count
        table = self.rows.data(rows, parts).reshape(count, sum(self.widths))
        children, at = [], 0
        for field, width in zip(self.type, self.widths, strict=True):
            column = np.ascontiguousarray(table[:, at : at + width]).reshape(-1)
            children.append(fixed_array(field.type, count, column))
            at += width
        return pa.Array.from_buffers(self.type, count, [None], children=children)


def fixed_array(type_: pa.DataType, count: int, data: NDArray[np.uint8]) -> pa.Array:
    """Build an array without nulls of a fixed-width type, or of fixed-size lists of one."""
    if pa.types.is_fixed_size_list(type_):
        items = fixed_array(type_.value_type, count * type_.list_size, data)
        return pa.Array.from_buffers(type_, count, [None], children=[items])
    return pa.Array.from_buffers(type_, count, [None, pa.py_buffer(data)])


def open_packed_struct(
    encoding: pb.PackedStruct, type_: pa.DataType, num_rows: int, page: Page
) -> PackedStructArray:
    """Open rows whose children have the widths that the schema gives them."""
    num_fields = type_.num_fields if pa.types.is_struct(type_) else None
    if len(encoding.inner) != num_fields:  # L.array.packed-struct.children
        raise CorruptPage(
            "L.array.packed-struct.children",
            page.place,
            found=f"a packed struct of {len(encoding.inner)} children",
            wanted=f"the children of {type_}",
        )
    widths = []
    for inner, field in zip(encoding.inner, type_, strict=True):
        bits = _child_bits(inner, page)
        if bits != slot_bits(field.type) or bits % 8 or pa.types.is_boolean(field.type):
            raise CorruptPage(  # L.array.packed-struct.width
                "L.array.packed-struct.width",
                page.place,
                found=f"a child of {bits} bits",
                wanted=f"whole bytes of {field.type} for {field.name!r}",
            )
        widths.append(bits // 8)
    extent = page.extent(encoding.buffer)
    if extent.size != num_rows * sum(widths):  # L.array.packed-struct.size
        raise CorruptPage(
            "L.array.packed-struct.size",
            page.at(extent),
            found=f"a buffer of {extent.size} bytes",
            wanted=f"{num_rows} rows of {sum(widths)} bytes",
        )
    rows = RawFlat(extent, 8 * sum(widths), "rows", "packed rows")
    return PackedStructArray(type_, rows, tuple(widths))


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
