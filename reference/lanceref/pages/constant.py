"""Constant pages: one value, or nothing but nulls.

All visible values of the page are equal; the page stores the value once, or not at all when they
are null. Levels follow when something but the leaf can be null, empty or a list.

Layout: which form it is follows from the inline value and the number of page buffers::

    no inline value, 0 buffers            all null
    no inline value, rep, def             all null, with levels
    inline value, 0 buffers or rep, def   the Arrow bytes of the value (at most 32)
    no inline value, value [, rep, def]   value buffer

Levels are raw u16, or a block codec of the stated count on all-null pages of 2.2. A value buffer is
u32 count, count x u32 size, bytes: the buffers of an Arrow array of one element.

Clauses: L.page.constant.form, L.page.constant.only-null, L.page.constant.raw-levels,
L.page.constant.inline-size, L.page.constant.value-buffer, L.page.constant.value-type,
L.page.constant.level-bytes, L.page.constant.level-count, L.page.constant.repetition,
L.page.limits.levels, L.page.limits.constant

Divergences: D.page.empty-struct-all-null
"""

from __future__ import annotations

import struct
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import remaining_buffer
from lanceref.codecs.choose import byte_strings, encode_levels
from lanceref.codecs.compressive import check_levels
from lanceref.codecs.values import Bytes, Fixed, Ints, Validity, Values, Variable
from lanceref.core.arrow_buffers import STRINGS, has_wide_offsets
from lanceref.core.context import expect
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, UnknownEncoding
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.file.column_io import Buffer
from lanceref.file.container import StoredPage
from lanceref.pages.layers import (
    LEVEL_BYTES,
    Level,
    Levels,
    Nested,
    Page,
    check_ranges,
    row_starts,
    select,
    unravel,
)
from lanceref.pages.leafvalues import leaf_array, width_bits
from lanceref.pages.level_numbering import NULLABLE_ITEM, Layers
from lanceref.pages.shred import LevelArray, RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import ConstantLayout, PageLayout

MAX_INLINE_BYTES = 32
"""Largest value in a description."""

LEVELS = {"rep_compression": "num_rep_values", "def_compression": "num_def_values"}
"""Fields of the message: the codec of repetition and definition, and how many levels there are."""

SAMPLE = 64
"""Ints compared before all of them are."""


def check_description(layout: ConstantLayout, layers: Layers, stored: StoredPage) -> None:
    """Check everything that a description alone can break. Raises CorruptPage, UnknownEncoding."""
    page, type_, version = stored.metadata, stored.type, stored.version
    place, buffers = page.place, len(page.extents)
    is_inline, inline = layout.HasField("inline_value"), layout.inline_value
    if (buffers not in (0, 2)) if is_inline else (buffers > 3):
        found = f"{buffers} buffers {'with' if is_inline else 'without'} an inline value"
        raise CorruptPage("L.page.constant.form", place, found, "a known form")
    has_value = is_inline or buffers % 2 == 1
    kinds = [kind for kind in LEVELS if layout.HasField(kind)]
    if version == V2_1 and (has_value or kinds):
        found = "a value" if has_value else "compressed levels"
        wanted = "only the all-null form with raw levels in 2.1"
        raise UnknownEncoding("L.page.constant.only-null", place, found, wanted)
    if kinds and (has_value or buffers != 2):
        found, wanted = "compressed levels", "raw ones beside a value or without level buffers"
        raise CorruptPage("L.page.constant.raw-levels", place, found, wanted)
    for kind in kinds:
        check_levels(getattr(layout, kind), version, stored.file.ctx, place)
    bits = width_bits(type_)
    if has_value and (pa.types.is_nested(type_) or (bits is None and type_ not in STRINGS)):
        found = f"a value of {type_}"
        raise CorruptPage("L.page.constant.value-type", place, found, "a plain type")
    size = None if bits is None else (bits + 7) // 8
    if is_inline and (len(inline) > MAX_INLINE_BYTES or len(inline) != size):
        wanted = f"{size} bytes of {type_}, at most {MAX_INLINE_BYTES}"
        raise CorruptPage("L.page.constant.inline-size", place, f"{len(inline)} bytes", wanted)
    if layers.max_rep and buffers < 2 and page.num_rows:
        raise CorruptPage("L.page.constant.repetition", place, "no levels", "levels of the lists")


class ConstantPage(Page):
    """A `Page` in constant layout with a checked description."""

    def __init__(self, stored: StoredPage, layout: ConstantLayout, layers: Layers) -> None:
        check_description(layout, layers, stored)
        self._file, self._page, self._type = stored.file, stored.metadata, stored.type
        self._layout, self._layers, self._scale = layout, layers, layers.scale
        self.num_rows = self._page.num_rows // self._scale
        self._run_entries = max(1, RUN_BYTES * 8 // max(8, width_bits(self._type) or 0))

    def run_end(self, start: int) -> int:
        scale, starts = self._scale, self._starts
        if starts is None:
            return start + max(1, self._run_entries // scale)
        limit = int(starts[start * scale]) + self._run_entries
        return max(start + 1, int(np.searchsorted(starts, limit, "right")) // scale)

    def read(self, starts: Ints, ends: Ints) -> Nested:
        num_rows, slots = int((ends - starts).sum()), self._starts
        levels = Levels(num_rows * self._scale, None, None)
        if slots is not None:
            bounds = np.append(slots, self._levels.count)
            first, last = bounds[starts * self._scale], bounds[ends * self._scale]
            levels, _ = select(self._levels, self._layers, first, last)
        visible, validity = levels.visible(self._layers), levels.leaf_validity(self._layers)
        count = levels.count if visible is None else int(np.count_nonzero(visible))
        leaf = self._leaf(count, validity)
        return unravel(self._layers, levels, leaf, num_rows, self._page.place)

    def check(self) -> None:
        """Read the levels and the value once, and report what is wrong."""
        _ = self._starts, self._value

    @cached_property
    def _levels(self) -> Levels:
        """The levels of the page: None twice when it stores none."""
        extents, has_lists = self._page.extents, self._layers.max_rep > 0
        if len(extents) < 2:
            return Levels(self._page.num_rows, None, None)
        rep = self._level_buffer(extents[-2], "repetition", "rep_compression")
        definition = self._level_buffer(extents[-1], "definition", "def_compression")
        place = self._file.ctx.at(*extents[-2])
        if not has_lists and rep is not None:
            raise CorruptPage("L.page.constant.repetition", place, "repetition", "none: no lists")
        if has_lists and rep is None:
            rep = np.zeros(0, dtype=np.uint16)
        counts = {len(part) for part in (rep, definition) if part is not None}
        if not has_lists:
            counts.add(self._page.num_rows)
        if len(counts) != 1:
            found, wanted = f"{sorted(counts)} levels", "one count, that of the rows without lists"
            raise CorruptPage("L.page.constant.level-count", place, found, wanted)
        levels = Levels(counts.pop(), rep, definition)
        check_ranges(levels, self._layers, place)
        return levels

    def _level_buffer(self, extent: Extent, name: str, kind: str) -> Level | None:
        """Read one kind of levels, None when there are none. Raises CorruptPage, LimitExceeded."""
        clause = "L.page.constant.level-count"
        cursor = self._file.cursor(extent, name, "L.page.constant.level-bytes")
        place, size = cursor.ctx.at(cursor.offset, cursor.remaining), cursor.remaining
        is_raw = not self._layout.HasField(kind)
        count, odd = divmod(size, 2) if is_raw else (getattr(self._layout, LEVELS[kind]), 0)
        if odd:
            raise CorruptPage("L.page.constant.level-bytes", place, size, "u16 levels")
        self._file.bound_output(count * LEVEL_BYTES, "L.page.limits.levels", place, "levels")
        if count == 0:
            expect(clause, size, 0, place)
            return None
        if is_raw:
            data = cursor.take(size, name, "L.page.constant.level-bytes", "levels u16")
            return np.frombuffer(data, "<u2")
        values = decode_block(getattr(self._layout, kind), remaining_buffer(cursor), count)
        if not isinstance(values, Fixed) or values.bits != 16 or values.count != count:
            raise CorruptPage(clause, place, values, f"{count} u16 levels")
        levels: Level = values.data.view("<u2")
        return levels

    @cached_property
    def _starts(self) -> Ints | None:
        """Where the page slots begin; None when the page has no levels."""
        levels, highest = self._levels, self._layers.max_rep
        if levels.rep is None and levels.definition is None:
            return None
        starts, place = row_starts(levels, self._layers), self._file.ctx.at(*self._page.extents[-2])
        if levels.rep is not None and levels.count:
            expect("L.page.levels.first-entry", int(levels.rep[0]), highest, place)
        expect("L.page.levels.rows", len(starts), self._page.num_rows, place)
        return starts

    def _leaf(self, count: int, validity: Validity) -> pa.Array:
        size = count * (width_bits(self._type) or 0) // 8
        self._file.bound_output(size, "L.page.limits.constant", self._page.place)
        if self._value is None:
            if pa.types.is_struct(self._type) and self._type.num_fields == 0:
                return pa.array([{}] * count, self._type)
            return pa.nulls(count, self._type)
        mask = None if validity is None else ~validity
        return self._value.take(pa.array(np.zeros(count, dtype=np.int8), mask=mask))

    @cached_property
    def _value(self) -> pa.Array | None:
        """The value as an array of one element; None when there is none."""
        inline, place = self._layout.inline_value, self._page.place
        if self._layout.HasField("inline_value"):
            data = np.frombuffer(inline, np.uint8)
            return leaf_array(self._type, Fixed(len(inline) * 8, 1, data), None, place)
        if len(self._page.extents) % 2 == 0:
            return None
        return parse_value(self._file, self._page.extents[0], self._type)


def parse_value(file: FileBytes, extent: Extent, type_: pa.DataType) -> pa.Array:
    """Parse a value buffer: the Arrow buffers of an array of one element. Raises CorruptPage."""
    clause, num_buffers = "L.page.constant.value-buffer", 2 if type_ in STRINGS else 1
    cursor = file.cursor(extent, "constant value", clause)
    place = file.ctx.at(cursor.offset, cursor.remaining)
    expect(clause, cursor.u32("number of buffers", clause), num_buffers, place)
    sizes = [cursor.u32("size of a buffer", clause) for _ in range(num_buffers)]
    expect(clause, cursor.remaining, sum(sizes), place)
    if num_buffers == 1:
        data = np.frombuffer(cursor.take(sizes[0], "value", clause, "constant value"), np.uint8)
        return leaf_array(type_, Fixed(len(data) * 8, 1, data), None, place)
    width = 8 if has_wide_offsets(type_) else 4
    expect(clause, sizes[0], 2 * width, place)
    offsets = cursor.array(f"<u{width}", 2, "offsets of the value", clause)
    data = np.frombuffer(cursor.take(sizes[1], "value", clause, "constant value"), np.uint8)
    if int(offsets[0]) or int(offsets[1]) != len(data):
        raise CorruptPage(clause, place, offsets.tolist(), [0, len(data)])
    return leaf_array(type_, Variable(offsets.astype(np.int64), data), None, place)


def all_null_page(levels: RavelledLevels, version: FileVersion) -> tuple[list[Buffer], PageLayout]:
    """Return the buffers and description of a page without a valid value."""
    page = PageLayout(constant_layout=ConstantLayout(layers=levels.codes))  # type: ignore[arg-type]
    layout, buffers = page.constant_layout, list[Buffer]([b"", b""])
    if len(levels.codes) == 1:
        layout.layers[:] = [NULLABLE_ITEM]  # type: ignore[list-item]
        return [], page
    if version == V2_1:
        return [_raw(levels.rep), _raw(levels.definition)], page
    stored = (levels.rep, layout.rep_compression), (levels.definition, layout.def_compression)
    for at, (kind, target) in enumerate(stored):
        if kind is not None:
            encoding, buffers[at], _ = encode_levels(kind, np.array([len(kind)]), version)
            target.CopyFrom(encoding)
            setattr(layout, [*LEVELS.values()][at], len(kind))
    return buffers, page


def value_page(
    levels: RavelledLevels, value: bytes | Variable, wide: bool
) -> tuple[list[Buffer], PageLayout]:
    """Return the buffers and description of a page whose valid values are all `value`.

    `wide` says that offsets of a variable value take 8 bytes, not 4.
    """
    layout = ConstantLayout(layers=levels.codes)  # type: ignore[arg-type]
    buffers: list[Buffer] = []
    if isinstance(value, bytes) and len(value) <= MAX_INLINE_BYTES:
        layout.inline_value = value
    else:
        parts = [value] if isinstance(value, bytes) else []
        if isinstance(value, Variable):
            offsets = value.offsets.astype("<i8" if wide else "<i4")
            parts = [offsets.tobytes(), value.data.tobytes()]
        sizes = struct.pack(f"<{1 + len(parts)}I", len(parts), *map(len, parts))
        buffers.append(b"".join([sizes, *parts]))
    if levels.rep is not None or levels.definition is not None:
        buffers += [_raw(levels.rep), _raw(levels.definition)]
    return buffers, PageLayout(constant_layout=layout)


def _raw(levels: LevelArray | None) -> Bytes | bytes:
    return b"" if levels is None else levels.astype("<u2").view(np.uint8)


def the_value(values: Values, validity: Validity) -> bytes | Variable | None:
    """Return the one value that all valid slots hold; None when they differ.

    Only values of fixed width and variable ones are compared; there is at least one valid slot.
    `validity` (values,).
    """
    if isinstance(values, Fixed) and values.bits == 1:
        bits = np.unpackbits(values.data, count=values.count, bitorder="little")
        values = Fixed(8, values.count, bits)
    if not isinstance(values, Fixed | Variable):
        return None
    if isinstance(values, Fixed) and not values.bits:
        return b""
    cells, first = byte_strings(values), 0 if validity is None else int(np.argmax(validity))
    for start, end in ((first, first + SAMPLE), (0, values.count)):  # most often seen at once
        part = cells[start:end]
        held = part if validity is None else part.filter(pa.array(validity[start:end]))
        if len(held.unique()) > 1:
            return None
    value: bytes = cells[first].as_py()
    if isinstance(values, Fixed):
        return value
    return Variable(np.array([0, len(value)], np.int64), np.frombuffer(value, np.uint8))
