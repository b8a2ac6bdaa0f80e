"""Binary: strings and byte strings.

One end offset for each row (`ends`) and the bytes of all rows back to back, which may be
compressed. A null row may own bytes; they are passed over.

Layout: indices (u64 ends, null rows plus null_adjustment), then bytes (flat values of 8 bits).

Clauses: L.array.binary.utf8, L.array.binary.null-adjustment-value, L.array.binary.bytes-width,
L.array.binary.type, L.array.binary.offset-width, L.array.binary.bytes-end, and those of `ends`
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.values import Variable
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.encodings_2_0.ends import Ends, open_ends
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, is_compressed, open_flat
from lanceref.encodings_2_0.page import Page
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

MAX_OFFSET = 2**31 - 1
"""Largest offset of the Arrow types whose offsets are int32."""


class BinaryArray:
    """The strings of a page."""

    def __init__(
        self, page: Page, ends: Ends, body: pb.Flat, type_: pa.DataType, kind: str
    ) -> None:
        self._page = page
        self._ends = ends
        self._body = body
        self._type = type_
        self._kind = kind
        self._extent = page.extent(body.buffer)
        self._opened: tuple[FlatValues, int] | None = None

    @property
    def place(self) -> Place:
        """Where the bytes of the strings lie."""
        return self._page.at(self._extent)

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the end offsets; the bytes are read by `values`."""
        return self._ends.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Read the bytes and build the Arrow array."""
        values, nulls = self.values(rows, parts)
        return variable_array(values, nulls, self._type, self._page, self.place)

    def values(
        self, rows: RowRanges, parts: Iterator[Cursor]
    ) -> tuple[Variable, NDArray[np.bool_]]:
        """Return the strings as stored, and which rows are null."""
        body, total = self._bytes()
        slices = self._ends.decode(rows, parts, total)
        wanted = RowRanges(tuple((start, end) for start, end in slices.bounds if end > start))
        extents = body.plan(wanted)
        cursors = self._page.file.cursors(extents, "bytes of strings", "L.array.flat.size")
        data = body.data(wanted, iter(cursors))
        if self._page.ctx.validating:
            num_rows = rows.bounds[-1][1] if rows.bounds else 0
            self._lint_last_end(num_rows, slices.bounds[-1][1] if num_rows else 0)
        return Variable(slices.offsets(), data), slices.nulls

    def _bytes(self) -> tuple[FlatValues, int]:
        """Open the bytes at the first read: only the last end says how many compressed ones are."""
        if self._opened is None:
            total = self._ends.last() if is_compressed(self._body) else self._extent.size
            flat = open_flat(self._body, total, self._page, "bytes", self._kind)
            self._opened = flat, total
        return self._opened

    def _lint_last_end(self, num_rows: int, last: int) -> None:
        """Lint: the bytes end at the last end, and the adjustment is one more than it."""
        if num_rows != self._ends.num_rows:
            return
        if not is_compressed(self._body) and self._extent.size != last:
            spare = self._extent.offset + last, self._extent.end
            self._page.ctx.leaf(*spare, "spare bytes", "unreferenced", "L.array.binary.bytes-end")
            self._page.ctx.lint(
                "L.array.binary.bytes-end",
                self.place,
                found=f"{self._extent.size} bytes",
                wanted=f"{last}, the last end",
            )
        if num_rows and self._ends.adjustment != last + 1:
            self._page.ctx.lint(
                "L.array.binary.null-adjustment-value",
                self._page.place,
                found=self._ends.adjustment,
                wanted=last + 1,
            )


def variable_array(
    values: Variable, nulls: NDArray[np.bool_], type_: pa.DataType, page: Page, place: Place
) -> pa.Array:
    """Build an Arrow array of strings or byte strings; `place` is where the bytes lie."""
    large = pa.types.is_large_string(type_) or pa.types.is_large_binary(type_)
    total = int(values.offsets[-1])
    if total > MAX_OFFSET and not large:
        raise LimitExceeded(
            "L.array.binary.offset-width",
            place,
            found=f"{total} bytes in one run of rows",
            wanted=f"at most {MAX_OFFSET} for {type_}",
        )
    offsets = values.offsets if large else values.offsets.astype(np.int32)
    validity = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(values.data)]
    array = pa.Array.from_buffers(type_, values.count, buffers)
    is_text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    if is_text and not values.is_ascii:
        check_utf8(array, page, place)
    return array


def check_utf8(array: pa.Array, page: Page, place: Place) -> None:
    """Refuse strings that are not UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:  # L.array.binary.utf8
        page.ctx.refuse(
            CorruptPage("L.array.binary.utf8", place, found=str(error), wanted="valid UTF-8")
        )


def is_string(type_: pa.DataType) -> bool:
    """Whether a type is text or byte strings, with offsets of either width."""
    return type_ in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def open_binary(
    encoding: pb.Binary, type_: pa.DataType, num_rows: int, page: Page, kind: str = "bytes"
) -> BinaryArray:
    """Open the strings of a page; `kind` says in spans what their bytes are."""
    if not is_string(type_):
        raise CorruptPage(  # L.array.binary.type
            "L.array.binary.type", page.place, found="binary", wanted=f"values of {type_}"
        )
    ends = open_ends(encoding.indices, encoding.null_adjustment, num_rows, page, "string ends")
    body = bare_flat(encoding.bytes, page, "bytes")
    if body.bits_per_value != 8:  # L.array.binary.bytes-width
        raise CorruptPage(
            "L.array.binary.bytes-width",
            page.place,
            found=f"bytes of {body.bits_per_value} bits",
            wanted="8 bits",
        )
    return BinaryArray(page, ends, body, type_, kind)
