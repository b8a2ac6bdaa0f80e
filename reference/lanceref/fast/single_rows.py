"""Rows of 2.0 of a fixed width, read one by one where they lie, without the rows between them.

The specification is `encodings_2_0.values.pick_rows`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import gather_rows
from lanceref.core.nesting import fixed_array
from lanceref.encodings_2_0 import values
from lanceref.encodings_2_0.flat import FixedSizeListRows, FlatRows, RawFlat
from lanceref.encodings_2_0.page import ReadRows, RowRanges


@values.pick_rows.replaced_by
def pick_rows(read: ReadRows, rows: NDArray[np.int64], ranges: RowRanges) -> pa.Array:
    """Return some rows of a page: single bits, or whole bytes, that are stored as they are.

    `rows` (n,), ascending and distinct. Raises OutOfRange for a row outside of the file.
    """
    leaf, items = read, 1
    while isinstance(leaf, FixedSizeListRows):
        items *= leaf.type.list_size
        leaf = leaf.items
    if isinstance(leaf, FlatRows) and isinstance(leaf.values, RawFlat):
        stored, bits = leaf.values, leaf.values.bits * items
        if stored.file.ctx.spans is None and (bits == 1 or (bits > 0 and bits % 8 == 0)):
            assert isinstance(read, FlatRows | FixedSizeListRows)
            size, starts = max(1, bits // 8), stored.extent.offset + rows * bits // 8
            sizes = np.full(len(rows), size)
            data, at = stored.file.gather(starts, sizes, "page buffer", "L.file.pages.extent")
            if bits == 1:
                flags = data[at] >> (rows & 7).astype(np.uint8) & 1
                return fixed_array(read.type, len(rows), np.packbits(flags, bitorder="little"))
            return fixed_array(read.type, len(rows), gather_rows(data, at, size).reshape(-1))
    return values.pick_rows.plain(read, rows, ranges)
