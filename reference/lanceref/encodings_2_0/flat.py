"""Flat and nullable: values of one width, back to back; their validity; fixed-size lists.

Flat values are the leaf of nearly every array encoding. They lie in one buffer of the page. Widths
are 1 bit (a bitmap, least significant bit first) or whole bytes (the Arrow value buffer). The bytes
may be compressed as one block: written for the bytes of strings when the field asks for it.

Nulls are decided for each page from its rows, not from the schema: no row is null, every row is
(then nothing is stored), or some are (a bitmap and the values of all rows). The items of a
fixed-size list, those of null rows too, are an encoding with validity of their own. The buffers of
a page are numbered in the order of the encoding tree: validity before values, lists before items.

Layout, zstd: u64 uncompressed size, then a zstd frame; a frame without the size is also read.
Layout, lz4: u32 uncompressed size, then an LZ4 block.

Clauses: L.array.flat.width, L.array.flat.type-width, L.array.flat.size, L.array.encoding.tag,
L.array.flat.compression, L.array.flat.compressed-size, L.array.flat.compressed-block,
L.array.nullable.validity, L.array.nullable.all-nulls, L.array.fixed-size-list.dimension
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lanceref.codecs.general import ZSTD_MAGIC, decompress_block
from lanceref.codecs.values import Bytes, Ints, join_pieces
from lanceref.core.compute import pc
from lanceref.core.context import expect
from lanceref.core.cursor import Extent, FileBytes, read_extents
from lanceref.core.errors import CorruptPage, DataRefused, UnknownEncoding
from lanceref.core.packed_values import bytes_of, concat_bits, slice_bits, value_bytes
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.file.column_io import Buffer
from lanceref.file.schema import slot_bits
from lanceref.proto import encodings_v2_0_pb2 as pb

_CODECS = {"zstd": "zstd", "lz4": "lz4_raw"}
"""Scheme of the format -> codec of pyarrow."""


def _cut(data: Bytes, at: Ints, sizes: Ints, rows: RowRanges, bits: int) -> Bytes:
    """Return the values of each range, of `sizes` bytes at `at` (ranges,), back to back.

    Bitmaps are moved so that they start at bit 0.
    """
    if len(at) == 1:
        joined = data[int(at[0]) : int(at[0]) + int(sizes[0])]
    else:
        joined = join_pieces(data, at, at + sizes)
    if bits != 1 or (len(at) == 1 and rows.starts[0] % 8 == 0):
        return joined
    return concat_bits(joined, rows.starts, rows.counts)


def _byte_ranges(rows: RowRanges, bits: int) -> tuple[Ints, Ints]:
    """Return the first byte that holds values of each range, and the one after the last."""
    return rows.starts * bits // 8, (rows.ends * bits + 7) // 8


@dataclass(frozen=True, slots=True)
class RawFlat:
    """Flat values as they lie in their buffer; the last three describe them in spans."""

    file: FileBytes
    extent: Extent
    bits: int
    name: str
    kind: str
    clause: str = "L.array.flat.size"

    def data(self, rows: RowRanges, *, owned: bool = True) -> Bytes:
        """Return the values of the ranges back to back; 1-bit values packed from bit 0.

        uint8 (bytes,). The bytes get spans when they are to be `owned` by this read.
        """
        if not len(rows.starts):
            return np.empty(0, np.uint8)
        firsts, lasts = _byte_ranges(rows, self.bits)
        starts, sizes, ctx = self.extent.offset + firsts, lasts - firsts, self.file.ctx
        data, at = read_extents(self.file, starts, sizes, "page buffer", "L.file.pages.extent")
        if ctx.spans is not None and owned:
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
                ctx.leaf(start, start + size, self.name, self.kind, self.clause)
        return _cut(data, at, sizes, rows, self.bits)


class Compressed:
    """Flat values in one compressed block; it is decompressed once, when first read."""

    def __init__(self, page: Page, flat: pb.Flat, size: int, name: str) -> None:
        self._file, self._extent = page.file, page.extent(flat.buffer)
        self._scheme = flat.compression.scheme
        self._size, self._bits, self._name = size, int(flat.bits_per_value), name
        if self._scheme not in _CODECS:
            clause, wanted = "L.array.flat.compression", "zstd or lz4"
            raise UnknownEncoding(clause, page.place, repr(self._scheme), wanted)
        page.file.bound_output(size, "L.array.flat.compressed-size", page.at(self._extent))

    def data(self, rows: RowRanges, *, owned: bool = True) -> Bytes:
        """Return the values of the ranges back to back; a block of no values is read too.

        uint8 (bytes,).
        """
        if not len(rows.starts) and (self._size or not self._extent.size):
            return np.empty(0, np.uint8)
        firsts, lasts = _byte_ranges(rows, self._bits)
        return _cut(self._plain, firsts, lasts - firsts, rows, self._bits)

    @cached_property
    def _plain(self) -> Bytes:
        cursor = self._file.cursor(self._extent, "page buffer", "L.file.pages.extent")
        place, is_lz4 = cursor.ctx.at(cursor.offset, cursor.remaining), self._scheme == "lz4"
        if is_lz4 or bytes(cursor.data[:4]) != ZSTD_MAGIC:
            read = cursor.u32 if is_lz4 else cursor.u64
            stored = read("uncompressed size", "L.array.flat.compressed-size")
            expect("L.array.flat.compressed-size", stored, self._size, place)
        clause, kind = "L.array.flat.compressed-block", f"{self._scheme} block"
        block = cursor.take(cursor.remaining, self._name, clause, kind)
        plain = decompress_block(_CODECS[self._scheme], block, self._size, clause, place)
        return np.frombuffer(plain, np.uint8)


FlatValues: TypeAlias = RawFlat | Compressed
"""The packed bytes of flat values, stored raw or compressed."""


@dataclass(frozen=True, slots=True)
class FlatRows:
    """Flat values as rows of an Arrow type of fixed width."""

    type: pa.DataType
    values: FlatValues

    def __call__(self, rows: RowRanges) -> pa.Array:
        return self.array(rows.count, self.values.data(rows))

    def array(self, count: int, data: Bytes) -> pa.Array:
        """Return `count` rows of `data` (bytes,), which is not copied."""
        return pa.Array.from_buffers(self.type, count, [None, pa.py_buffer(data)])


def open_flat_array(flat: pb.Flat, type_: pa.DataType, num_rows: int, page: Page) -> ReadRows:
    """Open flat values of a fixed-width Arrow type."""
    bits = None if pa.types.is_fixed_size_list(type_) else slot_bits(type_)
    expect("L.array.flat.type-width", flat.bits_per_value, bits, page.place)
    kind = "bitmap" if bits == 1 else f"{type_}[]"
    return FlatRows(type_, open_flat(flat, num_rows, page, "values", kind))


def open_flat(flat: pb.Flat, num_values: int, page: Page, name: str, kind: str) -> FlatValues:
    """Open a flat buffer of `num_values` values; its size must be exactly what they need.

    Raises CorruptPage.
    """
    extent, bits = page.extent(flat.buffer), int(flat.bits_per_value)
    if bits != 1 and (bits == 0 or bits % 8):
        raise CorruptPage("L.array.flat.width", page.place, f"{bits} bits", "1 bit or whole bytes")
    size = (num_values * bits + 7) // 8
    if is_compressed(flat):
        return Compressed(page, flat, size, name)
    expect("L.array.flat.size", extent.size, size, page.at(extent))
    return RawFlat(page.file, extent, bits, name, kind)


def is_compressed(flat: pb.Flat) -> bool:
    """Whether the bytes of the buffer have to be decompressed."""
    return flat.HasField("compression") and flat.compression.scheme not in ("", "none")


def bare_flat(encoding: pb.ArrayEncoding, page: Page, what: str) -> pb.Flat:
    """Return the flat encoding of an array that has no nulls, wrapped as nullable or not.

    Raises UnknownEncoding.
    """
    arm = encoding.WhichOneof("array_encoding")
    if arm == "nullable" and encoding.nullable.WhichOneof("nullability") == "no_nulls":
        encoding = encoding.nullable.no_nulls.values
        arm = encoding.WhichOneof("array_encoding")
    if arm != "flat":
        raise UnknownEncoding("L.array.encoding.tag", page.place, f"{what} stored as {arm}", "flat")
    return encoding.flat


def _with_validity(array: pa.Array, bitmap: Bytes) -> pa.Array:
    """Return `array` with null wherever `bitmap` (packed, 1 = valid) holds 0."""
    buffer = pa.py_buffer(bitmap)
    if array.null_count:
        mask = pa.Array.from_buffers(pa.bool_(), len(array), [None, buffer])
        return pc.if_else(mask, array, pa.scalar(None, array.type))
    own = array.buffers()[1 : array.type.num_buffers]
    children = [array.values] if pa.types.is_fixed_size_list(array.type) else None
    return pa.Array.from_buffers(array.type, len(array), [buffer, *own], children=children)


def open_nullable(nullable: pb.Nullable, type_: pa.DataType, num_rows: int, page: Page) -> ReadRows:
    """Open the arm that is set. Raises UnknownEncoding."""
    match nullable.WhichOneof("nullability"):
        case "no_nulls":
            return page.open(nullable.no_nulls.values, type_, num_rows)
        case "all_nulls":
            return lambda rows: _all_nulls(rows, type_, page)
        case None:
            clause, found = "L.array.encoding.tag", "nullable without an arm"
            raise UnknownEncoding(clause, page.place, found, "an arm")
    some = nullable.some_nulls
    flat = bare_flat(some.validity, page, "validity")
    expect("L.array.nullable.validity", flat.bits_per_value, 1, page.place)
    validity = open_flat(flat, num_rows, page, "validity", "bitmap")
    values = page.open(some.values, type_, num_rows)

    def read(rows: RowRanges) -> pa.Array:
        bitmap = validity.data(rows)
        return _with_validity(values(rows), bitmap)

    return read


def _all_nulls(rows: RowRanges, type_: pa.DataType, page: Page) -> pa.Array:
    """Build nulls, which own no bytes, as many as the caller's limits allow."""
    size = rows.count * (slot_bits(type_) or 0) // 8
    page.file.bound_output(size, "L.array.nullable.all-nulls", page.place, "nulls")
    return pa.nulls(rows.count, type_)


def open_fixed_size_list(
    encoding: pb.FixedSizeList, type_: pa.DataType, num_rows: int, page: Page
) -> ReadRows:
    """Open lists whose dimension is that of the schema."""
    size = int(encoding.dimension)
    wanted = type_.list_size if pa.types.is_fixed_size_list(type_) else None
    expect("L.array.fixed-size-list.dimension", size, wanted, page.place)
    return FixedSizeListRows(type_, page.open(encoding.items, type_.value_type, num_rows * size))


@dataclass(frozen=True, slots=True)
class FixedSizeListRows:
    """Lists of one size over the rows of their items."""

    type: pa.DataType
    items: ReadRows

    def __call__(self, rows: RowRanges) -> pa.Array:
        items = self.items(rows.scaled(self.type.list_size))
        return pa.Array.from_buffers(self.type, rows.count, [None], children=[items])


class PageBuffers:
    """The buffers of a page while its encoding grows."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []

    def flat(self, data: Buffer, bits: int, compression: str | None = None) -> pb.ArrayEncoding:
        """Add a buffer of values; return its description."""
        buffer = pb.Buffer(buffer_index=len(self.buffers))
        encoding = pb.ArrayEncoding(flat=pb.Flat(bits_per_value=bits, buffer=buffer))
        if compression is not None:
            encoding.flat.compression.scheme = compression
        self.buffers.append(data)
        return encoding


def no_nulls(values: pb.ArrayEncoding) -> pb.ArrayEncoding:
    """Wrap values of which none is null."""
    return pb.ArrayEncoding(nullable=pb.Nullable(no_nulls=pb.Nullable.NoNull(values=values)))


def all_nulls() -> pb.ArrayEncoding:
    """Describe rows that are all null, or none at all."""
    return pb.ArrayEncoding(nullable=pb.Nullable(all_nulls=pb.Nullable.AllNull()))


def some_nulls(validity: pb.ArrayEncoding, values: pb.ArrayEncoding) -> pb.ArrayEncoding:
    """Return the encoding of values beside a bitmap of which are valid."""
    some = pb.Nullable.SomeNull(validity=validity, values=values)
    return pb.ArrayEncoding(nullable=pb.Nullable(some_nulls=some))


def encode_nullable(array: pa.Array, page: PageBuffers) -> pb.ArrayEncoding:
    """Encode values of fixed width, or fixed-size lists of them, and which are null."""
    if array.null_count == len(array):
        return all_nulls()
    if array.null_count == 0:
        return no_nulls(_encode_values(array, page))
    bits = slice_bits(bytes_of(array.buffers()[0]), array.offset, len(array))
    validity = page.flat(bits, 1)
    return some_nulls(validity, _encode_values(array, page))


def _encode_values(array: pa.Array, page: PageBuffers) -> pb.ArrayEncoding:
    if not pa.types.is_fixed_size_list(array.type):
        return page.flat(*fixed_width(array))
    items = encode_nullable(list_items(array), page)
    lists = pb.FixedSizeList(dimension=array.type.list_size, items=items)
    return pb.ArrayEncoding(fixed_size_list=lists)


def list_items(array: pa.FixedSizeListArray) -> pa.Array:
    """Return the items of all fixed-size lists, those of null ones too."""
    size = array.type.list_size
    return array.values.slice(array.offset * size, len(array) * size)


def innermost_items(array: pa.Array) -> pa.Array:
    """Return what lies below all levels of fixed-size lists."""
    while pa.types.is_fixed_size_list(array.type):
        items = list_items(array)
        array = items.storage if isinstance(items, pa.ExtensionArray) else items
    return array


def fixed_width(array: pa.Array) -> tuple[Bytes, int]:
    """Return the bytes of values of fixed width, and the bits of one. Raises DataRefused.

    uint8 (bytes,).
    """
    bits = slot_bits(array.type)
    if bits is None:
        raise DataRefused(f"2.0 cannot store values of {array.type} here")
    return value_bytes(array), bits
