"""Var-binary pages: strings and byte strings.

The bytes of all values stand first, then the offsets; the page table points at the offsets. They
count from the start of the file. A value without bytes is null in a nullable field, else empty.

Layout of a page::

    ....      bytes of the values
    position  (num_rows + 1) x i64   absolute offset of each value, last the end

Clauses: L.legacy.binary.offsets, L.legacy.binary.ascending, L.legacy.binary.null,
L.legacy.binary.utf8, L.legacy.limits.run

Divergences: D.legacy.empty-is-null
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange
from lanceref.file_0_1.batch_ranges import Numbers, Pieces, gather
from lanceref.file_0_1.offsets import Offsets, read_offsets
from lanceref.file_0_1.page_table import Pages

OFFSET_BYTES = 8
"""Size of one offset."""

GAP_BYTES = 8192
"""Values closer than this are fetched by one request."""

TEXT = (pa.string(), pa.large_string())
LARGE = (pa.large_string(), pa.large_binary())
VAR_BINARY = (*TEXT, pa.binary(), pa.large_binary())
"""Types that are stored so."""


class BinaryNode:
    """The strings of one field; without bytes they are null when `nullable`."""

    def __init__(
        self,
        file: FileBytes,
        pages: Pages,
        type_: pa.DataType,
        rows: Numbers | None,
        *,
        nullable: bool,
    ) -> None:
        self.type = type_
        self._file, self._pages, self._nullable = file, pages, nullable
        self.lengths = pages.lengths
        pages.require(rows, 8 * OFFSET_BYTES, OFFSET_BYTES)

    @property
    def row_bytes(self) -> float:
        """Bytes of a row if the file held nothing else: its bytes by the rows of this field."""
        return max(OFFSET_BYTES, self._pages.data_end / max(1, int(self._pages.lengths.sum())))

    def read(self, pieces: Pieces) -> pa.Array:
        """Read the offsets, then the bytes they name."""
        offsets = read_offsets(self._file, self._pages, pieces, "<i8", "L.legacy.binary.ascending")
        self._check_range(offsets, pieces)
        ends = offsets.ends()
        if ends[-1] > np.iinfo(np.int32).max and self.type not in LARGE:
            raise LimitExceeded(
                "L.legacy.limits.run",
                self._pages.place,
                found=f"{ends[-1]} bytes in one run of rows",
                wanted=f"what offsets of {self.type} can count",
            )
        named = ("bytes of values", "L.legacy.binary.offsets", "bytes")
        data = gather(self._file, offsets.firsts, offsets.lasts - offsets.firsts, named, GAP_BYTES)
        validity = None
        nulls = offsets.lengths == 0  # L.legacy.binary.null
        if self._nullable and nulls.any():
            validity = pa.py_buffer(np.packbits(~nulls, bitorder="little"))
        own = ends if self.type in LARGE else ends.astype(np.int32)
        buffers = [validity, pa.py_buffer(own), pa.py_buffer(data)]
        array = pa.Array.from_buffers(self.type, pieces.num_rows, buffers)
        if self.type in TEXT:
            self._check_utf8(array, offsets)
        return array

    def _check_range(self, offsets: Offsets, pieces: Pieces) -> None:
        """Refuse offsets that leave the data area."""
        outside = (offsets.firsts < 0) | (offsets.lasts > self._pages.data_end)
        if outside.any():
            piece = int(np.argmax(outside))
            position = int(self._pages.positions[pieces.batches[piece]])
            raise OutOfRange(
                "L.legacy.binary.offsets",
                self._file.ctx.at(position, OFFSET_BYTES * int(pieces.counts[piece] + 1)),
                found=f"bytes {offsets.firsts[piece]} to {offsets.lasts[piece]}",
                wanted=f"bytes inside 0 to {self._pages.data_end}",
            )

    def _check_utf8(self, array: pa.Array, offsets: Offsets) -> None:
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:  # L.legacy.binary.utf8
            first, last = int(offsets.firsts.min()), int(offsets.lasts.max())
            self._file.ctx.refuse(
                CorruptPage(
                    "L.legacy.binary.utf8",
                    self._file.ctx.at(first, last - first),
                    found=str(error),
                    wanted="valid UTF-8",
                )
            )


def encode_binary(array: pa.Array, position: int) -> tuple[bytes | memoryview, bytes]:
    """Return bytes and offsets of a page whose bytes begin at `position` of the file."""
    wide = np.int64 if array.type in LARGE else np.int32
    offsets = np.frombuffer(array.buffers()[1] or bytes(8), wide)
    own = offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = memoryview(array.buffers()[2] or b"")[own[0] : own[-1]]
    return data, (own - own[0] + position).astype("<i8").tobytes()
