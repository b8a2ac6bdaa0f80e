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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import decode_block
from lanceref.codecs.description_checks import check_levels
from lanceref.codecs.values import Fixed, Variable
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.column_reader import RUN_BYTES
from lanceref.file.columns import PageMetadata
from lanceref.pages.layers import Layers, Nested
from lanceref.pages.leafvalues import is_variable, leaf_array, width_bits
from lanceref.pages.repdef import (
    LEVEL_BYTES,
    Entries,
    Level,
    Levels,
    check_ranges,
    ranges,
    row_starts,
    unravel,
)
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, ConstantLayout

MAX_INLINE_BYTES = 32
"""Largest value that stands in the description."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The description of a constant page, in the words of any version.

    `rep` and `definition` are (codec, levels) of compressed levels.
    """

    layers: Layers
    inline_value: bytes | None
    rep: tuple[CompressiveEncoding, int] | None = None
    definition: tuple[CompressiveEncoding, int] | None = None


def describe(layout: ConstantLayout, layers: Layers) -> Constant:
    """Take over the message of 2.1 and 2.2."""
    rep = definition = None
    if layout.HasField("rep_compression"):
        rep = layout.rep_compression, layout.num_rep_values
    if layout.HasField("def_compression"):
        definition = layout.def_compression, layout.num_def_values
    inline = layout.inline_value if layout.HasField("inline_value") else None
    return Constant(layers, inline, rep, definition)


def check_description(
    constant: Constant,
    page: PageMetadata,
    type_: pa.DataType,
    version: FileVersion,
    file: FileBytes,
) -> None:
    """The gates of a constant page: everything its description alone can break."""
    place, buffers = page.place, len(page.extents)
    inline = constant.inline_value
    if (buffers not in (0, 2)) if inline is not None else (buffers > 3):
        raise CorruptPage(
            "L.page.constant.form",
            place,
            found=f"{buffers} buffers {'without' if inline is None else 'with'} an inline value",
            wanted="a known form",
        )
    has_value = inline is not None or buffers % 2 == 1
    compressed = constant.rep is not None or constant.definition is not None
    if version == V2_1 and (has_value or compressed):
        raise UnknownEncoding(
            "L.page.constant.only-null",
            place,
            found="a value" if has_value else "compressed levels",
            wanted="only the all-null form with raw levels in 2.1",
        )
    if compressed and (has_value or buffers != 2):
        raise CorruptPage(
            "L.page.constant.raw-levels",
            place,
            found="compressed levels",
            wanted="raw levels next to a value or without level buffers",
        )
    for levels in (constant.rep, constant.definition):
        if levels is not None:
            check_levels(levels[0], version, file.ctx, place)
    if has_value:
        _check_value(inline, type_, place)
    if constant.layers.max_rep and buffers < 2 and page.num_rows:
        raise CorruptPage(
            "L.page.constant.repetition", place, found="no levels", wanted="levels of the lists"
        )


def _check_value(inline: bytes | None, type_: pa.DataType, place: Place) -> None:
    bits = width_bits(type_)
    if pa.types.is_nested(type_) or (bits is None and not is_variable(type_)):
        raise CorruptPage(
            "L.page.constant.value-type", place, found=f"a value of {type_}", wanted="a plain type"
        )
    if inline is None:
        return
    size = None if bits is None else (bits + 7) // 8
    if len(inline) > MAX_INLINE_BYTES or len(inline) != size:
        raise CorruptPage(
            "L.page.constant.inline-size",
            place,
            found=f"{len(inline)} bytes",
            wanted=f"{size} bytes of {type_}, at most {MAX_INLINE_BYTES}",
        )


class ConstantPage:
    """A constant page whose description has passed the gates."""

    def __init__(
        self,
        file: FileBytes,
        page: PageMetadata,
        constant: Constant,
        type_: pa.DataType,
        version: FileVersion,
    ) -> None:
        check_description(constant, page, type_, version, file)
        self._file = file
        self._page = page
        self._constant = constant
        self._layers = constant.layers
        self._type = type_
        self.num_rows = page.num_rows // constant.layers.scale
        self._run_entries = max(1, RUN_BYTES * 8 // max(8, width_bits(type_) or 0))

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the page, about RUN_BYTES at a time."""
        scale, starts = self._layers.scale, self._starts
        while start < end:
            if starts is None:
                stop = start + max(1, self._run_entries // scale)
                levels = None
            else:
                limit = int(starts[start * scale]) + self._run_entries
                stop = max(start + 1, int(np.searchsorted(starts, limit, "right")) // scale)
            stop = min(stop, end)
            levels = self._cut(start, stop)
            yield self._nested(levels, stop - start)
            start = stop

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows (ascending, each once)."""
        scale, starts = self._layers.scale, self._starts
        if starts is None:
            return self._nested(Levels(len(rows) * scale, None, None), len(rows))
        bounds = np.append(starts, self._levels.count)
        levels = self._levels.take(ranges(bounds[rows * scale], bounds[(rows + 1) * scale]))
        return self._nested(levels, len(rows))

    def check(self) -> None:
        """Read levels and value."""
        _ = self._starts, self._value

    @cached_property
    def _levels(self) -> Levels:
        """The levels of the page: None twice when it stores none."""
        if len(self._page.extents) < 2:
            return Levels(self._page.num_rows, None, None)
        rep = self._level_buffer(-2, "repetition", self._constant.rep)
        definition = self._level_buffer(-1, "definition", self._constant.definition)
        place = self._file.ctx.at(*self._page.extents[-2])
        if self._layers.max_rep == 0 and rep is not None:
            raise CorruptPage(
                "L.page.constant.repetition", place, found="repetition", wanted="no list, none"
            )
        if self._layers.max_rep and rep is None:
            rep = np.zeros(0, dtype=np.uint16)
        counts = {len(part) for part in (rep, definition) if part is not None}
        if self._layers.max_rep == 0:
            counts.add(self._page.num_rows)
        if len(counts) != 1:
            raise CorruptPage(
                "L.page.constant.level-count",
                place,
                found=f"{sorted(counts)} levels",
                wanted="as many of each kind, and one per row without lists",
            )
        levels = Levels(counts.pop(), rep, definition)
        check_ranges(levels, self._layers, place)
        return levels

    def _level_buffer(
        self, at: int, name: str, compressed: tuple[CompressiveEncoding, int] | None
    ) -> Level | None:
        cursor = self._file.cursor(self._page.extents[at], name, "L.page.constant.level-bytes")
        place = self._file.ctx.at(cursor.offset, cursor.remaining)
        count, odd = divmod(cursor.remaining, 2)
        if compressed is not None:
            count, odd = compressed[1], 0
        if odd:
            raise CorruptPage(
                "L.page.constant.level-bytes", place, found=cursor.remaining, wanted="u16 levels"
            )
        limit = self._file.ctx.limits.expanded(self._file.size)
        if count * LEVEL_BYTES > limit:
            raise LimitExceeded(
                "L.page.limits.levels",
                place,
                found=f"{count} levels",
                wanted=f"{limit // LEVEL_BYTES} at most",
            )
        if count == 0:
            if cursor.remaining:
                raise CorruptPage(
                    "L.page.constant.level-count",
                    place,
                    found=f"{cursor.remaining} bytes of no levels",
                    wanted="a count for them",
                )
            return None
        if compressed is None:
            data = cursor.take(cursor.remaining, name, "L.page.constant.level-bytes", "levels u16")
            return np.frombuffer(data, "<u2")
        values = decode_block(compressed[0], cursor, count)
        if not isinstance(values, Fixed) or values.bits != 16 or values.count != count:
            raise CorruptPage(
                "L.page.constant.level-count", place, found=values, wanted=f"{count} u16 levels"
            )
        levels: Level = values.data.view("<u2")
        return levels

    @cached_property
    def _starts(self) -> NDArray[np.int64] | None:
        """Where the page slots begin; None when the page has no levels."""
        levels = self._levels
        if levels.rep is None and levels.definition is None:
            return None
        starts = row_starts(levels, self._layers)
        place = self._file.ctx.at(*self._page.extents[-2])
        highest = self._layers.max_rep
        if levels.rep is not None and levels.count and int(levels.rep[0]) != highest:
            first = int(levels.rep[0])
            raise CorruptPage("L.page.levels.first-entry", place, found=first, wanted=highest)
        if len(starts) != self._page.num_rows:
            raise CorruptPage(
                "L.page.levels.rows",
                place,
                found=f"{len(starts)} rows",
                wanted=self._page.num_rows,
            )
        return starts

    def _cut(self, start: int, stop: int) -> Levels:
        scale, starts = self._layers.scale, self._starts
        if starts is None:
            return Levels((stop - start) * scale, None, None)
        bounds = np.append(starts, self._levels.count)
        return self._levels.slice(int(bounds[start * scale]), int(bounds[stop * scale]))

    def _nested(self, levels: Levels, num_rows: int) -> Nested:
        visible = levels.visible(self._layers)
        count = levels.count if visible is None else int(np.count_nonzero(visible))
        validity = levels.leaf_validity(self._layers)
        entries = Entries(levels, self._leaf(count, validity))
        return unravel(self._layers, entries, num_rows, self._page.place)

    def _leaf(self, count: int, validity: NDArray[np.bool_] | None) -> pa.Array:
        size = count * (width_bits(self._type) or 0) // 8
        limit = self._file.ctx.limits.expanded(self._file.size)
        if size > limit:
            raise LimitExceeded(
                "L.page.limits.constant", self._page.place, found=size, wanted=f"{limit} at most"
            )
        if self._value is None:
            if pa.types.is_struct(self._type) and self._type.num_fields == 0:
                return pa.array([{}] * count, self._type)
            return pa.nulls(count, self._type)
        mask = None if validity is None else ~validity
        return self._value.take(pa.array(np.zeros(count, dtype=np.int8), mask=mask))

    @cached_property
    def _value(self) -> pa.Array | None:
        """The value as an array of one element; None when there is none."""
        inline, place = self._constant.inline_value, self._page.place
        if inline is not None:
            data = np.frombuffer(inline, np.uint8)
            return leaf_array(self._type, Fixed(len(inline) * 8, 1, data), None, place)
        if len(self._page.extents) % 2 == 0:
            return None
        return parse_value(self._file, self._page.extents[0], self._type)


def parse_value(file: FileBytes, extent: Extent, type_: pa.DataType) -> pa.Array:
    """Parse a value buffer: the Arrow buffers of an array of one element."""
    clause = "L.page.constant.value-buffer"
    cursor = file.cursor(extent, "constant value", clause)
    place = file.ctx.at(cursor.offset, cursor.remaining)
    count = cursor.u32("number of buffers", clause)
    wanted = 2 if is_variable(type_) else 1
    if count != wanted:
        raise CorruptPage(clause, place, found=f"{count} buffers", wanted=f"{wanted} for {type_}")
    sizes = [cursor.u32("size of a buffer", clause) for _ in range(count)]
    if sum(sizes) != cursor.remaining:
        raise CorruptPage(clause, place, found=f"{cursor.remaining} bytes", wanted=sum(sizes))
    if not is_variable(type_):
        data = np.frombuffer(cursor.take(sizes[0], "value", clause, "constant value"), np.uint8)
        return leaf_array(type_, Fixed(len(data) * 8, 1, data), None, place)
    width = 8 if pa.types.is_large_string(type_) or pa.types.is_large_binary(type_) else 4
    return _variable_value(cursor, sizes, width, type_, place)


def _variable_value(
    cursor: Cursor, sizes: list[int], width: int, type_: pa.DataType, place: Place
) -> pa.Array:
    clause = "L.page.constant.value-buffer"
    if sizes[0] != 2 * width:
        raise CorruptPage(clause, place, found=f"{sizes[0]} bytes", wanted=f"two i{8 * width}")
    offsets = cursor.array(f"<u{width}", 2, "offsets of the value", clause)
    data = np.frombuffer(cursor.take(sizes[1], "value", clause, "constant value"), np.uint8)
    if int(offsets[0]) or int(offsets[1]) != len(data):
        raise CorruptPage(clause, place, found=offsets.tolist(), wanted=[0, len(data)])
    return leaf_array(type_, Variable(offsets.astype(np.int64), data), None, place)
