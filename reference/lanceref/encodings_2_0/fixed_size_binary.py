"""Fixed-size binary: strings that all have the same width.

An old writer's choice for strings of equal length: only the bytes are stored. The field is of a
string type; fields of Arrow's fixed-size binary type are stored flat. No writer of today produces
it.

Layout: row i at i * byte_width.

Clauses: L.array.fixed-size-binary.width
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Variable
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.encodings_2_0.binary import is_string, variable_array
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, open_flat
from lanceref.encodings_2_0.page import Page, RowRanges
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
) -> EqualStrings:
    """Open strings of one width; the bytes may be described as bytes or as whole values."""
    width = encoding.byte_width
    flat = bare_flat(encoding.bytes, page, "bytes")
    if not is_string(type_) or width == 0 or flat.bits_per_value not in (8, 8 * width):
        raise CorruptPage(  # L.array.fixed-size-binary.width
            "L.array.fixed-size-binary.width",
            page.place,
            found=f"strings of {width} bytes stored as {flat.bits_per_value} bits",
            wanted=f"values of {type_}",
        )
    as_bytes = pb.Flat(bits_per_value=8, buffer=flat.buffer)
    if flat.HasField("compression"):
        as_bytes.compression.CopyFrom(flat.compression)
    values = open_flat(as_bytes, num_rows * width, page, "bytes", "bytes")
    return EqualStrings(page, values, page.extent(flat.buffer), width, type_)
