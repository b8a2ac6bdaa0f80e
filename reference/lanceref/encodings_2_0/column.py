"""Column of a 2.0 file: from the type tree to its physical columns.

Every leaf of the type tree owns a column of value pages. A struct owns a header column before those
of its children, a list its offsets before those of its items; packed structs and blobs are one
column. The columns of a field stand one after another, depth first. Early strings own two.

Clauses: L.array.column.encoding, L.array.column.type, L.array.blob.column,
L.file.schema.num-columns

Struct: a header column before the columns of its children.

The header has one page without buffers whose length is the number of rows; it has no place for
validity, so no row of a struct is null. A file without rows has a header without pages.

Clauses: L.array.struct.header, L.array.struct.length
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadSchema, CorruptPage, OutOfRange, UnknownEncoding
from lanceref.encodings_2_0.blob import open_blobs
from lanceref.encodings_2_0.list import is_early, open_early, open_list
from lanceref.encodings_2_0.page import ArrayColumn, run_rows
from lanceref.encodings_2_0.values import ValueColumn
from lanceref.file.column_reader import batches
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb


class StructColumn:
    """A header and its children."""

    def __init__(
        self, file: FileBytes, field: Field, num_rows: int, children: Sequence[ArrayColumn]
    ) -> None:
        self.type: pa.DataType = field.arrow.type
        self.num_rows = num_rows
        self._names = [child.name for child in field.children]
        self._file = file
        self._children = children

    @property
    def row_bytes(self) -> float:
        """Bytes of the children together."""
        return sum(child.row_bytes for child in self._children)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the children's rows, cut at the same places."""
        step = run_rows(self.row_bytes)
        cut = batches(self._children, start, end, step)
        for at, arrays in zip(range(start, end, step), cut, strict=True):
            yield self._build(min(end, at + step) - at, arrays)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Take the rows of every child."""
        return self._build(len(rows), [child.take(rows) for child in self._children])

    def check(self) -> None:
        """Check every child; the header has no bytes."""
        ctx = self._file.ctx
        for name, child in zip(self._names, self._children, strict=True):
            with ctx.group(f"field {name}"), ctx.piece():
                child.check()

    def _build(self, num_rows: int, arrays: Sequence[pa.Array]) -> pa.Array:
        return pa.Array.from_buffers(self.type, num_rows, [None], children=list(arrays))


def open_struct(
    file: FileBytes, field: Field, header: ColumnMetadata, children: Sequence[ArrayColumn]
) -> StructColumn:
    """Open a struct: its header must agree with its children."""
    for page in header.pages:
        encoding = page.encoding
        assert isinstance(encoding, pb.ArrayEncoding)
        arm = encoding.WhichOneof("array_encoding")
        if arm != "struct" or page.extents or len(header.pages) > 1:  # L.array.struct.header
            raise CorruptPage(
                "L.array.struct.header",
                page.place,
                found=f"{len(header.pages)} pages, one of {arm} with {len(page.extents)} buffers",
                wanted="one page of struct without buffers",
            )
    for child in children:
        if child.num_rows != header.num_rows:  # L.array.struct.length
            file.ctx.refuse(
                OutOfRange(
                    "L.array.struct.length",
                    header.place,
                    found=f"{header.num_rows} rows in the header, {child.num_rows} in a child",
                    wanted="the same number",
                )
            )
    return StructColumn(file, field, header.num_rows, children)


def open_column(file: FileBytes, field: Field, columns: Sequence[ColumnMetadata]) -> ArrayColumn:
    """Return the reader of a field stored in `columns`, in depth-first order."""
    return _open(file, field, iter(columns))


def _open(file: FileBytes, field: Field, columns: Iterator[ColumnMetadata]) -> ArrayColumn:
    type_ = field.arrow.type
    if pa.types.is_map(type_) or (pa.types.is_fixed_size_list(type_) and field.children):
        raise UnknownEncoding(  # L.array.column.type
            "L.array.column.type",
            file.ctx.at(0),
            found=f"field {field.name!r} of {type_}",
            wanted="a type that 2.0 can store",
        )
    column = _next(file, field, columns)
    arm = _column_arm(column, field)
    if arm == "blob":
        return open_blobs(file, field, column)
    if pa.types.is_struct(type_) and not (field.is_packed or field.is_blob):
        children = [_open(file, child, columns) for child in field.children]
        return open_struct(file, field, column, children)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return open_list(file, field, column, _open(file, field.children[0], columns))
    if is_early(field, column):
        return open_early(file, field, column, _next(file, field, columns))
    return ValueColumn(file, field, column)


def _next(file: FileBytes, field: Field, columns: Iterator[ColumnMetadata]) -> ColumnMetadata:
    column = next(columns, None)
    if column is None:
        raise BadSchema(
            "L.file.schema.num-columns",
            file.ctx.at(0),
            found=f"no column for field {field.name!r}",
            wanted="a column for each field that owns one",
        )
    return column


def _column_arm(column: ColumnMetadata, field: Field) -> str:
    """Return the arm of the column's encoding: values, or blob where the field says so."""
    encoding = column.encoding
    assert isinstance(encoding, pb.ColumnEncoding)
    arm = encoding.WhichOneof("column_encoding")
    if arm not in ("values", "blob"):  # L.array.column.encoding
        raise UnknownEncoding(
            "L.array.column.encoding",
            column.place,
            found=f"column encoding {arm or 'without an arm'}",
            wanted="values or blob",
        )
    if (arm == "blob") != field.is_blob:  # L.array.blob.column
        raise BadSchema(
            "L.array.blob.column",
            column.place,
            found=f"column encoding {arm} for field {field.name!r}",
            wanted="blob exactly where the field's metadata says lance-encoding:blob",
        )
    return "blob" if field.is_blob else "values"
