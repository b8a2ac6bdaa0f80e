"""Full-zip pages: large values, one entry after the other.

The layout of wide values (vectors, long strings, packed structs with a variable child). Every entry
is its control word, then its value; one read fetches a row.

Layout (page buffers): 0 entries, 1 row index (only with list layers or variable values).
Layout of an entry::

    control word, 0, 1, 2 or 4 bytes: repetition << bits_def | definition
    length of the value, 4 or 8 bytes (variable values only)
    the value

An entry that is not visible is a control word alone; so is a null of variable width. A null of
fixed width has its bytes. The row index holds where each row begins and the size of buffer 0, in
integers of 1, 2, 4 or 8 bytes.

Clauses: L.page.fullzip.values-present, L.page.fullzip.details, L.page.fullzip.control-bits,
L.page.fullzip.value-bits, L.page.fullzip.buffers, L.page.fullzip.repetition,
L.page.fullzip.num-items, L.page.fullzip.num-visible, L.page.fullzip.size

Divergences: D.page.fullzip-null-bytes, D.page.fullzip-row-index
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import decode_zip_fixed, decode_zip_variable
from lanceref.codecs.description_checks import check_encoding
from lanceref.codecs.values import Variable
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, Place
from lanceref.core.file_versions import FileVersion
from lanceref.core.nesting import whole
from lanceref.file.column_reader import RUN_BYTES
from lanceref.file.columns import PageMetadata
from lanceref.pages.entries import EntryShape, Zipped, compact, cut_entries, cut_matrix, record
from lanceref.pages.layers import Layers, Nested, expect
from lanceref.pages.leafvalues import (
    check_leaf_encoding,
    check_offset_width,
    is_variable,
    leaf_array,
    width_bits,
)
from lanceref.pages.repdef import Entries, check_ranges, unravel
from lanceref.pages.repindex import RowIndex
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, FullZipLayout


@dataclass(frozen=True, slots=True)
class FullZip:
    """The description of a full-zip page, in the words of any version."""

    layers: Layers
    bits_rep: int
    bits_def: int
    bits_per_value: int | None
    bits_per_offset: int | None
    num_items: int
    num_visible_items: int
    values: CompressiveEncoding


def describe(layout: FullZipLayout, layers: Layers, place: Place) -> FullZip:
    """Take over the message of 2.1 and 2.2."""
    if not layout.HasField("value_compression"):
        raise CorruptPage("L.page.fullzip.values-present", place, found="none", wanted="values")
    details = layout.WhichOneof("details")
    return FullZip(
        layers=layers,
        bits_rep=layout.bits_rep,
        bits_def=layout.bits_def,
        bits_per_value=layout.bits_per_value if details == "bits_per_value" else None,
        bits_per_offset=layout.bits_per_offset if details == "bits_per_offset" else None,
        num_items=layout.num_items,
        num_visible_items=layout.num_visible_items,
        values=layout.value_compression,
    )


def check_description(
    zipped: FullZip, page: PageMetadata, type_: pa.DataType, version: FileVersion, file: FileBytes
) -> None:
    """The gates of a full-zip page: everything its description alone can break."""
    place, layers = page.place, zipped.layers
    check_encoding(zipped.values, version, file.ctx, place)
    if zipped.bits_per_offset is not None:
        if is_variable(type_):
            check_leaf_encoding(type_, zipped.values, place)
        check_offset_width(type_, zipped.bits_per_offset, place)
    elif zipped.bits_per_value is None:
        raise CorruptPage(
            "L.page.fullzip.details", place, found="neither", wanted="bits per value or per offset"
        )
    elif zipped.bits_per_value % 8 or not zipped.bits_per_value:
        raise CorruptPage(
            "L.page.fullzip.value-bits",
            place,
            found=zipped.bits_per_value,
            wanted="a multiple of 8, above 0",
        )
    bits = zipped.bits_rep, zipped.bits_def
    if max(bits) > 16:
        raise CorruptPage(
            "L.page.fullzip.control-bits", place, found=f"{bits} bits", wanted="two levels of u16"
        )
    expect("L.page.fullzip.repetition", zipped.bits_rep > 0, layers.max_rep > 0, place)
    indexed = layers.max_rep > 0 or zipped.bits_per_offset is not None
    expect("L.page.fullzip.buffers", len(page.extents), 1 + indexed, place)
    if layers.max_rep == 0:
        expect("L.page.fullzip.num-items", zipped.num_items, page.num_rows, place)
        expect("L.page.fullzip.num-visible", zipped.num_visible_items, page.num_rows, place)


class FullZipPage:
    """A full-zip page whose description has passed the gates."""

    def __init__(
        self,
        file: FileBytes,
        page: PageMetadata,
        zipped: FullZip,
        type_: pa.DataType,
        version: FileVersion,
    ) -> None:
        check_description(zipped, page, type_, version, file)
        self._file = file
        self._page = page
        self._zipped = zipped
        self._type = type_
        self._shape = EntryShape(
            bits_rep=zipped.bits_rep,
            bits_def=zipped.bits_def,
            value_bytes=None if zipped.bits_per_value is None else zipped.bits_per_value // 8,
            length_bytes=(zipped.bits_per_offset or 0) // 8,
            layers=zipped.layers,
        )
        self.num_rows = page.num_rows // zipped.layers.scale
        self._run_bytes = self._bytes_per_run()
        self._index: RowIndex | None = None
        size = page.extents[0].size
        if len(page.extents) > 1:
            self._index = RowIndex(file, page.extents[1], page.num_rows, size, page.place)
        else:
            expect("L.page.fullzip.size", size, page.num_rows * self._shape.stride, page.place)

    def _bytes_per_run(self) -> int:
        """Return how many stored bytes make about RUN_BYTES of Arrow (all-null items grow)."""
        stored, decoded = self._shape.stride, (width_bits(self._type) or 0) // 8
        return RUN_BYTES if decoded <= stored else max(1, RUN_BYTES * stored // decoded)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the page, about RUN_BYTES at a time."""
        while start < end:
            stop = min(end, self._run_end(start))
            yield self._unravel(self._range(start, stop), stop - start)
            start = stop

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows (ascending, each once), reading only their bytes."""
        try:
            return self._unravel(self._pick(rows), len(rows))
        except BytesError:
            for row in rows.tolist() if len(rows) > 1 else []:
                self._pick(np.array([row]))  # raises again, with the right offset
            raise

    def check(self) -> None:
        """Cut every entry once, in order, and hold the totals against the description."""
        start, items, visible = 0, 0, 0
        while start < self.num_rows:
            stop = min(self.num_rows, self._run_end(start))
            entries = self._range(start, stop)
            items, visible = items + entries.levels.count, visible + len(entries.leaf)
            start = stop
        place, zipped = self._file.ctx.at(*self._page.extents[0]), self._zipped
        expect("L.page.fullzip.num-items", items, zipped.num_items, place)
        expect("L.page.fullzip.num-visible", visible, zipped.num_visible_items, place)

    def _run_end(self, start: int) -> int:
        scale = self._zipped.layers.scale
        if self._index is None:
            return start + max(1, self._run_bytes // (self._shape.stride * scale))
        offsets = self._index.offsets[::scale]
        stop = int(np.searchsorted(offsets, int(offsets[start]) + self._run_bytes, "right")) - 1
        return max(start + 1, stop)

    def _range(self, start: int, stop: int) -> Entries:
        """Read rows `start`..`stop`."""
        first, last = start * self._zipped.layers.scale, stop * self._zipped.layers.scale
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
        """Read single rows."""
        scale = self._zipped.layers.scale
        if self._index is None:
            bounds = (rows[:, None] * scale + np.arange(scale + 1)) * self._shape.stride
        else:
            bounds = self._index.rows(rows * scale, scale)
        return self._read(bounds)

    def _read(self, bounds: NDArray[np.int64]) -> Entries:
        """Read ranges of slots: each row of `bounds` is where one range's slots begin and end."""
        starts = bounds[:, 0] + self._page.extents[0].offset
        sizes = bounds[:, -1] - bounds[:, 0]
        read, at = self._file.gather(starts, sizes, "entries", "L.page.fullzip.size")
        local = bounds + (at - bounds[:, 0])[:, None]
        zipped = Zipped(
            ctx=self._file.ctx,
            data=read,
            base=int(starts[0] - at[0]),
            starts=local[:, :-1].ravel(),
            ends=local[:, 1:].ravel(),
        )
        return self._cut(zipped)

    def _cut(self, zipped: Zipped) -> Entries:
        return self._fixed(zipped) if self._zipped.bits_per_value else self._variable(zipped)

    def _fixed(self, zipped: Zipped) -> Entries:
        shape, place = self._shape, zipped.ctx.at(zipped.base, len(zipped.data))
        if self._index is None:
            levels, rows = cut_matrix(zipped, shape, self._zipped.num_items)
        else:
            cut = cut_entries(zipped, shape)
            record(zipped, shape, cut, self._zipped.num_items)
            levels, flat = cut.levels, compact(zipped.data, cut.value_starts, cut.value_sizes)
            rows = flat.reshape(len(cut.value_starts), shape.stride - shape.control_bytes)
        check_ranges(levels, shape.layers, place)
        values = decode_zip_fixed(self._zipped.values, rows, zipped.ctx, place)
        validity = levels.leaf_validity(shape.layers)
        return Entries(levels, leaf_array(self._type, values, validity, place))

    def _variable(self, zipped: Zipped) -> Entries:
        shape, place = self._shape, zipped.ctx.at(zipped.base, len(zipped.data))
        cut = cut_entries(zipped, shape)
        record(zipped, shape, cut, self._zipped.num_items)
        check_ranges(cut.levels, shape.layers, place)
        offsets = np.append(0, np.cumsum(cut.value_sizes))
        stored = Variable(offsets, compact(zipped.data, cut.value_starts, cut.value_sizes))
        values = decode_zip_variable(self._zipped.values, stored, zipped.ctx, place)
        validity = cut.levels.leaf_validity(shape.layers)
        if validity is None or isinstance(values, Variable):
            if validity is not None and isinstance(values, Variable):
                values = Variable(np.append(0, values.offsets[np.cumsum(validity)]), values.data)
            return Entries(cut.levels, leaf_array(self._type, values, validity, place))
        dense = leaf_array(self._type, values, None, place)
        slots = pa.array(np.cumsum(validity) - 1, mask=~validity)
        return Entries(cut.levels, whole(dense).take(slots))

    def _unravel(self, entries: Entries, num_rows: int) -> Nested:
        place = self._file.ctx.at(*self._page.extents[0])
        return unravel(self._zipped.layers, entries, num_rows, place)
