"""Plain pages: values of a fixed width back to back.

Numbers, times, decimals and fixed-size binary are stored as Arrow has them, little-endian; booleans
are one bit each, the lowest bit first; a fixed-size list is its items. There is no validity: a null
is whatever value was stored for it, zero mostly.

Layout: num_rows x (items per row) values, without padding.

Clauses: L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list,
L.legacy.plain.nulls

Divergences: D.legacy.nulls-lost
"""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.encodings_2_0.flat import concat_bits, slice_bits
from lanceref.encodings_2_0.nullable import fixed_array, has_slots, innermost_items, take_slots
from lanceref.file_0_1.page_table import BatchRanges, Numbers, Pages, gather

CLAUSE = "L.legacy.plain.values"

BIT_GAP_BYTES = 64
"""Single bits closer than this are fetched by one request."""

SLOT_GAP_BYTES = 2048
"""The same for single rows of whole bytes."""


def fixed_width(type_: pa.DataType) -> tuple[pa.DataType, list[int]] | None:
    """Return the leaf type below fixed-size lists and their sizes, outermost first.

    None for a type that is not stored plain.
    """
    sizes = []
    while pa.types.is_fixed_size_list(type_):
        sizes.append(int(type_.list_size))
        type_ = type_.value_type
    if pa.types.is_dictionary(type_) or pa.types.is_null(type_) or type_.num_fields:
        return None
    try:
        return (type_, sizes) if type_.bit_width else None
    except ValueError:  # strings have no width
        return None


class PlainNode:
    """The plain pages of one field; `rows` are the rows of each batch, None for items of lists."""

    def __init__(
        self, file: FileBytes, pages: Pages, type_: pa.DataType, rows: Numbers | None
    ) -> None:
        self.type = type_
        fixed = fixed_width(type_)
        assert fixed is not None
        self._leaf, sizes = fixed
        self._items = prod(sizes)
        self._row_bits = int(self._leaf.bit_width) * self._items
        self._file, self._pages = file, pages
        self.lengths = pages.lengths
        self.row_bytes = max(self._row_bits, 1) / 8
        pages.require(rows, self._row_bits)

    def read(self, ranges: BatchRanges) -> pa.Array:
        """Put the values under an Arrow array; one page is not copied."""
        bits = self._row_bits
        firsts, lasts = ranges.starts * bits // 8, (ranges.ends * bits + 7) // 8
        offsets, sizes = self._pages.positions[ranges.batches] + firsts, lasts - firsts
        is_bool = pa.types.is_boolean(self._leaf)
        named = ("values", CLAUSE, "bitmap" if is_bool else f"{self._leaf}[]")
        data = gather(self._file, offsets, sizes, named, gap=0)
        if is_bool:  # L.legacy.plain.bool: bitmaps move so that the first bit is bit 0
            starts, ends = ranges.starts * self._items, ranges.ends * self._items
            if (starts % 8).any() or (ends[:-1] % 8).any():
                data = concat_bits(data, starts, ends - starts)
        # L.legacy.plain.nulls, L.legacy.plain.fixed-size-list: there is no validity
        return fixed_array(self.type, ranges.num_rows, data)

    def take(self, batches: Numbers, rows: Numbers) -> pa.Array | None:
        """Return single rows of batches (n,); None when they cannot be read one by one."""
        bits, file = self._row_bits, self._file
        limit = file.ctx.limits.expanded(file.size)
        if not has_slots(bits) or file.ctx.spans is not None or len(rows) * bits // 8 > limit:
            return None
        gap = BIT_GAP_BYTES if bits == 1 else SLOT_GAP_BYTES
        return take_slots(file, self._pages.positions[batches], rows, bits, self.type, CLAUSE, gap)


def encode_plain(array: pa.Array) -> bytes | memoryview:
    """Return the bytes of a plain page: below a null what the array holds there, or false."""
    array = innermost_items(array)
    if pa.types.is_boolean(array.type):
        values = array.fill_null(False) if array.null_count else array
        data = np.frombuffer(values.buffers()[1] or b"", np.uint8)
        return slice_bits(data, values.offset, len(values)).tobytes()
    values, width = array.buffers()[1], array.type.bit_width // 8
    if values is None or not len(array):
        return bytes(width * len(array))
    return memoryview(values)[array.offset * width : (array.offset + len(array)) * width]
