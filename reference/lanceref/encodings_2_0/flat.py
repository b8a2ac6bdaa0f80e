"""Flat: values of one width, back to back.

The leaf of nearly every array encoding. It lies in one buffer of the page. Widths are 1 bit (a
bitmap, least significant bit first) or whole bytes (the Arrow value buffer). The bytes may be
compressed as one block (see `compressed`).

Layout: value i of `bits_per_value` bits at bit i * bits_per_value; size ceil(rows * bits / 8).

Clauses: L.array.flat.width, L.array.flat.type-width, L.array.flat.size, L.array.encoding.tag
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, UnknownEncoding
from lanceref.encodings_2_0.bitmaps import gather
from lanceref.encodings_2_0.compressed import Compressed
from lanceref.encodings_2_0.page import Page
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb


def slot_bits(type_: pa.DataType) -> int | None:
    """Return the bits one value takes when stored flat; None for types of variable width."""
    types = pa.types
    if types.is_null(type_):
        return 0
    if types.is_fixed_size_list(type_):
        inner = slot_bits(type_.value_type)
        return None if inner is None else inner * int(type_.list_size)
    if types.is_dictionary(type_) or types.is_nested(type_):
        return None
    try:
        return int(type_.bit_width)
    except ValueError:
        return None


class FlatValues(Protocol):
    """The packed bytes of flat values, stored raw or compressed."""

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents that `data` needs."""

    def data(self, rows: RowRanges, parts: Iterator[Cursor]) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back; 1-bit values packed from bit 0."""


@dataclass(frozen=True, slots=True)
class RawFlat:
    """Flat values as they lie in their buffer; `name` and `kind` describe them in spans."""

    extent: Extent
    bits: int
    name: str
    kind: str

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return one extent for each range: the bytes that hold its values."""
        extents = []
        for start, end in rows.bounds:
            first, last = start * self.bits // 8, (end * self.bits + 7) // 8
            extents.append(Extent(self.extent.offset + first, last - first))
        return extents

    def data(self, rows: RowRanges, parts: Iterator[Cursor]) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back."""
        cuts = list(islice(parts, len(rows.bounds)))
        for cursor in cuts:
            if cursor.ctx.spans is None:
                break
            start, end = cursor.offset, cursor.offset + cursor.remaining
            cursor.ctx.leaf(start, end, self.name, self.kind, "L.array.flat.size")
        return gather([cursor.data for cursor in cuts], rows, self.bits)


@dataclass(frozen=True, slots=True)
class FlatArray:
    """Flat values as an Arrow array of a fixed-width type without nulls."""

    values: FlatValues
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the values."""
        return self.values.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Put the values under an Arrow array; nothing is copied for one range."""
        data = self.values.data(rows, parts)
        return pa.Array.from_buffers(self.type, rows.count, [None, pa.py_buffer(data)])


def open_flat_array(flat: pb.Flat, type_: pa.DataType, num_rows: int, page: Page) -> FlatArray:
    """Open flat values of a fixed-width Arrow type."""
    bits = slot_bits(type_)
    if bits is None or flat.bits_per_value != bits or pa.types.is_fixed_size_list(type_):
        raise CorruptPage(  # L.array.flat.type-width
            "L.array.flat.type-width",
            page.place,
            found=f"flat values of {flat.bits_per_value} bits",
            wanted=f"values of {type_}",
        )
    kind = "bitmap" if bits == 1 else f"{type_}[]"
    return FlatArray(open_flat(flat, num_rows, page, "values", kind), type_)


def open_flat(flat: pb.Flat, num_values: int, page: Page, name: str, kind: str) -> FlatValues:
    """Open a flat buffer of `num_values` values; its size must be exactly what they need."""
    extent, bits = page.extent(flat.buffer), int(flat.bits_per_value)
    if bits != 1 and (bits == 0 or bits % 8):  # L.array.flat.width
        raise CorruptPage(
            "L.array.flat.width", page.place, found=f"{bits} bits", wanted="1 bit or whole bytes"
        )
    size = (num_values * bits + 7) // 8
    if is_compressed(flat):
        return Compressed(page, extent, flat.compression.scheme, size, bits, name)
    if extent.size != size:  # L.array.flat.size
        raise CorruptPage(
            "L.array.flat.size",
            page.at(extent),
            found=f"a buffer of {extent.size} bytes",
            wanted=f"{size} bytes for {num_values} {name} of {bits} bits",
        )
    return RawFlat(extent, bits, name, kind)


def is_compressed(flat: pb.Flat) -> bool:
    """Whether the bytes of the buffer have to be decompressed."""
    return flat.HasField("compression") and flat.compression.scheme not in ("", "none")


def bare_flat(encoding: pb.ArrayEncoding, page: Page, what: str) -> pb.Flat:
    """Return the flat encoding of an array that has no nulls, wrapped as nullable or not."""
    arm = encoding.WhichOneof("array_encoding")
    if arm == "nullable" and encoding.nullable.WhichOneof("nullability") == "no_nulls":
        encoding = encoding.nullable.no_nulls.values
        arm = encoding.WhichOneof("array_encoding")
    if arm != "flat":  # L.array.encoding.tag
        raise UnknownEncoding(
            "L.array.encoding.tag", page.place, found=f"{what} stored as {arm}", wanted="flat"
        )
    return encoding.flat
