"""Blob column: large values stored outside the pages.

The pages hold a descriptor for each row, a packed struct of two u64: where the payload lies in the
file and its size. Payloads are buffers of their own that only the descriptors know.

Layout of a row: 0 u64 position (absolute), 8 u64 size. Size 0: position 0 is an empty value,
position 1 a null.

Clauses: L.array.blob.column, L.array.blob.null, L.array.blob.order, L.array.blob.payload
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadSchema, CorruptPage
from lanceref.encodings_2_0.page import distinct, repeat
from lanceref.encodings_2_0.values import ValueColumn
from lanceref.file.column_reader import DESCRIPTOR, extents, fetch, runs, words
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field


class BlobColumn:
    """Descriptors and the payloads they point to."""

    def __init__(self, file: FileBytes, field: Field, column: ColumnMetadata) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file = file
        self._column = column
        self._field = replace(field, arrow=pa.field(field.name, DESCRIPTOR, False), nullable=False)
        self._descriptors = ValueColumn(file, self._field, column)

    @property
    def num_rows(self) -> int:
        """Rows of all pages."""
        return self._descriptors.num_rows

    @property
    def row_bytes(self) -> float:
        """Bytes of a descriptor; how large payloads are is known only row by row."""
        return self._descriptors.row_bytes

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield payloads, about RUN_BYTES at a time."""
        return self._follow(self._descriptors.scan(start, end))

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Read the descriptors of the rows, then their payloads together."""
        unique, inverse = distinct(rows)
        return repeat(self._payloads(self._descriptors.take(unique)), inverse)

    def check(self) -> None:
        """Check the descriptors; sound ones lead to the payloads, which then own their bytes."""
        ctx = self._file.ctx
        known = len(ctx.findings) if ctx.findings is not None else 0
        self._descriptors.check()
        if ctx.findings is not None and len(ctx.findings) > known:
            return
        quiet = self._file.during(replace(ctx, spans=None, findings=None))
        descriptors = ValueColumn(quiet, self._field, self._column)
        with ctx.group("payloads"), ctx.piece():
            for _ in self._follow(descriptors.scan(0, self.num_rows)):
                pass

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads lie, as the descriptors say it: no other message knows."""
        for descriptors in self._descriptors.scan(0, self.num_rows):
            yield from extents(descriptors)

    def _follow(self, parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for descriptors in parts:
            for run in runs(descriptors):
                yield self._payloads(run)

    def _payloads(self, descriptors: pa.Array) -> pa.Array:
        positions, sizes = words(descriptors)
        if np.any((sizes == 0) & (positions > 1)):  # L.array.blob.null
            self._file.ctx.refuse(
                CorruptPage(
                    "L.array.blob.null",
                    self._column.place,
                    found=f"position {int(positions[sizes == 0].max())} of a payload of 0 bytes",
                    wanted="position 0 (empty) or 1 (null)",
                )
            )
        placed = positions[sizes > 0]
        back = np.flatnonzero(placed[1:] <= placed[:-1])
        if len(back):  # L.array.blob.order
            found = f"a payload at {placed[back[0] + 1]} after one at {placed[back[0]]}"
            place, wanted = self._column.place, "payloads behind each other"
            raise CorruptPage("L.array.blob.order", place, found=found, wanted=wanted)
        valid = (sizes > 0) | (positions == 0)
        return fetch(self._file, descriptors, valid, "L.array.blob.payload", self._column.place)


def open_blobs(file: FileBytes, field: Field, column: ColumnMetadata) -> BlobColumn | ValueColumn:
    """Open a blob column; its field must be of large binary type, or of descriptors."""
    if field.arrow.type == DESCRIPTOR:
        bare = replace(field, arrow=pa.field(field.name, DESCRIPTOR, False), nullable=False)
        return ValueColumn(file, bare, column)
    if not pa.types.is_large_binary(field.arrow.type):  # L.array.blob.column
        raise BadSchema(
            "L.array.blob.column",
            column.place,
            found=f"a blob column for {field.arrow.type}",
            wanted="large_binary",
        )
    return BlobColumn(file, field, column)
