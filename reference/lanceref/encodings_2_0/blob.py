"""Blob column of a 2.0 file: descriptors in its pages, payloads out of line, read and written.

The pages hold a descriptor for each row, a packed struct: where the payload lies in the file and
its size. Payloads are buffers of their own that only the descriptors know.

Layout of a descriptor: u64 position (absolute), u64 size. Size 0: position 0 is an empty value,
position 1 a null.

Clauses: L.array.blob.column, L.array.blob.null, L.array.blob.order, L.array.blob.payload
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadSchema, CorruptPage, DataRefused
from lanceref.encodings_2_0.page import ArrayColumn, RowRanges
from lanceref.encodings_2_0.values import ValueColumn, ValueWriter
from lanceref.file import column_io
from lanceref.file.container import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb


class BlobColumn(ArrayColumn):
    """Descriptors and the payloads they point to."""

    def __init__(self, file: FileBytes, field: Field, column: ColumnMetadata) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._column = file, column
        self._field = _descriptors_of(field)
        self._descriptors = ValueColumn(file, self._field, column)
        self.num_rows, self.row_bytes = self._descriptors.num_rows, self._descriptors.row_bytes

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        return self._follow(self._descriptors.scan(start, end))

    def read(self, rows: RowRanges) -> pa.Array:
        """Read the descriptors of the rows, then their payloads together."""
        return self._payloads(self._descriptors.read(rows))

    def check(self) -> None:
        """Check the descriptors; sound ones lead to the payloads, which then own their bytes."""
        ctx = self._file.ctx
        known = len(ctx.findings or ())
        self._descriptors.check()
        if len(ctx.findings or ()) > known:
            return
        descriptors = ValueColumn(self._file.quiet(), self._field, self._column)
        with ctx.group("payloads"), ctx.piece():
            for _ in self._follow(descriptors.scan(0, self.num_rows)):
                pass

    def payload_extents(self) -> Iterator[Extent]:
        """Yield where the payloads lie: only the descriptors say it."""
        for descriptors in self._descriptors.scan(0, self.num_rows):
            yield from column_io.extents(descriptors)

    def _follow(self, parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for descriptors in parts:
            for run in column_io.runs(descriptors):
                yield self._payloads(run)

    def _payloads(self, descriptors: pa.Array) -> pa.Array:
        positions, sizes = column_io.words(descriptors)
        place = self._column.place
        if np.any((sizes == 0) & (positions > 1)):
            found = f"position {int(positions[sizes == 0].max())} of a payload of 0 bytes"
            error = CorruptPage("L.array.blob.null", place, found, "position 0 or 1")
            self._file.ctx.refuse(error)
        placed = positions[sizes > 0]
        back = np.flatnonzero(placed[1:] <= placed[:-1])
        if len(back):
            found = f"a payload at {placed[back[0] + 1]} after one at {placed[back[0]]}"
            raise CorruptPage("L.array.blob.order", place, found, "ascending payloads")
        valid = (sizes > 0) | (positions == 0)
        return column_io.fetch(self._file, descriptors, valid, "L.array.blob.payload", place)


def _descriptors_of(field: Field) -> Field:
    return replace(field, arrow=pa.field(field.name, column_io.DESCRIPTOR, False), nullable=False)


def open_blobs(file: FileBytes, field: Field, column: ColumnMetadata) -> BlobColumn | ValueColumn:
    """Open a blob column; its field must be of large binary type, or of descriptors.

    Raises BadSchema.
    """
    type_ = field.arrow.type
    if type_ == column_io.DESCRIPTOR:
        return ValueColumn(file, _descriptors_of(field), column)
    if not pa.types.is_large_binary(type_):
        raise BadSchema("L.array.blob.column", column.place, type_, "large_binary")
    return BlobColumn(file, field, column)


class BlobWriter(ValueWriter):
    """Writes a blob column: the values at once and out of line, their descriptors as pages."""

    def write(
        self, array: pa.Array, row: int, data: column_io.DataArea
    ) -> list[column_io.EncodedPage]:
        """Write the values; return the pages of descriptors that became full."""
        return super().write(store_payloads(self._field.name, array, data), row, data)

    def finish(self) -> list[column_io.EncodedColumn]:
        return [blob_column()]


def blob_column() -> column_io.EncodedColumn:
    """Return the end of a column of blobs."""
    return column_io.EncodedColumn(pb.ColumnEncoding(blob={"inner": {"values": {}}}))


def store_payloads(name: str, array: pa.Array, data: column_io.DataArea) -> pa.StructArray:
    """Write the values of a blob field; return where they lie. Raises DataRefused."""
    if not pa.types.is_large_binary(array.type):
        raise DataRefused(f"field {name!r}: a blob is large_binary")
    return column_io.store(array, np.asarray(array.is_null()).astype(np.uint64), data)
