"""Arrays, encoded: a page of 2.0 from an Arrow array.

The inverse of `decode`. What a page says of nulls follows from its rows, not from the schema:
nothing null, some null with a bitmap, or all null without any buffer.

Layout: nullable around flat values and fixed-size lists; the buffers of a page are numbered in the
order of the encoding tree: validity before values, lists before their items.

Clauses: L.array.nullable.validity, L.array.flat.width, L.array.flat.size,
L.array.fixed-size-list.dimension
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import DataRefused
from lanceref.file.column_writer import Buffer
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Flat


class PageBuffers:
    """The buffers of a page while its encoding grows."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []

    def flat(self, data: Buffer, bits: int, compression: str | None = None) -> ArrayEncoding:
        """Add a buffer of values; return its description."""
        encoding = ArrayEncoding()
        encoding.flat.CopyFrom(Flat(bits_per_value=bits))
        encoding.flat.buffer.SetInParent()
        encoding.flat.buffer.buffer_index = len(self.buffers)
        if compression is not None:
            encoding.flat.compression.scheme = compression
        self.buffers.append(data)
        return encoding


def no_nulls(values: ArrayEncoding) -> ArrayEncoding:
    """Wrap values of which none is null."""
    encoding = ArrayEncoding()
    encoding.nullable.no_nulls.values.CopyFrom(values)
    return encoding


def all_nulls() -> ArrayEncoding:
    """Describe rows that are all null, or none at all."""
    encoding = ArrayEncoding()
    encoding.nullable.all_nulls.SetInParent()
    return encoding


def some_nulls(validity: ArrayEncoding, values: ArrayEncoding) -> ArrayEncoding:
    """Wrap values behind their bitmap."""
    encoding = ArrayEncoding()
    encoding.nullable.some_nulls.validity.CopyFrom(validity)
    encoding.nullable.some_nulls.values.CopyFrom(values)
    return encoding


def encode_nullable(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode values of fixed width, or fixed-size lists of them, and which are null."""
    if array.null_count == len(array):
        return all_nulls()
    if array.null_count == 0:
        return no_nulls(_values(array, page))
    validity = page.flat(bits_of(array.buffers()[0], array.offset, len(array)), 1)
    return some_nulls(validity, _values(array, page))


def _values(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        encoding = ArrayEncoding()
        encoding.fixed_size_list.dimension = size
        items = array.values.slice(array.offset * size, len(array) * size)
        encoding.fixed_size_list.items.CopyFrom(encode_nullable(items, page))
        return encoding
    return page.flat(*fixed_width(array))


def fixed_width(array: pa.Array) -> tuple[NDArray[np.uint8], int]:
    """Return the bytes of values of fixed width, and the bits of one. Raises DataRefused."""
    if pa.types.is_boolean(array.type):
        return bits_of(array.buffers()[1], array.offset, len(array)), 1
    try:
        width = int(array.type.bit_width) // 8
    except ValueError as error:
        raise DataRefused(f"2.0 cannot store values of {array.type} here") from error
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    return data[array.offset * width : (array.offset + len(array)) * width], 8 * width


def bits_of(buffer: pa.Buffer, start: int, count: int) -> NDArray[np.uint8]:
    """Return `count` bits of a bitmap from bit `start` on, packed from the first bit of a byte."""
    data = np.frombuffer(buffer, np.uint8)
    flags = np.unpackbits(data[start // 8 : -(-(start + count) // 8)], bitorder="little")
    return np.packbits(flags[start % 8 :][:count], bitorder="little")
