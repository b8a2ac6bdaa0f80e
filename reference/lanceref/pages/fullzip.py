"""Full-zip pages: large values, one entry after the other.

The layout of wide values (vectors, long strings, packed structs with a variable child). Every entry
is its control word, then its value; one read fetches a row.

Layout (page buffers): 0 entries, 1 row index (only with list layers or variable values).
Layout of the row index: page slots + 1 integers, each the offset of a row in buffer 0; the last one
is the size of buffer 0. Their width, 1, 2, 4 or 8 bytes, follows from the size of the index.
Layout of an entry::

    control word, 0, 1, 2 or 4 bytes: repetition << bits_def | definition
    length of the value, 4 or 8 bytes (variable values only)
    the value

An entry that is not visible is a control word alone; so is a null of variable width. A null of
fixed width has its bytes.

Clauses: L.page.fullzip.values-present, L.page.fullzip.details, L.page.fullzip.control-bits,
L.page.fullzip.value-bits, L.page.fullzip.buffers, L.page.fullzip.repetition,
L.page.fullzip.num-items, L.page.fullzip.num-visible, L.page.fullzip.size,
L.page.fullzip.control-word, L.page.fullzip.entry, L.page.rowindex.width, L.page.rowindex.order,
L.page.rowindex.total

Divergences: D.page.fullzip-null-bytes, D.page.fullzip-row-index
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.buffers import Part, weave
from lanceref.codecs.compressive import check_encoding, decode_zipped
from lanceref.codecs.values import Bytes, Fixed, Ints, Variable, join_pieces, join_ranges
from lanceref.core.arrow_buffers import STRINGS, whole
from lanceref.core.context import expect
from lanceref.core.cursor import Extent, FileBytes, read_extents
from lanceref.core.errors import BytesError, CorruptPage, Place
from lanceref.core.run_sizes import BATCH_ROWS, RUN_BYTES
from lanceref.file.column_io import Buffer
from lanceref.file.container import StoredPage
from lanceref.pages.entries import FullZip, Zipped, control_width, cut_entries
from lanceref.pages.layers import Levels, Nested, Page, check_ranges, ranges, unravel
from lanceref.pages.leafvalues import (
    check_leaf_encoding,
    check_offset_width,
    leaf_array,
    width_bits,
)
from lanceref.pages.shred import RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, FullZipLayout

Entries = tuple[Levels, pa.Array]
"""The levels of entries, and the array of those that are visible."""


def check_description(zipped: FullZip, stored: StoredPage) -> None:
    """Check everything that a description alone can break. Raises CorruptPage, UnknownEncoding."""
    page, type_ = stored.metadata, stored.type
    place, layers, layout = page.place, zipped.layers, zipped.layout
    details, bits = layout.WhichOneof("details"), layout.bits_per_value
    if not layout.HasField("value_compression"):
        raise CorruptPage("L.page.fullzip.values-present", place, "none", "values")
    only_nulls = holds_no_values(layout)
    if not only_nulls:
        check_encoding(layout.value_compression, stored.version, stored.file.ctx, place)
    if details == "bits_per_offset":
        if type_ in STRINGS:
            check_leaf_encoding(type_, layout.value_compression, place)
        check_offset_width(type_, layout.bits_per_offset, place)
    elif details is None:
        wanted = "bits per value or per offset"
        raise CorruptPage("L.page.fullzip.details", place, "neither", wanted)
    elif bits % 8 or not (bits or only_nulls):
        raise CorruptPage("L.page.fullzip.value-bits", place, bits, "a multiple of 8, above 0")
    if max(layout.bits_rep, layout.bits_def) > 16:
        found = f"{layout.bits_rep} and {layout.bits_def} bits"
        raise CorruptPage("L.page.fullzip.control-bits", place, found, "two levels of u16")
    expect("L.page.fullzip.repetition", layout.bits_rep > 0, layers.max_rep > 0, place)
    indexed = layers.max_rep > 0 or details == "bits_per_offset"
    expect("L.page.fullzip.buffers", len(page.extents), 1 + indexed, place)
    if layers.max_rep == 0:
        expect("L.page.fullzip.num-items", layout.num_items, page.num_rows, place)
        expect("L.page.fullzip.num-visible", layout.num_visible_items, page.num_rows, place)


def holds_no_values(layout: FullZipLayout) -> bool:
    """Whether a value has no bytes, as all rows are null: pages of releases 0.39 to 2.0.1."""
    held = layout.value_compression
    empty = held.HasField("constant") and not held.constant.value
    return empty and layout.HasField("bits_per_value") and not layout.bits_per_value


class RowIndex:
    """The row index of one page: read whole by a scan, entry by entry by a take."""

    def __init__(
        self, file: FileBytes, extent: Extent, num_slots: int, data_bytes: int, place: Place
    ) -> None:
        self._width, rest = divmod(extent.size, num_slots + 1)
        if rest or self._width not in (1, 2, 4, 8):
            wanted = f"{num_slots + 1} integers of 1, 2, 4 or 8 bytes"
            raise CorruptPage("L.page.rowindex.width", place, f"{extent.size} bytes", wanted)
        self._file, self._extent, self._data_bytes = file, extent, data_bytes

    @cached_property
    def offsets(self) -> Ints:
        """All entries, int64 (page slots + 1,). Raises CorruptPage."""
        clause, width = "L.page.rowindex.width", self._width
        cursor = self._file.cursor(self._extent, "row index", clause)
        ctx, start = cursor.ctx, cursor.offset
        stored = np.frombuffer(cursor.skip(cursor.remaining, "row index", clause), f"<u{width}")
        if ctx.spans is not None:
            with ctx.group("row index", clause):
                for row, at in enumerate(range(start, cursor.end, width)):
                    ctx.leaf(at, at + width, f"start of row {row}", f"row index u{8 * width}")
        offsets, place = self._checked(stored), ctx.at(*self._extent)
        first, last = int(offsets[0]), int(offsets[-1])
        if first or last != self._data_bytes:
            found, wanted = f"rows from {first} to {last}", f"0 to {self._data_bytes}"
            raise CorruptPage("L.page.rowindex.total", place, found, wanted)
        return offsets

    def bounds(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Return where the slots of the ranges `starts`..`ends` begin in buffer 0, and end.

        Both are (slots,). Raises CorruptPage.
        """
        if "offsets" in self.__dict__:
            slots = ranges(starts, ends)
            return self.offsets[slots], self.offsets[slots + 1]
        counts, width = ends - starts + 1, self._width
        at, sizes = self._extent.offset + starts * width, counts * width
        read, places = read_extents(self._file, at, sizes, "row index", "L.page.rowindex.width")
        stored = join_pieces(read, places, places + sizes).view(f"<u{width}")
        offsets, lasts = self._checked(stored), np.cumsum(counts) - 1
        return np.delete(offsets, lasts), np.delete(offsets, lasts - counts + 1)

    def _checked(self, stored: NDArray[np.unsignedinteger]) -> Ints:
        """Return offsets that never fall, nor lie beyond the entries."""
        most = int(stored.max())
        if most > self._data_bytes or (stored[1:] < stored[:-1]).any():
            place, wanted = self._file.ctx.at(*self._extent), f"ascending, to {self._data_bytes}"
            found = f"offsets {stored[:4].tolist()}…, up to {most}"
            raise CorruptPage("L.page.rowindex.order", place, found, wanted)
        return stored.astype(np.int64)


class FullZipPage(Page):
    """A `Page` in full-zip layout with a checked description."""

    def __init__(self, stored: StoredPage, zipped: FullZip) -> None:
        check_description(zipped, stored)
        self._file, self._page, self._type = stored.file, stored.metadata, stored.type
        self._shape, page = zipped, stored.metadata
        self._scale = zipped.layers.scale
        self.num_rows = page.num_rows // self._scale
        stride, decoded = zipped.stride, (width_bits(self._type) or 0) // 8  # null items may grow
        self._run_bytes = RUN_BYTES if decoded <= stride else max(1, RUN_BYTES * stride // decoded)
        self._index: RowIndex | None = None
        size = page.extents[0].size
        if len(page.extents) > 1:
            self._index = RowIndex(self._file, page.extents[1], page.num_rows, size, page.place)
        else:
            expect("L.page.fullzip.size", size, page.num_rows * self._shape.stride, page.place)

    def read(self, starts: Ints, ends: Ints) -> Nested:
        """Return the rows of the ranges `starts`..`ends` (n,), reading only their bytes."""
        place = self._file.ctx.at(*self._page.extents[0])
        try:
            levels, leaf = self._entries(starts, ends)
            return unravel(self._shape.layers, levels, leaf, int((ends - starts).sum()), place)
        except BytesError:
            for at in range(len(starts) if len(starts) > 1 else 0):
                self._entries(starts[[at]], ends[[at]])  # raises again, with the right offset
            raise

    def check(self) -> None:
        """Cut every entry once, in order, and compare the totals with the description."""
        items = visible = start = 0
        while start < self.num_rows:
            stop = min(self.num_rows, self.run_end(start))
            levels, leaf = self._entries(np.array([start]), np.array([stop]))
            items, visible, start = items + levels.count, visible + len(leaf), stop
        place, layout = self._file.ctx.at(*self._page.extents[0]), self._shape.layout
        expect("L.page.fullzip.num-items", items, layout.num_items, place)
        expect("L.page.fullzip.num-visible", visible, layout.num_visible_items, place)

    def run_end(self, start: int) -> int:
        if self._index is None:
            stop = start + self._run_bytes // (self._shape.stride * self._scale)
        else:
            offsets = self._index.offsets[:: self._scale]
            stop = int(np.searchsorted(offsets, int(offsets[start]) + self._run_bytes, "right")) - 1
        before = self._page.priority
        whole_batches = (before + stop) // BATCH_ROWS * BATCH_ROWS - before
        return whole_batches if whole_batches > start else max(start + 1, stop)

    def _entries(self, starts: Ints, ends: Ints) -> Entries:
        """Read the slots of the ranges of rows `starts`..`ends`, and cut their entries."""
        first, last = starts * self._scale, ends * self._scale
        if self._index is None:
            begins = ranges(first, last) * self._shape.stride
            stops = begins + self._shape.stride
        else:
            begins, stops = self._index.bounds(first, last)
        tails = np.cumsum(last - first) - 1  # the last slot of each range
        heads = begins[tails - (last - first) + 1]
        at, sizes = self._page.extents[0].offset + heads, stops[tails] - heads
        data, places = read_extents(self._file, at, sizes, "entries", "L.page.fullzip.size")
        moved, base = np.repeat(places - heads, last - first), int(at[0] - places[0])
        return self._cut(Zipped(self._file.ctx, data, base, begins + moved, stops + moved))

    def _cut(self, zipped: Zipped) -> Entries:
        """Cut entries and decode their values. Raises CorruptPage."""
        shape, place = self._shape, zipped.ctx.at(zipped.base, len(zipped.data))
        cut = cut_entries(zipped, shape)
        levels, rows = cut.levels, cut.values_in(zipped.data)
        check_ranges(levels, shape.layers, place)
        validity, width = levels.leaf_validity(shape.layers), shape.value_bytes
        if holds_no_values(shape.layout):
            if validity is None or validity.any():
                clause, wanted = "L.page.fullzip.value-bits", "nulls alone"
                raise CorruptPage(clause, place, "a value of no bits", wanted)
            size = len(validity) * max(1, width_bits(self._type) or 0) // 8
            self._file.bound_output(size, "L.page.limits.constant", place)
            return levels, pa.nulls(len(validity), self._type)
        stored: Fixed | Variable
        if width is None:
            stored = Variable(np.append(0, np.cumsum(cut.value_sizes)), rows)
        else:
            stored = Fixed(8 * width, len(cut.value_sizes), rows)
        values = decode_zipped(shape.layout.value_compression, stored, zipped.ctx, place)
        if validity is not None and width is None:
            if not isinstance(values, Variable):
                dense = whole(leaf_array(self._type, values, None, place))
                return levels, dense.take(pa.array(np.cumsum(validity) - 1, mask=~validity))
            values = Variable(np.append(0, values.offsets[np.cumsum(validity)]), values.data)
        return levels, leaf_array(self._type, values, validity, place)


def fullzip_page(
    levels: RavelledLevels,
    encoding: CompressiveEncoding,
    values: Fixed | Variable,
    *,
    wide: bool,
    bits: tuple[int, int] | None = None,
) -> tuple[list[Buffer], FullZipLayout]:
    """Return the buffers of a page, and its description; `wide` lengths take 8 bytes, others 4.

    `values` are the compressed ones, one per visible entry; `bits` those of a repetition and of a
    definition level, by default as many as the highest ones need.
    """
    bits_rep, bits_def = bits or (_bits(levels.rep), _bits(levels.definition))
    layout = FullZipLayout(
        bits_rep=bits_rep,
        bits_def=bits_def,
        num_items=levels.num_entries,
        num_visible_items=values.count,
        value_compression=encoding,
        layers=levels.codes,  # type: ignore[arg-type]
    )
    words = control_words(levels, bits_rep, bits_def)
    columns = [(words.reshape(-1), np.full(levels.num_entries, words.shape[1]))]
    if isinstance(values, Fixed):
        layout.bits_per_value = values.bits
        owners = np.ones(levels.num_entries, np.bool_) if levels.visible is None else levels.visible
        columns.append((values.data, values.bits // 8 * owners))
        bound = values.bits // 8 * values.count + words.size
    else:
        layout.bits_per_offset = 64 if wide else 32
        columns += _variable_columns(levels, values, layout.bits_per_offset // 8)
        bound = len(values.data) + words.size + layout.bits_per_offset // 8 * values.count
    data, sizes = weave(columns)
    ends = np.cumsum(sizes)
    buffers: list[Buffer] = [data]
    if levels.rep is not None or isinstance(values, Variable):
        starts = np.append(0, ends)
        if levels.rep is not None:
            starts = np.append(starts[:-1][levels.rep == levels.max_rep], starts[-1])
        buffers.append(starts.astype(index_type(bound)).view(np.uint8))
    return buffers, layout


def _bits(levels: NDArray[np.uint16] | None) -> int:
    return 0 if levels is None or not len(levels) else int(levels.max()).bit_length()


def control_words(levels: RavelledLevels, bits_rep: int, bits_def: int) -> Bytes:
    """Return the control word of every entry, uint8 (entries, bytes of a word)."""
    width, words = control_width(bits_rep + bits_def), np.zeros(levels.num_entries, np.uint32)
    if levels.rep is not None:
        words |= levels.rep.astype(np.uint32) << np.uint32(bits_def)
    if levels.definition is not None:
        words |= levels.definition
    return np.ascontiguousarray(words.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width])


def _variable_columns(levels: RavelledLevels, values: Variable, length_bytes: int) -> list[Part]:
    """Return the lengths and the bytes of entries: only a valid one has them."""
    valid = np.ones(levels.num_entries, np.bool_)
    if levels.definition is not None:
        valid = levels.definition == 0
    own = valid if levels.visible is None else valid[levels.visible]
    starts, ends = values.offsets[:-1][own], values.offsets[1:][own]
    lengths = np.zeros(levels.num_entries, np.int64)
    lengths[valid] = ends - starts
    prefixes = (ends - starts).astype(f"<u{length_bytes}").view(np.uint8)
    stored = join_ranges(np.ascontiguousarray(values.data), starts, ends)
    return [(prefixes, length_bytes * valid), (stored.view(np.uint8), lengths)]


def index_type(bound: int) -> str:
    """Return the smallest unsigned type that holds `bound`."""
    return next(name for name in ("<u1", "<u2", "<u4", "<u8") if bound < 1 << 8 * int(name[2:]))
