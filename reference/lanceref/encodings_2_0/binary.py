"""Binary: strings and byte strings.

One end offset for each row (`ends`) and the bytes of all rows back to back, which may be
compressed. A null row may own bytes; they are passed over.

Layout: indices (u64 ends, null rows plus null_adjustment), then bytes (flat values of 8 bits).

Clauses: L.array.binary.utf8, L.array.binary.null-adjustment-value, L.array.binary.bytes-width,
L.array.binary.type, L.array.binary.offset-width, L.array.binary.bytes-end, and those of `ends`

Strings and byte strings, encoded: end offsets and bytes, a dictionary, or FSST codes.

Strings of a page with at least 100 rows and fewer than 100 distinct values become a dictionary of
the writer's own: keys of one byte, 0 for null, k for item k - 1.

Layout: see `binary`, `dictionary` and `fsst`.

Clauses: L.array.binary.null-adjustment-value, L.array.dictionary.num-items

FSST: strings whose frequent substrings are replaced by one-byte codes.

The compressed strings are stored as `binary`; the symbol table stands in the description of the
page, in the form that later versions use too (see `codecs.fsst`). A table that is switched off
marks strings stored as they are.

Clauses: L.array.fsst.inner, and those of `codecs.fsst`
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import fsst_encode, general
from lanceref.codecs.fsst import SymbolTable, decode, parse_table
from lanceref.codecs.values import Variable
from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
from lanceref.encodings_2_0.ends import Ends, open_ends
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, is_compressed, open_flat
from lanceref.encodings_2_0.nullable import PageBuffers, no_nulls
from lanceref.encodings_2_0.page import Page, RowRanges
from lanceref.file.column_writer import Buffer
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

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


DICTIONARY_ROWS = 100
"""Rows from which, and distinct values below which, strings become a dictionary."""

FIRST_ROWS = 4096
"""Rows that are looked at first: in most pages they have too many distinct values already."""

COMPRESSIONS = ("zstd", "lz4", "none", "fsst")
"""What field metadata can ask for; anything else is not heard."""


def encode_strings(
    array: pa.Array, page: PageBuffers, compression: str | None, level: int | None
) -> ArrayEncoding:
    """Encode strings of a page: a dictionary, FSST or plain, as the rows and metadata suggest."""
    if pa.types.is_string(array.type):
        chosen = own_dictionary(array, page)
        if chosen is not None:
            return chosen
    if compression == "fsst":
        return encode_fsst(array, page)
    scheme = compression if compression in COMPRESSIONS else None
    return encode_binary(array, page, scheme, level)


def encode_binary(
    array: pa.Array, page: PageBuffers, scheme: str | None = None, level: int | None = None
) -> ArrayEncoding:
    """Encode the ends of all rows, then their bytes, compressed if a scheme is named."""
    return _binary(variable_of(array), _nulls(array), page, scheme, level)


def _binary(
    values: Variable,
    nulls: NDArray[np.bool_],
    page: PageBuffers,
    scheme: str | None = None,
    level: int | None = None,
) -> ArrayEncoding:
    encoding = ArrayEncoding()
    size = int(values.offsets[-1])
    adjustment = size + 1 if values.count else 0
    ends = values.offsets[1:].astype("<u8")
    ends[nulls] += np.uint64(adjustment)
    encoding.binary.indices.CopyFrom(no_nulls(page.flat(ends.view(np.uint8), 64)))
    plain = np.ascontiguousarray(values.data[:size])
    data: Buffer = plain
    if scheme in ("zstd", "lz4"):
        data = general.compress(scheme, level, plain.data)
    body = page.flat(data, 8, scheme)
    if scheme is not None and level is not None:
        body.flat.compression.level = level
    encoding.binary.bytes.CopyFrom(body)
    encoding.binary.null_adjustment = adjustment
    return encoding


def encode_fsst(array: pa.Array, page: PageBuffers) -> ArrayEncoding:
    """Encode strings as codes under a symbol table."""
    table, coded = fsst_encode.encode(variable_of(array))
    encoding = ArrayEncoding()
    encoding.fsst.binary.CopyFrom(_binary(coded, _nulls(array), page))
    encoding.fsst.symbol_table = table
    return encoding


def own_dictionary(array: pa.Array, page: PageBuffers) -> ArrayEncoding | None:
    """Encode strings as a dictionary of the writer's own; None when there are too many or few."""
    threshold = int(os.environ.get("LANCE_DICT_ENCODING_THRESHOLD", DICTIONARY_ROWS))
    if len(array) < threshold or pc.count_distinct(array[:FIRST_ROWS]).as_py() >= threshold:
        return None
    coded = array.dictionary_encode()
    if len(coded.dictionary) >= threshold:
        return None
    items = coded.dictionary if len(coded.dictionary) else pa.nulls(1, array.type)
    keys = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    encoding = ArrayEncoding()
    encoding.dictionary.indices.CopyFrom(no_nulls(page.flat(keys.astype(np.uint8), 8)))
    encoding.dictionary.items.CopyFrom(encode_binary(items, page))
    encoding.dictionary.num_dictionary_items = len(items)
    return encoding


def variable_of(array: pa.Array) -> Variable:
    """Return the bytes of strings with offsets from 0; those of null rows too if not all are."""
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    if offsets is None or array.null_count == len(array):
        return Variable(np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8))
    table = np.frombuffer(offsets, np.int64 if wide else np.int32)
    cut = table[array.offset : array.offset + len(array) + 1].astype(np.int64)
    stored = np.frombuffer(data if data is not None else b"", np.uint8)[cut[0] : cut[-1]]
    return Variable(cut - cut[0], stored)


def _nulls(array: pa.Array) -> NDArray[np.bool_]:
    nulls: NDArray[np.bool_] = np.asarray(array.is_null())
    return nulls


@dataclass(frozen=True, slots=True)
class FsstArray:
    """Compressed strings and the table that undoes it."""

    page: Page
    strings: BinaryArray
    table: SymbolTable
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the end offsets."""
        return self.strings.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Read the compressed strings and expand them."""
        stored, nulls = self.strings.values(rows, parts)
        values = decode(self.table, stored, self.strings.place)
        return variable_array(values, nulls, self.type, self.page, self.strings.place)


def open_fsst(encoding: pb.Fsst, type_: pa.DataType, num_rows: int, page: Page) -> FsstArray:
    """Open compressed strings; the inner encoding must be binary."""
    arm = encoding.binary.WhichOneof("array_encoding")
    if arm != "binary":  # L.array.fsst.inner
        raise UnknownEncoding(
            "L.array.fsst.inner", page.place, found=f"fsst over {arm}", wanted="fsst over binary"
        )
    table = parse_table(encoding.symbol_table, page.place)
    strings = open_binary(encoding.binary.binary, type_, num_rows, page, "fsst codes")
    return FsstArray(page, strings, table, type_)
