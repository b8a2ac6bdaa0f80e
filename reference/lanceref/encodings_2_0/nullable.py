"""Nullable: whether the rows of a page are valid; fixed-size lists; and both written.

Nulls are decided for each page from its rows, not from the schema: no row is null, every row is
null (then nothing is stored), or some are (a bitmap and the values of all rows). It wraps flat
values and fixed-size lists. The rows of a fixed-size list own the same number of items; the items
(rows * dimension of them, null rows keep theirs) are an encoding with validity of their own.

Layout, some_nulls: validity as flat values of 1 bit (1 = valid), then the values. The buffers of a
page are numbered in the order of the encoding tree: validity before values, lists before items.

Clauses: L.array.nullable.validity, L.array.nullable.all-nulls, L.array.encoding.tag,
L.array.fixed-size-list.dimension, L.array.flat.width, L.array.flat.size
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import bytes_of, slice_bits
from lanceref.core.compute import pc
from lanceref.core.context import expect
from lanceref.core.errors import DataRefused, UnknownEncoding
from lanceref.encodings_2_0.flat import bare_flat, open_flat, slot_bits
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.file.column_io import Buffer
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

Opener = Callable[[ArrayEncoding, pa.DataType, int], ReadRows]
"""Opens an inner encoding as the given number of values of a type."""


def _with_validity(array: pa.Array, bitmap: NDArray[np.uint8]) -> pa.Array:
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
) -> ReadRows:
    """Open the arm that is set. Raises UnknownEncoding."""
    match nullable.WhichOneof("nullability"):
        case "no_nulls":
            return opener(nullable.no_nulls.values, type_, num_rows)
        case "all_nulls":
            return lambda rows: _all_nulls(rows, type_, page)
        case "some_nulls":
            some = nullable.some_nulls
        case _:
            clause, found = "L.array.encoding.tag", "nullable without an arm"
            raise UnknownEncoding(clause, page.place, found, "an arm")
    flat = bare_flat(some.validity, page, "validity")
    expect("L.array.nullable.validity", flat.bits_per_value, 1, page.place)
    validity = open_flat(flat, num_rows, page, "validity", "bitmap")
    values = opener(some.values, type_, num_rows)

    def read(rows: RowRanges) -> pa.Array:
        bitmap = validity.data(rows)
        return _with_validity(values(rows), bitmap)

    return read


def _all_nulls(rows: RowRanges, type_: pa.DataType, page: Page) -> pa.Array:
    """Build nulls, which own no bytes, as many as the caller's limits allow."""
    size = rows.count * (slot_bits(type_) or 0) // 8
    page.file.bound_output(size, "L.array.nullable.all-nulls", page.place, "nulls")
    return pa.nulls(rows.count, type_)


def open_fixed_size_list(
    encoding: pb.FixedSizeList, type_: pa.DataType, num_rows: int, page: Page, opener: Opener
) -> ReadRows:
    """Open lists whose dimension is that of the schema."""
    size = int(encoding.dimension)
    wanted = type_.list_size if pa.types.is_fixed_size_list(type_) else None
    expect("L.array.fixed-size-list.dimension", size, wanted, page.place)
    return FixedSizeListRows(opener(encoding.items, type_.value_type, num_rows * size), type_)


@dataclass(frozen=True, slots=True)
class FixedSizeListRows:
    """Lists of a fixed size whose `items` another encoding of the page reads."""

    items: ReadRows
    type: pa.DataType

    def __call__(self, rows: RowRanges) -> pa.Array:
        """Return rows, range after range. Raises what the items raise."""
        array = self.items(rows.scaled(self.type.list_size))
        return pa.Array.from_buffers(self.type, rows.count, [None], children=[array])


class PageBuffers:
    """The buffers of a page while its encoding grows."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []

    def flat(self, data: Buffer, bits: int, compression: str | None = None) -> ArrayEncoding:
        """Add a buffer of values; return its description."""
        buffer = pb.Buffer(buffer_index=len(self.buffers))
        encoding = ArrayEncoding(flat=pb.Flat(bits_per_value=bits, buffer=buffer))
        if compression is not None:
            encoding.flat.compression.scheme = compression
        self.buffers.append(data)
        return encoding


def no_nulls(values: ArrayEncoding) -> ArrayEncoding:
    """Wrap values of which none is null."""
    return ArrayEncoding(nullable=pb.Nullable(no_nulls=pb.Nullable.NoNull(values=values)))


def all_nulls() -> ArrayEncoding:
    """Describe rows that are all null, or none at all."""
    return ArrayEncoding(nullable=pb.Nullable(all_nulls=pb.Nullable.AllNull()))


def some_nulls(validity: ArrayEncoding, values: ArrayEncoding) -> ArrayEncoding:
    """Return the encoding of values beside a bitmap of which are valid."""
    some = pb.Nullable.SomeNull(validity=validity, values=values)
    return ArrayEncoding(nullable=pb.Nullable(some_nulls=some))


def encode_nullable(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode values of fixed width, or fixed-size lists of them, and which are null."""
    if array.null_count == len(array):
        return all_nulls()
    if array.null_count == 0:
        return no_nulls(_encode_values(array, page))
    bits = slice_bits(bytes_of(array.buffers()[0]), array.offset, len(array))
    validity = page.flat(bits, 1)
    return some_nulls(validity, _encode_values(array, page))


def _encode_values(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    if not pa.types.is_fixed_size_list(array.type):
        return page.flat(*fixed_width(array))
    items = encode_nullable(list_items(array), page)
    lists = pb.FixedSizeList(dimension=array.type.list_size, items=items)
    return ArrayEncoding(fixed_size_list=lists)


def list_items(array: pa.FixedSizeListArray) -> pa.Array:
    """Return the items of all fixed-size lists, those of null ones too."""
    size = array.type.list_size
    return array.values.slice(array.offset * size, len(array) * size)


def innermost_items(array: pa.Array) -> pa.Array:
    """Return what lies below all levels of fixed-size lists."""
    while pa.types.is_fixed_size_list(array.type):
        array = list_items(array)
    return array


def fixed_width(array: pa.Array) -> tuple[NDArray[np.uint8], int]:
    """Return the bytes of values of fixed width, and the bits of one. Raises DataRefused.

    uint8 (bytes,).
    """
    data = bytes_of(array.buffers()[1])
    if pa.types.is_boolean(array.type):
        return slice_bits(data, array.offset, len(array)), 1
    try:
        width = int(array.type.bit_width) // 8
    except ValueError as error:
        raise DataRefused(f"2.0 cannot store values of {array.type} here") from error
    return data[array.offset * width : (array.offset + len(array)) * width], 8 * width
