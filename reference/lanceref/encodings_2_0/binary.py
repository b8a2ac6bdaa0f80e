"""Binary: strings and byte strings, plain, FSST or of one width, read and written.

One end offset for each row (`ends`) and the bytes of all rows back to back, which may be
compressed. A null row may own bytes; a reader skips them. FSST stores codes as `binary`, and the
symbol table in the description of the page, in the form of later versions; a table that is
switched off marks strings stored as they are. Strings of one width are an old writer's choice:
only the bytes are stored, and no writer of today produces it.

Layout, binary: indices (u64 ends, null rows plus null_adjustment), then bytes (flat, 8 bits).
Layout, fixed-size binary: row i at i * byte_width.

Clauses: L.array.binary.utf8, L.array.binary.null-adjustment-value, L.array.binary.bytes-width,
L.array.binary.type, L.array.binary.offset-width, L.array.binary.bytes-end, L.array.fsst.inner,
L.array.fixed-size-binary.width, and those of `ends` and `codecs.fsst`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import fsst_encode, general
from lanceref.codecs.fsst import SymbolTable, decode, parse_table
from lanceref.codecs.values import Variable
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding, expect
from lanceref.encodings_2_0.ends import Ends, encode_ends, open_ends
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, is_compressed, open_flat
from lanceref.encodings_2_0.nullable import PageBuffers
from lanceref.encodings_2_0.page import Page, RowRanges, validity_buffer
from lanceref.file.column_writer import Buffer
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

MAX_OFFSET = 2**31 - 1
"""Largest offset of the Arrow types whose offsets are int32."""

TEXT = (pa.string(), pa.large_string())
LARGE = (pa.large_string(), pa.large_binary())
STRINGS = (*TEXT, pa.binary(), pa.large_binary())
"""Types of text and byte strings."""


class BinaryArray:
    """The strings of a page."""

    def __init__(
        self, page: Page, ends: Ends, body: pb.Flat, type_: pa.DataType, kind: str
    ) -> None:
        self._page, self._ends, self._body = page, ends, body
        self._type, self._kind = type_, kind
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
        return _variable_array(values, nulls, self._type, self._page.ctx, self.place)

    def values(
        self, rows: RowRanges, parts: Iterator[Cursor]
    ) -> tuple[Variable, NDArray[np.bool_]]:
        """Return the strings as stored, and which rows are null."""
        if self._opened is None:  # only the last end says how many compressed bytes there are
            total = self._ends.last() if is_compressed(self._body) else self._extent.size
            flat = open_flat(self._body, total, self._page, "bytes", self._kind)
            self._opened = flat, total
        body, total = self._opened
        slices = self._ends.decode(rows, parts, total)
        wanted = RowRanges(tuple((start, end) for start, end in slices.bounds if end > start))
        extents = body.plan(wanted)
        cursors = self._page.file.cursors(extents, "bytes of strings", "L.array.flat.size")
        data = body.data(wanted, iter(cursors))
        if self._page.ctx.validating:
            num_rows = rows.bounds[-1][1] if rows.bounds else 0
            self._lint_last_end(num_rows, slices.bounds[-1][1] if num_rows else 0)
        return Variable(slices.offsets(), data), slices.nulls

    def _lint_last_end(self, num_rows: int, last: int) -> None:
        """Lint: the bytes end at the last end, and the adjustment is one more than it."""
        if num_rows != self._ends.num_rows:
            return
        ctx, size = self._page.ctx, self._extent.size
        if not is_compressed(self._body) and size != last:
            spare = self._extent.offset + last, self._extent.end
            ctx.leaf(*spare, "spare bytes", "unreferenced", "L.array.binary.bytes-end")
            ctx.lint("L.array.binary.bytes-end", self.place, found=size, wanted=last)
        if num_rows and self._ends.adjustment != last + 1:
            clause, found = "L.array.binary.null-adjustment-value", self._ends.adjustment
            ctx.lint(clause, self._page.place, found=found, wanted=last + 1)


def _variable_array(
    values: Variable, nulls: NDArray[np.bool_], type_: pa.DataType, ctx: Context, place: Place
) -> pa.Array:
    """Build an Arrow array of strings or byte strings; `place` is where the bytes lie."""
    total = int(values.offsets[-1])
    if total > MAX_OFFSET and type_ not in LARGE:
        clause, wanted = "L.array.binary.offset-width", f"at most {MAX_OFFSET} for {type_}"
        raise LimitExceeded(clause, place, found=f"{total} bytes in one run", wanted=wanted)
    offsets = values.offsets if type_ in LARGE else values.offsets.astype(np.int32)
    buffers = [validity_buffer(nulls), pa.py_buffer(offsets), pa.py_buffer(values.data)]
    array = pa.Array.from_buffers(type_, values.count, buffers)
    if type_ in TEXT and not values.is_ascii:
        check_utf8(array, ctx, place)
    return array


def check_utf8(array: pa.Array, ctx: Context, place: Place) -> None:
    """Refuse strings that are not UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        clause = "L.array.binary.utf8"
        ctx.refuse(CorruptPage(clause, place, found=str(error), wanted="valid UTF-8"))


def open_binary(
    encoding: pb.Binary, type_: pa.DataType, num_rows: int, page: Page, kind: str = "bytes"
) -> BinaryArray:
    """Open the strings of a page; `kind` says in spans what their bytes are."""
    if type_ not in STRINGS:
        raise CorruptPage("L.array.binary.type", page.place, found="binary", wanted=type_)
    ends = open_ends(encoding.indices, encoding.null_adjustment, num_rows, page, "string ends")
    body = bare_flat(encoding.bytes, page, "bytes")
    expect("L.array.binary.bytes-width", body.bits_per_value, 8, page.place)
    return BinaryArray(page, ends, body, type_, kind)


@dataclass(frozen=True, slots=True)
class FsstArray:
    """FSST codes and the symbol table that expands them."""

    page: Page
    strings: BinaryArray
    table: SymbolTable
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the end offsets."""
        return self.strings.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Read the codes and expand them."""
        stored, nulls = self.strings.values(rows, parts)
        place = self.strings.place
        values = decode(self.table, stored, place)
        return _variable_array(values, nulls, self.type, self.page.ctx, place)


def open_fsst(encoding: pb.Fsst, type_: pa.DataType, num_rows: int, page: Page) -> FsstArray:
    """Open FSST codes; the inner encoding must be binary."""
    arm = encoding.binary.WhichOneof("array_encoding")
    expect("L.array.fsst.inner", arm, "binary", page.place, UnknownEncoding)
    table = parse_table(encoding.symbol_table, page.place)
    strings = open_binary(encoding.binary.binary, type_, num_rows, page, "fsst codes")
    return FsstArray(page, strings, table, type_)


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
        nulls, place = np.zeros(rows.count, np.bool_), self.page.at(self.extent)
        return _variable_array(Variable(offsets, data), nulls, self.type, self.page.ctx, place)


def open_fixed_size_binary(
    encoding: pb.FixedSizeBinary, type_: pa.DataType, num_rows: int, page: Page
) -> EqualStrings:
    """Open strings of one width; the bytes may be described as bytes or as whole values."""
    width = encoding.byte_width
    flat = bare_flat(encoding.bytes, page, "bytes")
    bits = flat.bits_per_value
    if type_ not in STRINGS or width == 0 or bits not in (8, 8 * width):
        clause, found = "L.array.fixed-size-binary.width", f"{width} bytes stored as {bits} bits"
        raise CorruptPage(clause, page.place, found=found, wanted=f"values of {type_}")
    as_bytes = pb.Flat(bits_per_value=8, buffer=flat.buffer)
    if flat.HasField("compression"):
        as_bytes.compression.CopyFrom(flat.compression)
    values = open_flat(as_bytes, num_rows * width, page, "bytes", "bytes")
    return EqualStrings(page, values, page.extent(flat.buffer), width, type_)


def encode_binary(
    array: pa.Array, page: PageBuffers, scheme: str | None = None, level: int | None = None
) -> ArrayEncoding:
    """Encode the ends of all rows, then their bytes, compressed if a scheme is named."""
    return _encode(variable_of(array), np.asarray(array.is_null()), page, scheme, level)


def _encode(
    values: Variable,
    nulls: NDArray[np.bool_],
    page: PageBuffers,
    scheme: str | None = None,
    level: int | None = None,
) -> ArrayEncoding:
    size = int(values.offsets[-1])
    adjustment = size + 1 if values.count else 0
    indices = encode_ends(values.offsets[1:], nulls, adjustment, page)
    data: Buffer = np.ascontiguousarray(values.data[:size])
    if scheme in ("zstd", "lz4"):
        data = general.compress(scheme, level, memoryview(data))
    body = page.flat(data, 8, scheme)
    if scheme is not None and level is not None:
        body.flat.compression.level = level
    return ArrayEncoding(binary=pb.Binary(indices=indices, bytes=body, null_adjustment=adjustment))


def encode_fsst(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode strings as codes under a symbol table."""
    table, coded = fsst_encode.encode(variable_of(array))
    binary = _encode(coded, np.asarray(array.is_null()), page)
    return ArrayEncoding(fsst=pb.Fsst(binary=binary, symbol_table=table))


def variable_of(array: pa.Array) -> Variable:
    """Return the bytes of strings with offsets from 0; those of null rows too if not all are."""
    _, offsets, data = array.buffers()
    if offsets is None or array.null_count == len(array):
        return Variable(np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8))
    table = np.frombuffer(offsets, np.int64 if array.type in LARGE else np.int32)
    cut = table[array.offset : array.offset + len(array) + 1].astype(np.int64)
    stored = np.frombuffer(data if data is not None else b"", np.uint8)[cut[0] : cut[-1]]
    return Variable(cut - cut[0], stored)
