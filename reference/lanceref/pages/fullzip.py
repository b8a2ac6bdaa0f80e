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

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import check_encoding
from lanceref.codecs.mini_blocks import Part, weave
from lanceref.codecs.nested import decode_zip_fixed, decode_zip_variable
from lanceref.codecs.values import Fixed, Variable, join_ranges
from lanceref.core.arrow_buffers import STRINGS, whole
from lanceref.core.context import expect
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, Place
from lanceref.core.limits import RUN_BYTES
from lanceref.file.column_io import Buffer
from lanceref.file.container import StoredPage
from lanceref.pages.entries import FullZip, Zipped, control_width, cut_entries, cut_matrix
from lanceref.pages.layers import Levels, Nested, check_ranges, unravel
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
    check_encoding(layout.value_compression, stored.version, stored.file.ctx, place)
    if details == "bits_per_offset":
        if type_ in STRINGS:
            check_leaf_encoding(type_, layout.value_compression, place)
        check_offset_width(type_, layout.bits_per_offset, place)
    elif details is None:
        wanted = "bits per value or per offset"
        raise CorruptPage("L.page.fullzip.details", place, "neither", wanted)
    elif bits % 8 or not bits:
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
    def offsets(self) -> NDArray[np.int64]:
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

    def rows(self, first: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
        """Return for each first slot the `slots` + 1 entries from there, as rows of a matrix.

        `first` (n,), the result (n, slots + 1).
        """
        if "offsets" in self.__dict__:
            known: NDArray[np.int64] = self.offsets[first[:, None] + np.arange(slots + 1)]
            return known
        size = (slots + 1) * self._width
        starts, sizes = self._extent.offset + first * self._width, np.full(len(first), size)
        read, at = self._file.gather(starts, sizes, "row index", "L.page.rowindex.width")
        return self._checked(read[at[:, None] + np.arange(size)].view(f"<u{self._width}"))

    def _checked(self, stored: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        """Return offsets that follow each other along the last axis."""
        most = int(stored.max())
        if most > self._data_bytes or (stored[..., 1:] < stored[..., :-1]).any():
            place, wanted = self._file.ctx.at(*self._extent), f"ascending, to {self._data_bytes}"
            found = f"offsets {stored.ravel()[:4].tolist()}…, up to {most}"
            raise CorruptPage("L.page.rowindex.order", place, found, wanted)
        return stored.astype(np.int64)


class FullZipPage:
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

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        for entries, num_rows in self._runs(start, end):
            yield self._unravel(entries, num_rows)

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows (ascending, each once), reading only their bytes."""
        try:
            return self._unravel(self._pick(rows), len(rows))
        except BytesError:
            for row in rows.tolist() if len(rows) > 1 else []:
                self._pick(np.array([row]))  # raises again, with the right offset
            raise

    def check(self) -> None:
        """Cut every entry once, in order, and compare the totals with the description."""
        items = visible = 0
        for entries, _ in self._runs(0, self.num_rows):
            items, visible = items + entries[0].count, visible + len(entries[1])
        place, layout = self._file.ctx.at(*self._page.extents[0]), self._shape.layout
        expect("L.page.fullzip.num-items", items, layout.num_items, place)
        expect("L.page.fullzip.num-visible", visible, layout.num_visible_items, place)

    def _runs(self, start: int, end: int) -> Iterator[tuple[Entries, int]]:
        """Yield the entries of runs of rows, and how many rows each has."""
        while start < end:
            stop = min(end, self._run_end(start))
            yield self._range(start * self._scale, stop * self._scale), stop - start
            start = stop

    def _run_end(self, start: int) -> int:
        if self._index is None:
            return start + max(1, self._run_bytes // (self._shape.stride * self._scale))
        offsets = self._index.offsets[:: self._scale]
        stop = int(np.searchsorted(offsets, int(offsets[start]) + self._run_bytes, "right")) - 1
        return max(start + 1, stop)

    def _range(self, first: int, last: int) -> Entries:
        """Read the slots `first`..`last`."""
        if self._index is None:
            stride = self._shape.stride
            begin, bounds = first * stride, np.arange(last - first + 1) * stride
        else:
            offsets = self._index.offsets[first : last + 1]
            begin, bounds = int(offsets[0]), offsets - offsets[0]
        extent = Extent(self._page.extents[0].offset + begin, int(bounds[-1]))
        cursor = self._file.cursor(extent, "entries", "L.page.fullzip.size")
        data = np.frombuffer(cursor.data, np.uint8)
        return self._cut(Zipped(cursor.ctx, data, extent.offset, bounds[:-1], bounds[1:]))

    def _pick(self, rows: NDArray[np.int64]) -> Entries:
        """Read single rows: each row of `bounds` is where the slots of one begin and end."""
        if self._index is None:
            bounds = (rows[:, None] * self._scale + np.arange(self._scale + 1)) * self._shape.stride
        else:
            bounds = self._index.rows(rows * self._scale, self._scale)
        starts = bounds[:, 0] + self._page.extents[0].offset
        sizes = bounds[:, -1] - bounds[:, 0]
        data, at = self._file.gather(starts, sizes, "entries", "L.page.fullzip.size")
        local, base = bounds + (at - bounds[:, 0])[:, None], int(starts[0] - at[0])
        first, last = local[:, :-1].ravel(), local[:, 1:].ravel()
        return self._cut(Zipped(self._file.ctx, data, base, first, last))

    def _cut(self, zipped: Zipped) -> Entries:
        """Cut entries and decode their values. Raises CorruptPage."""
        shape, place = self._shape, zipped.ctx.at(zipped.base, len(zipped.data))
        if self._index is None:
            levels, rows = cut_matrix(zipped, shape)
            sizes = np.zeros(0, np.int64)
        else:
            cut = cut_entries(zipped, shape)
            levels, rows, sizes = cut.levels, cut.values_in(zipped.data), cut.value_sizes
        check_ranges(levels, shape.layers, place)
        validity = levels.leaf_validity(shape.layers)
        if shape.value_bytes is not None:
            cells = rows.reshape(-1, shape.value_bytes)
            fixed = decode_zip_fixed(shape.layout.value_compression, cells, place)
            return levels, leaf_array(self._type, fixed, validity, place)
        stored = Variable(np.append(0, np.cumsum(sizes)), rows)
        values = decode_zip_variable(shape.layout.value_compression, stored, zipped.ctx, place)
        if validity is not None:
            if not isinstance(values, Variable):
                dense = whole(leaf_array(self._type, values, None, place))
                return levels, dense.take(pa.array(np.cumsum(validity) - 1, mask=~validity))
            values = Variable(np.append(0, values.offsets[np.cumsum(validity)]), values.data)
        return levels, leaf_array(self._type, values, validity, place)

    def _unravel(self, entries: Entries, num_rows: int) -> Nested:
        place = self._file.ctx.at(*self._page.extents[0])
        return unravel(self._shape.layers, *entries, num_rows, place)


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


def control_words(levels: RavelledLevels, bits_rep: int, bits_def: int) -> NDArray[np.uint8]:
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
