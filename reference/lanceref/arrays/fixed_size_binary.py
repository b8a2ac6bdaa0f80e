"""Fixed-size binary: strings that all have the same width.

An old writer's choice for strings of equal length: only the bytes are stored. The field may be of
fixed-size binary type or of any string type. No writer of today produces it.

Layout: row i at i * byte_width.

Clauses: L.array.fixed-size-binary.width
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.arrays.binary import variable_array
from lanceref.arrays.flat import FlatArray, FlatValues, bare_flat, open_flat, slot_bits
from lanceref.arrays.page import Page, PageArray
from lanceref.arrays.rows import RowRanges
from lanceref.codecs.values import Variable
from lanceref.cursor import Cursor, Extent
from lanceref.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb


@dataclass(frozen=True, slots=True)
class EqualStrings:
    """Strings of `width` bytes each."""

    page: Page
    bytes: FlatValues
    extent: Extent
    width: int
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the bytes."""
        return self.bytes.plan(rows.scaled(self.width))

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Compute the offsets that are not stored."""
        data = self.bytes.data(rows.scaled(self.width), parts)
        offsets = np.arange(rows.count + 1, dtype=np.int64) * self.width
        nulls = np.zeros(rows.count, np.bool_)
        place = self.page.at(self.extent)
        return variable_array(Variable(offsets, data), nulls, self.type, self.page, place)


def open_fixed_size_binary(
    encoding: pb.FixedSizeBinary, type_: pa.DataType, num_rows: int, page: Page
) -> PageArray:
    """Open strings of one width; the bytes may be described as bytes or as whole values."""
    width = encoding.byte_width
    flat = bare_flat(encoding.bytes, page, "bytes")
    variable = slot_bits(type_) is None and not pa.types.is_nested(type_)
    fits = variable and not pa.types.is_dictionary(type_) and width > 0
    if pa.types.is_fixed_size_binary(type_):
        fits = width == type_.byte_width
    if not fits or flat.bits_per_value not in (8, 8 * width):
        raise CorruptPage(  # L.array.fixed-size-binary.width
            "L.array.fixed-size-binary.width",
            page.place,
            found=f"strings of {width} bytes stored as {flat.bits_per_value} bits",
            wanted=f"values of {type_}",
        )
    as_bytes = pb.Flat(bits_per_value=8, buffer=flat.buffer)
    if flat.HasField("compression"):
        as_bytes.compression.CopyFrom(flat.compression)
    if not variable:
        as_bytes.bits_per_value = 8 * width
        return FlatArray(open_flat(as_bytes, num_rows, page, "values", f"{type_}[]"), type_)
    values = open_flat(as_bytes, num_rows * width, page, "bytes", "bytes")
    return EqualStrings(page, values, page.extent(flat.buffer), width, type_)
