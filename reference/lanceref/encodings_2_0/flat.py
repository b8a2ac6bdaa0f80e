"""Flat: values of one width, back to back.

The leaf of nearly every array encoding. It lies in one buffer of the page. Widths are 1 bit (a
bitmap, least significant bit first) or whole bytes (the Arrow value buffer). The bytes may be
compressed as one block (see `compressed`).

Layout: value i of `bits_per_value` bits at bit i * bits_per_value; size ceil(rows * bits / 8).

Clauses: L.array.flat.width, L.array.flat.type-width, L.array.flat.size, L.array.encoding.tag

Bitmaps cut out of bitmaps, moved together.

Compressed flat buffer: one block for a whole page buffer.

Written for the bytes of strings when the field asks for it; a reader takes it for any flat values.

Layout, zstd: u64 uncompressed size, then a zstd frame; a frame without the size is also read.
Layout, lz4: u32 uncompressed size, then an LZ4 block.

Clauses: L.array.flat.compression, L.array.flat.compressed-size, L.array.flat.compressed-block
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.general import falls_short
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
from lanceref.encodings_2_0.page import Page, RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

ZSTD_MAGIC = bytes.fromhex("28b52ffd")
"""First bytes of a zstd frame."""

_CODECS = {"zstd": "zstd", "lz4": "lz4_raw"}
"""Scheme of the format -> codec of pyarrow."""


class Compressed:
    """Flat values behind one compressed block; it is decompressed once, when first read."""

    def __init__(
        self, page: Page, extent: Extent, scheme: str, size: int, bits: int, name: str
    ) -> None:
        if scheme not in _CODECS:  # L.array.flat.compression
            raise UnknownEncoding(
                "L.array.flat.compression", page.place, found=repr(scheme), wanted="zstd or lz4"
            )
        if size > page.ctx.limits.expanded(page.file.size):
            raise LimitExceeded(
                "L.array.flat.compressed-size",
                page.at(extent),
                found=f"{size} uncompressed bytes",
                wanted=f"at most {page.ctx.limits.expanded(page.file.size)}",
            )
        self._page = page
        self._extent = extent
        self._scheme = scheme
        self._size = size
        self._bits = bits
        self._name = name
        self._plain: NDArray[np.uint8] | None = None

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the whole buffer, the first time; a block of no values too is looked at."""
        return [self._extent] if self._is_needed(rows) else []

    def _is_needed(self, rows: RowRanges) -> bool:
        empty_block = self._size == 0 and self._extent.size > 0
        return self._plain is None and (bool(rows.bounds) or empty_block)

    def data(self, rows: RowRanges, parts: Iterator[Cursor]) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back."""
        if self._is_needed(rows):
            self._plain = self._decompress(next(parts))
        if self._plain is None:
            return np.empty(0, np.uint8)
        cuts = [
            self._plain.data[start * self._bits // 8 : (end * self._bits + 7) // 8]
            for start, end in rows.bounds
        ]
        return gather(cuts, rows, self._bits)

    def _decompress(self, cursor: Cursor) -> NDArray[np.uint8]:
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        prefixed = self._scheme == "lz4" or bytes(cursor.data[:4]) != ZSTD_MAGIC
        if prefixed:
            read = cursor.u32 if self._scheme == "lz4" else cursor.u64
            stored = read("uncompressed size", "L.array.flat.compressed-size")
            if stored != self._size:  # L.array.flat.compressed-size
                raise CorruptPage(
                    "L.array.flat.compressed-size",
                    place,
                    found=f"{stored} uncompressed bytes",
                    wanted=f"{self._size}, what the {self._name} need",
                )
        block = cursor.take(
            cursor.remaining, self._name, "L.array.flat.compressed-block", f"{self._scheme} block"
        )
        codec = pa.Codec(_CODECS[self._scheme])
        try:
            plain = codec.decompress(block, decompressed_size=self._size)
        except (OSError, pa.ArrowInvalid) as error:  # L.array.flat.compressed-block
            raise self._broken(f"bytes that do not decompress ({error})", place) from error
        if self._scheme == "lz4" and self._size and falls_short(codec, block, self._size):
            raise self._broken("a block that ends early", place)
        return np.frombuffer(plain, dtype=np.uint8)

    def _broken(self, found: str, place: Place) -> CorruptPage:
        wanted = f"a {self._scheme} block of {self._size} bytes"
        return CorruptPage("L.array.flat.compressed-block", place, found=found, wanted=wanted)


def joined(
    data: NDArray[np.uint8], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return `counts` (n,) bits from each piece, packed from bit 0.

    `data` holds, one piece after another, the bytes that the bits `starts`..`starts + counts` of
    some bitmap touch.
    """
    skipped = starts % 8
    behind = -(skipped + counts) % 8
    runs = np.stack((skipped, counts, behind), 1).reshape(-1)
    wanted = np.repeat(np.tile([False, True, False], len(starts)), runs)
    return np.packbits(np.unpackbits(data, bitorder="little")[wanted], bitorder="little")


def cut(data: NDArray[np.uint8], start: int, count: int) -> NDArray[np.uint8]:
    """Return `count` bits from bit `start` on, packed from bit 0, with zeros behind the last."""
    first, skipped = divmod(start, 8)
    if skipped:
        bits = np.unpackbits(data[first:], count=skipped + count, bitorder="little")
        return np.packbits(bits[skipped:], bitorder="little")
    bits = data[first : first + -(-count // 8)]
    if count % 8 == 0 or not len(bits) or not bits[-1] >> (count % 8):
        return bits
    return np.append(bits[:-1], np.uint8(bits[-1] & ((1 << count % 8) - 1)))


def gather(cuts: list[memoryview], rows: RowRanges, bits: int) -> NDArray[np.uint8]:
    """Join the bytes cut for each range; bitmaps are moved so that they start at bit 0."""
    data = np.frombuffer(cuts[0] if len(cuts) == 1 else b"".join(cuts), np.uint8)
    if bits != 1 or (len(cuts) == 1 and rows.bounds[0][0] % 8 == 0):
        return data
    bounds = np.array(rows.bounds, np.int64).reshape(-1, 2)
    return joined(data, bounds[:, 0], bounds[:, 1] - bounds[:, 0])


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


class FlatValues(Protocol):
    """The packed bytes of flat values, stored raw or compressed."""

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents that `data` needs."""

    def data(self, rows: RowRanges, parts: Iterator[Cursor]) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back; 1-bit values packed from bit 0."""


@dataclass(frozen=True, slots=True)
class RawFlat:
    """Flat values as they lie in their buffer; `name` and `kind` describe them in spans."""

    extent: Extent
    bits: int
    name: str
    kind: str

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return one extent for each range: the bytes that hold its values."""
        extents = []
        for start, end in rows.bounds:
            first, last = start * self.bits // 8, (end * self.bits + 7) // 8
            extents.append(Extent(self.extent.offset + first, last - first))
        return extents

    def data(self, rows: RowRanges, parts: Iterator[Cursor]) -> NDArray[np.uint8]:
        """Return the values of the ranges back to back."""
        cuts = list(islice(parts, len(rows.bounds)))
        for cursor in cuts:
            if cursor.ctx.spans is None:
                break
            start, end = cursor.offset, cursor.offset + cursor.remaining
            cursor.ctx.leaf(start, end, self.name, self.kind, "L.array.flat.size")
        return gather([cursor.data for cursor in cuts], rows, self.bits)


@dataclass(frozen=True, slots=True)
class FlatArray:
    """Flat values as an Arrow array of a fixed-width type without nulls."""

    values: FlatValues
    type: pa.DataType

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the values."""
        return self.values.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Put the values under an Arrow array; nothing is copied for one range."""
        data = self.values.data(rows, parts)
        return pa.Array.from_buffers(self.type, rows.count, [None, pa.py_buffer(data)])


def open_flat_array(flat: pb.Flat, type_: pa.DataType, num_rows: int, page: Page) -> FlatArray:
    """Open flat values of a fixed-width Arrow type."""
    bits = slot_bits(type_)
    if bits is None or flat.bits_per_value != bits or pa.types.is_fixed_size_list(type_):
        raise CorruptPage(  # L.array.flat.type-width
            "L.array.flat.type-width",
            page.place,
            found=f"flat values of {flat.bits_per_value} bits",
            wanted=f"values of {type_}",
        )
    kind = "bitmap" if bits == 1 else f"{type_}[]"
    return FlatArray(open_flat(flat, num_rows, page, "values", kind), type_)


def open_flat(flat: pb.Flat, num_values: int, page: Page, name: str, kind: str) -> FlatValues:
    """Open a flat buffer of `num_values` values; its size must be exactly what they need."""
    extent, bits = page.extent(flat.buffer), int(flat.bits_per_value)
    if bits != 1 and (bits == 0 or bits % 8):  # L.array.flat.width
        raise CorruptPage(
            "L.array.flat.width", page.place, found=f"{bits} bits", wanted="1 bit or whole bytes"
        )
    size = (num_values * bits + 7) // 8
    if is_compressed(flat):
        return Compressed(page, extent, flat.compression.scheme, size, bits, name)
    if extent.size != size:  # L.array.flat.size
        raise CorruptPage(
            "L.array.flat.size",
            page.at(extent),
            found=f"a buffer of {extent.size} bytes",
            wanted=f"{size} bytes for {num_values} {name} of {bits} bits",
        )
    return RawFlat(extent, bits, name, kind)


def is_compressed(flat: pb.Flat) -> bool:
    """Whether the bytes of the buffer have to be decompressed."""
    return flat.HasField("compression") and flat.compression.scheme not in ("", "none")


def bare_flat(encoding: pb.ArrayEncoding, page: Page, what: str) -> pb.Flat:
    """Return the flat encoding of an array that has no nulls, wrapped as nullable or not."""
    arm = encoding.WhichOneof("array_encoding")
    if arm == "nullable" and encoding.nullable.WhichOneof("nullability") == "no_nulls":
        encoding = encoding.nullable.no_nulls.values
        arm = encoding.WhichOneof("array_encoding")
    if arm != "flat":  # L.array.encoding.tag
        raise UnknownEncoding(
            "L.array.encoding.tag", page.place, found=f"{what} stored as {arm}", wanted="flat"
        )
    return encoding.flat
