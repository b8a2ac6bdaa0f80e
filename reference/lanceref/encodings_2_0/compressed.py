"""Compressed flat buffer: one block for a whole page buffer.

Written for the bytes of strings when the field asks for it; a reader takes it for any flat values.

Layout, zstd: u64 uncompressed size, then a zstd frame; a frame without the size is also read.
Layout, lz4: u32 uncompressed size, then an LZ4 block.

Clauses: L.array.flat.compression, L.array.flat.compressed-size, L.array.flat.compressed-block
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.general import falls_short
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, LimitExceeded, Place, UnknownEncoding
from lanceref.encodings_2_0.bitmaps import gather
from lanceref.encodings_2_0.page import Page
from lanceref.encodings_2_0.rows import RowRanges

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
