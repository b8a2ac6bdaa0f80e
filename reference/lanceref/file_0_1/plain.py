"""Plain pages: values of a fixed width back to back.

Numbers, times, decimals and fixed-size binary stand as Arrow has them, little-endian; booleans are
one bit each, the lowest bit first; a fixed-size list is its items. There is no validity: a null is
whatever value was stored for it, zero mostly.

Layout: num_rows x (items per row) values, without padding.

Clauses: L.legacy.plain.values, L.legacy.plain.bool, L.legacy.plain.fixed-size-list,
L.legacy.plain.nulls

Divergences: D.legacy.nulls-lost
"""

from __future__ import annotations

from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import FileBytes
from lanceref.encodings_2_0.flat import concat_bits, slice_bits
from lanceref.encodings_2_0.nullable import fixed_array, has_slots, take_slots
from lanceref.file_0_1.batch_ranges import Numbers, Pieces, gather
from lanceref.file_0_1.page_table import Pages

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
        self._bits = int(self._leaf.bit_width)
        self._file, self._pages = file, pages
        self.lengths = pages.lengths
        pages.require(rows, self._bits * self._items)

    @property
    def row_bytes(self) -> float:
        """Bytes of a row."""
        return max(self._bits * self._items, 1) / 8

    def read(self, pieces: Pieces) -> pa.Array:
        """Put the values under an Arrow array; one page is not copied."""
        per_row = self._bits * self._items
        firsts, lasts = pieces.starts * per_row // 8, (pieces.ends * per_row + 7) // 8
        offsets, sizes = self._pages.positions[pieces.batches] + firsts, lasts - firsts
        kind = "bitmap" if self._bits == 1 else f"{self._leaf}[]"
        data = gather(self._file, offsets, sizes, ("values", CLAUSE, kind), gap=0)
        num_rows = pieces.num_rows
        if self._bits == 1:
            data = self._shifted(data, pieces)  # L.legacy.plain.bool
        # L.legacy.plain.nulls, L.legacy.plain.fixed-size-list: there is no validity
        return fixed_array(self.type, num_rows, data)

    def _shifted(self, data: NDArray[np.uint8], pieces: Pieces) -> NDArray[np.uint8]:
        """Move bitmaps together, so that the first bit of the first piece is bit 0."""
        starts, ends = pieces.starts * self._items, pieces.ends * self._items
        if not (starts % 8).any() and not (ends[:-1] % 8).any():
            return data
        return concat_bits(data, starts, ends - starts)

    def take(self, batches: Numbers, rows: Numbers) -> pa.Array | None:
        """Return single rows of batches (n,); None when they cannot be read one by one."""
        bits = self._bits * self._items
        limit = self._file.ctx.limits.expanded(self._file.size)
        if not has_slots(bits) or self._file.ctx.spans is not None or len(rows) * bits // 8 > limit:
            return None
        origins, gap = (
            self._pages.positions[batches],
            BIT_GAP_BYTES if bits == 1 else SLOT_GAP_BYTES,
        )
        return take_slots(self._file, origins, rows, bits, self.type, CLAUSE, gap)


def encode_plain(array: pa.Array) -> bytes | memoryview:
    """Return the bytes of a plain page, in which nulls are what the array holds below them."""
    while pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        array = array.values.slice(array.offset * size, len(array) * size)
    values = array.buffers()[1]
    bits = array.type.bit_width
    if bits == 1:
        return _encode_bits(array)
    width = bits // 8
    if values is None or not len(array):
        return bytes(width * len(array))
    return memoryview(values)[array.offset * width : (array.offset + len(array)) * width]


def _encode_bits(array: pa.Array) -> bytes:
    """Return booleans as a bitmap from bit 0; null is false."""
    values = array.fill_null(False) if array.null_count else array
    data = np.frombuffer(values.buffers()[1] or b"", np.uint8)
    return slice_bits(data, values.offset, len(values)).tobytes()
