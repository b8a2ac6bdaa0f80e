"""Binary: end offsets, and strings and byte strings, plain, FSST or of one width, read and written.

End offsets say where each row's bytes (of lists: items) end, with the nulls among them: cumulative
from the start of the page, with no leading 0. A null row stores its end plus an adjustment that is
larger than every end; it may own bytes, which a reader skips. The words are flat values, the first
buffer of the page. The bytes of all rows follow back to back, and may be compressed. FSST stores
codes as `binary`. Strings of one width are an old writer's choice: only the bytes are stored.

Layout of ends: u64 words; v >= adjustment: null, ends at v - adjustment; else ends at v.
Example: null, "foo", "foo", null with adjustment 7 is stored as 7, 3, 6, 13.

Clauses: L.array.ends.width, L.array.ends.order, L.array.ends.bound, L.array.ends.null-adjustment,
L.array.binary.utf8, L.array.binary.null-adjustment-value, L.array.binary.bytes-width,
L.array.binary.type, L.array.binary.offset-width, L.array.binary.bytes-end, L.array.fsst.inner,
L.array.fixed-size-binary.width, and those of `codecs.variable`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import general, symbol_coder
from lanceref.codecs.values import Bools, Ints, Variable
from lanceref.codecs.variable import SymbolTable, decode_codes, parse_symbol_table
from lanceref.core.arrow_buffers import STRINGS, TEXT, check_text, offsets_buffer
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Extent
from lanceref.core.errors import CorruptPage, OutOfRange, Place, UnknownEncoding
from lanceref.core.packed_values import bytes_of, null_bitmap, offsets_of
from lanceref.encodings_2_0.flat import (
    FlatValues,
    PageBuffers,
    bare_flat,
    is_compressed,
    no_nulls,
    open_flat,
)
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.file.column_io import Buffer
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding


@dataclass(frozen=True, slots=True)
class Slices:
    """What each row of some ranges owns.

    `lengths` int64 and `nulls` bool, one for each row; `owned`, one range for each range of rows:
    the bytes or items that its rows own together, back to back, maybe none.
    """

    lengths: Ints
    nulls: Bools
    owned: RowRanges

    def offsets(self) -> Ints:
        """Return where rows start when ranges are concatenated, and the final end: (rows + 1,)."""
        return np.append(0, np.cumsum(self.lengths))


@dataclass(frozen=True, slots=True)
class Ends:
    """The end offsets of a page of `num_rows` rows."""

    page: Page
    extent: Extent
    words: FlatValues
    adjustment: int
    num_rows: int

    def read(self, rows: RowRanges, limit: int) -> Slices:
        """Return what the rows own; no end may lie beyond `limit`. Raises CorruptPage.

        Each range needs the end before its first row too.
        """
        stored = self.words.data(_with_previous(rows)).view("<u8")
        nulls = stored >= np.uint64(self.adjustment)
        ends = stored - nulls * np.uint64(self.adjustment) if nulls.any() else stored
        self._check_bounds(ends, rows, limit)
        signed = ends.astype(np.int64, copy=False)
        if len(rows.starts) and rows.starts[0] == 0:
            signed, nulls = np.insert(signed, 0, 0), np.insert(nulls, 0, False)
        lasts = np.cumsum(rows.counts + 1) - 1
        heads = lasts - rows.counts
        lengths, nulls = signed[1:] - signed[:-1], nulls[1:]
        if len(heads) > 1:  # from the last end of a range to the one before the next
            own = np.ones(len(lengths), np.bool_)
            own[heads[1:] - 1] = False
            lengths, nulls = lengths[own], nulls[own]
        if len(lengths) and lengths.min() < 0:
            at = int(np.flatnonzero(lengths < 0)[0])
            place, found = self._row_place(at, rows), f"an end {-int(lengths[at])} lower"
            raise CorruptPage("L.array.ends.order", place, found, "ends that never decrease")
        return Slices(lengths, nulls, RowRanges(signed[heads], signed[lasts]))

    def last(self) -> int:
        """Read the end of the page's last row; 0 for a page without rows."""
        if self.num_rows == 0:
            return 0
        row = RowRanges.single(self.num_rows - 1, self.num_rows)
        # the span belongs to the read of the rows
        word = int(self.words.data(row, owned=False).view("<u8")[0])
        return word - self.adjustment if word >= self.adjustment else word

    def _check_bounds(self, ends: NDArray[np.uint64], rows: RowRanges, limit: int) -> None:
        largest = int(ends.max()) if len(ends) else 0
        if largest > limit:
            place = self._row_place(int(ends.argmax()), _with_previous(rows))
            found, wanted = f"an end at {largest}", f"at most {limit}"
            raise OutOfRange("L.array.ends.bound", place, found, wanted)
        if len(ends) and largest >= self.adjustment:
            clause, wanted = "L.array.ends.null-adjustment", f"more than {largest}"
            raise CorruptPage(clause, self.page.place, self.adjustment, wanted)

    def _row_place(self, index: int, rows: RowRanges) -> Place:
        ends = np.cumsum(rows.counts)
        owner = int(np.searchsorted(ends, index, "right"))
        row = int(rows.ends[owner] - (ends[owner] - index))
        return self.page.ctx.at(self.extent.offset + 8 * row, 8)


def _with_previous(rows: RowRanges) -> RowRanges:
    """The ranges, each begun one row earlier; ranges that touch stay apart (rows are repeated)."""
    return RowRanges(np.maximum(rows.starts - 1, 0), rows.ends)


def open_ends(
    encoding: ArrayEncoding, adjustment: int, num_rows: int, page: Page, name: str
) -> Ends:
    """Open end offsets; they must be 64 bits wide."""
    flat = bare_flat(encoding, page, name)
    expect("L.array.ends.width", flat.bits_per_value, 64, page.place)
    words = open_flat(flat, num_rows, page, name, "offsets u64[]")
    return Ends(page, page.extent(flat.buffer), words, adjustment, num_rows)


def encode_ends(ends: Ints, nulls: Bools, adjustment: int, page: PageBuffers) -> ArrayEncoding:
    """Add the ends of rows (n,) to a page, those of null rows plus the adjustment."""
    words = ends.astype("<u8")
    words[nulls] += np.uint64(adjustment)
    return no_nulls(page.flat(words.view(np.uint8), 64))


class StoredStrings:
    """The strings of a page as stored; `kind` says in spans what their bytes are."""

    def __init__(
        self, encoding: pb.Binary, type_: pa.DataType, num_rows: int, page: Page, kind: str
    ) -> None:
        if type_ not in STRINGS:
            raise CorruptPage("L.array.binary.type", page.place, "binary", type_)
        adjustment = encoding.null_adjustment
        self._ends = open_ends(encoding.indices, adjustment, num_rows, page, "string ends")
        self._body = bare_flat(encoding.bytes, page, "bytes")
        expect("L.array.binary.bytes-width", self._body.bits_per_value, 8, page.place)
        self._page, self._kind = page, kind
        self._extent = page.extent(self._body.buffer)

    @cached_property
    def _opened(self) -> tuple[FlatValues, int]:
        """The bytes and how many they are; only the last end tells it of compressed ones."""
        total = self._ends.last() if is_compressed(self._body) else self._extent.size
        return open_flat(self._body, total, self._page, "bytes", self._kind), total

    @property
    def place(self) -> Place:
        return self._page.at(self._extent)

    def values(self, rows: RowRanges) -> tuple[Variable, Bools]:
        """Return the strings as stored, and which rows are null. The flags are (rows,)."""
        body, total = self._opened
        slices = self._ends.read(rows, total)
        data = body.data(slices.owned.filled())
        if self._page.ctx.validating:
            last_row, last_end = rows.ends.max(initial=0), slices.owned.ends.max(initial=0)
            self._lint_last_end(int(last_row), int(last_end))
        return Variable(slices.offsets(), data), slices.nulls

    def _lint_last_end(self, num_rows: int, last: int) -> None:
        """Lint: the bytes end at the last end, and the adjustment is one more than it."""
        if num_rows != self._ends.num_rows:
            return
        ctx, size = self._page.ctx, self._extent.size
        if not is_compressed(self._body) and size != last:
            spare = self._extent.offset + last, self._extent.end
            ctx.leaf(*spare, "spare bytes", "unreferenced", "L.array.binary.bytes-end")
            ctx.lint("L.array.binary.bytes-end", self.place, size, last)
        if num_rows and self._ends.adjustment != last + 1:
            clause, found = "L.array.binary.null-adjustment-value", self._ends.adjustment
            ctx.lint(clause, self._page.place, found, last + 1)


def _variable_array(
    values: Variable, nulls: Bools, type_: pa.DataType, ctx: Context, place: Place
) -> pa.Array:
    """Build an Arrow array of strings or byte strings; `place` is where the bytes lie."""
    offsets = offsets_buffer(type_, values.offsets, "L.array.binary.offset-width", place)
    buffers = [null_bitmap(nulls), offsets, pa.py_buffer(values.data)]
    array = pa.Array.from_buffers(type_, values.count, buffers)
    if type_ in TEXT and not values.is_ascii:
        with ctx.piece():
            check_text(array, "L.array.binary.utf8", place)
    return array


def open_binary(
    encoding: pb.Binary,
    type_: pa.DataType,
    num_rows: int,
    page: Page,
    table: SymbolTable | None = None,
) -> ReadRows:
    """Open a page of strings or byte strings: offsets, then bytes, or codes under a table."""
    kind = "bytes" if table is None else "fsst codes"
    strings = StoredStrings(encoding, type_, num_rows, page, kind)

    def read(rows: RowRanges) -> pa.Array:
        values, nulls = strings.values(rows)
        if table is not None:
            values = decode_codes(table, values, strings.place)
        return _variable_array(values, nulls, type_, page.ctx, strings.place)

    return read


def open_fsst(encoding: pb.Fsst, type_: pa.DataType, num_rows: int, page: Page) -> ReadRows:
    """Open FSST codes; the inner encoding must be binary."""
    arm = encoding.binary.WhichOneof("array_encoding")
    expect("L.array.fsst.inner", arm, "binary", page.place, UnknownEncoding)
    table = parse_symbol_table(encoding.symbol_table, page.place)
    return open_binary(encoding.binary.binary, type_, num_rows, page, table)


def open_fixed_size_binary(
    encoding: pb.FixedSizeBinary, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open strings of one width; the bytes may be described as bytes or as whole values.

    Raises CorruptPage.
    """
    width = encoding.byte_width
    flat = bare_flat(encoding.bytes, page, "bytes")
    bits = flat.bits_per_value
    if type_ not in STRINGS or width == 0 or bits not in (8, 8 * width):
        clause, found = "L.array.fixed-size-binary.width", f"{width} bytes stored as {bits} bits"
        raise CorruptPage(clause, page.place, found, f"values of {type_}")
    as_bytes = pb.Flat(bits_per_value=8, buffer=flat.buffer)
    if flat.HasField("compression"):
        as_bytes.compression.CopyFrom(flat.compression)
    stored = open_flat(as_bytes, num_rows * width, page, "bytes", "bytes")

    def read(rows: RowRanges) -> pa.Array:
        data = stored.data(rows.scaled(width))
        values = Variable(np.arange(rows.count + 1, dtype=np.int64) * width, data)
        nulls, place = np.zeros(rows.count, np.bool_), page.at(page.extent(flat.buffer))
        return _variable_array(values, nulls, type_, page.ctx, place)

    return read


def encode_binary(
    array: pa.Array, page: PageBuffers, scheme: str | None = None, level: int | None = None
) -> ArrayEncoding:
    """Encode the ends of all rows, then their bytes, compressed if a scheme is named."""
    return _encode(variable_of(array), array, page, scheme, level)


def _encode(
    values: Variable, array: pa.Array, page: PageBuffers, scheme: str | None, level: int | None
) -> ArrayEncoding:
    size = int(values.offsets[-1])
    adjustment = size + 1 if values.count else 0
    indices = encode_ends(values.offsets[1:], np.asarray(array.is_null()), adjustment, page)
    plain = np.ascontiguousarray(values.data[:size])
    data: Buffer = plain
    if scheme in ("zstd", "lz4"):
        data = general.compress(scheme, level, plain.data)
    body = page.flat(data, 8, scheme)
    if scheme is not None and level is not None:
        body.flat.compression.level = level
    return ArrayEncoding(binary=pb.Binary(indices=indices, bytes=body, null_adjustment=adjustment))


def encode_fsst(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode strings as codes under a symbol table."""
    table, coded = symbol_coder.encode(variable_of(array))
    binary = _encode(coded, array, page, None, None)
    return ArrayEncoding(fsst=pb.Fsst(binary=binary, symbol_table=table))


def variable_of(array: pa.Array) -> Variable:
    """Return the bytes of strings with offsets from 0; those of null rows too if not all are."""
    if array.null_count == len(array):
        return Variable(np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8))
    offsets = offsets_of(array)
    data = bytes_of(array.buffers()[2])[offsets[0] : offsets[-1]]
    return Variable(offsets - offsets[0], data)
