"""Flat: values of one width, back to back.

The leaf of nearly every array encoding. It lies in one buffer of the page. Widths are 1 bit (a
bitmap, least significant bit first) or whole bytes (the Arrow value buffer). The bytes may be
compressed as one block: written for the bytes of strings when the field asks for it, read for any
flat values.

Layout: value i of `bits_per_value` bits at bit i * bits_per_value; size ceil(rows * bits / 8).
Layout, zstd: u64 uncompressed size, then a zstd frame; a frame without the size is also read.
Layout, lz4: u32 uncompressed size, then an LZ4 block.

Clauses: L.array.flat.width, L.array.flat.type-width, L.array.flat.size, L.array.encoding.tag,
L.array.flat.compression, L.array.flat.compressed-size, L.array.flat.compressed-block
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.general import ZSTD_MAGIC, decompress_block
from lanceref.core.context import expect
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, UnknownEncoding
from lanceref.encodings_2_0.page import Page, ReadRows, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

_CODECS = {"zstd": "zstd", "lz4": "lz4_raw"}
"""Scheme of the format -> codec of pyarrow."""


def slot_bits(type_: pa.DataType) -> int | None:
    """Return the bits one value takes when stored flat; None for types of variable width."""
    types = pa.types
    if types.is_null(type_):
        return 0
    if types.is_fixed_size_list(type_):
        inner = slot_bits(type_.value_type)
        return None if inner is None else inner * int(type_.list_size)
    if types.is_dictionary(type_) or types.is_nested(type_):
        return None
    try:
        return int(type_.bit_width)
    except ValueError:
        return None


def concat_bits(
    data: NDArray[np.uint8], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return `counts` (n,) bits from each piece, packed from bit 0.

    `data` holds, one piece after another, the bytes that the bits `starts`..`starts + counts` of
    some bitmap touch.
    """
    skipped = starts % 8
    after = -(skipped + counts) % 8
    runs = np.stack((skipped, counts, after), 1).reshape(-1)
    wanted = np.repeat(np.tile([False, True, False], len(starts)), runs)
    return np.packbits(np.unpackbits(data, bitorder="little")[wanted], bitorder="little")


def _concat(cuts: list[memoryview], rows: RowRanges, bits: int) -> NDArray[np.uint8]:
    """Concatenate the bytes of each range; bitmaps are moved so that they start at bit 0."""
    data = np.frombuffer(cuts[0] if len(cuts) == 1 else b"".join(cuts), np.uint8)
    if bits != 1 or (len(cuts) == 1 and rows.bounds[0][0] % 8 == 0):
        return data
    bounds = np.array(rows.bounds, np.int64).reshape(-1, 2)
    return concat_bits(data, bounds[:, 0], bounds[:, 1] - bounds[:, 0])


@dataclass(frozen=True, slots=True)
class RawFlat:
    """Flat values as they lie in their buffer; `name` and `kind` describe them in spans."""

    file: FileBytes
    extent: Extent
    bits: int
    name: str
    kind: str

    def cursors(self, rows: RowRanges) -> list[Cursor]:
        """Read for each range the bytes that hold its values."""
        extents = []
        for start, end in rows.bounds:
            first, last = start * self.bits // 8, (end * self.bits + 7) // 8
            extents.append(Extent(self.extent.offset + first, last - first))
        return self.file.cursors(extents, "page buffer", "L.file.pages.extent")

    def data(self, rows: RowRanges) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back; 1-bit values packed from bit 0.

        uint8 (bytes,).
        """
        cuts = self.cursors(rows)
        for cursor in cuts:
            if cursor.ctx.spans is None:
                break
            start, end = cursor.offset, cursor.offset + cursor.remaining
            cursor.ctx.leaf(start, end, self.name, self.kind, "L.array.flat.size")
        return _concat([cursor.data for cursor in cuts], rows, self.bits)


class Compressed:
    """Flat values in one compressed block; it is decompressed once, when first read."""

    def __init__(self, page: Page, flat: pb.Flat, size: int, name: str) -> None:
        self._file, self._extent = page.file, page.extent(flat.buffer)
        self._scheme = flat.compression.scheme
        self._size, self._bits, self._name = size, int(flat.bits_per_value), name
        self._plain: NDArray[np.uint8] | None = None
        if self._scheme not in _CODECS:
            clause, wanted = "L.array.flat.compression", "zstd or lz4"
            raise UnknownEncoding(clause, page.place, repr(self._scheme), wanted)
        page.file.bound_output(size, "L.array.flat.compressed-size", page.at(self._extent))

    def data(self, rows: RowRanges) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back; a block of no values is read too.

        uint8 (bytes,).
        """
        empty_block = self._size == 0 and self._extent.size > 0
        if self._plain is None and (rows.bounds or empty_block):
            cursor = self._file.cursor(self._extent, "page buffer", "L.file.pages.extent")
            self._plain = self._decompress(cursor)
        if self._plain is None:
            return np.empty(0, np.uint8)
        bits, plain = self._bits, self._plain.data
        cuts = [plain[start * bits // 8 : (end * bits + 7) // 8] for start, end in rows.bounds]
        return _concat(cuts, rows, bits)

    def _decompress(self, cursor: Cursor) -> NDArray[np.uint8]:
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


def open_flat_array(flat: pb.Flat, type_: pa.DataType, num_rows: int, page: Page) -> ReadRows:
    """Open flat values of a fixed-width Arrow type."""
    bits = None if pa.types.is_fixed_size_list(type_) else slot_bits(type_)
    expect("L.array.flat.type-width", flat.bits_per_value, bits, page.place)
    kind = "bitmap" if bits == 1 else f"{type_}[]"
    return FlatRows(open_flat(flat, num_rows, page, "values", kind), type_)


@dataclass(frozen=True, slots=True)
class FlatRows:
    """Flat values of a page as arrays of a fixed-width type, without nulls."""

    values: FlatValues
    type: pa.DataType

    def __call__(self, rows: RowRanges) -> pa.Array:
        """Return rows, range after range. Raises CorruptPage, OutOfRange."""
        data = pa.py_buffer(self.values.data(rows))  # nothing is copied for one range
        return pa.Array.from_buffers(self.type, rows.count, [None, data])


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
