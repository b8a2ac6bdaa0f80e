"""Nullable: whether the rows of a page are valid.

Decided for each page from its data: no row is null, every row is null (then nothing is stored), or
some are (a bitmap and the values of all rows). It wraps flat values and fixed-size lists.

Layout, some_nulls: validity as flat values of 1 bit (1 = valid), then the values.

Clauses: L.array.nullable.validity, L.array.nullable.all-nulls, L.array.encoding.tag
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, UnknownEncoding
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, open_flat, slot_bits
from lanceref.encodings_2_0.page import Page, PageArray
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

Opener = Callable[[pb.ArrayEncoding], PageArray]
"""Opens an inner encoding for the same rows."""


@dataclass(frozen=True, slots=True)
class AllNulls:
    """Rows that are all null and own no bytes."""

    type: pa.DataType
    page: Page

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return nothing: no bytes are stored."""
        return []

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Build nulls, as many as the caller's limits allow."""
        size = rows.count * (slot_bits(self.type) or 0) // 8
        allowed = self.page.ctx.limits.expanded(self.page.file.size)
        if size > allowed:  # L.array.nullable.all-nulls
            raise LimitExceeded(
                "L.array.nullable.all-nulls",
                self.page.place,
                found=f"{rows.count} null rows that take {size} bytes",
                wanted=f"at most {allowed} bytes",
            )
        return pa.nulls(rows.count, self.type)


@dataclass(frozen=True, slots=True)
class SomeNulls:
    """A validity bitmap over values."""

    validity: FlatValues
    values: PageArray

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the bitmap, then those of the values."""
        return [*self.validity.plan(rows), *self.values.plan(rows)]

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Lay the bitmap over the values."""
        bitmap = self.validity.data(rows, parts)
        return with_validity(self.values.decode(rows, parts), bitmap)


def with_validity(array: pa.Array, bitmap: NDArray[np.uint8]) -> pa.Array:
    """Return `array` with null wherever `bitmap` (packed, 1 = valid) holds 0."""
    buffer = pa.py_buffer(bitmap)
    if array.null_count:
        mask = pa.Array.from_buffers(pa.bool_(), len(array), [None, buffer])
        return pc.if_else(mask, array, pa.scalar(None, array.type))
    own = array.buffers()[1 : array.type.num_buffers]
    children = [array.values] if pa.types.is_fixed_size_list(array.type) else None
    return pa.Array.from_buffers(array.type, len(array), [buffer, *own], children=children)


def open_nullable(
    nullable: pb.Nullable, type_: pa.DataType, num_rows: int, page: Page, opener: Opener
) -> PageArray:
    """Open the arm that is set."""
    arm = nullable.WhichOneof("nullability")
    if arm == "no_nulls":
        return opener(nullable.no_nulls.values)
    if arm == "all_nulls":
        return AllNulls(type_, page)
    if arm != "some_nulls":  # L.array.encoding.tag
        raise UnknownEncoding(
            "L.array.encoding.tag",
            page.place,
            found="nullable without an arm",
            wanted="no_nulls, some_nulls or all_nulls",
        )
    flat = bare_flat(nullable.some_nulls.validity, page, "validity")
    if flat.bits_per_value != 1:  # L.array.nullable.validity
        raise CorruptPage(
            "L.array.nullable.validity",
            page.place,
            found=f"validity of {flat.bits_per_value} bits",
            wanted="1 bit for each row",
        )
    validity = open_flat(flat, num_rows, page, "validity", "bitmap")
    return SomeNulls(validity, opener(nullable.some_nulls.values))
