"""Column of a 2.0 file: from the type tree to its physical columns.

Every leaf of the type tree owns a column of value pages. A struct owns a header column before those
of its children, a list its offsets before those of its items; packed structs and blobs are one
column. The columns of a field stand one after another, depth first. Early strings own two.

Clauses: L.array.column.encoding, L.array.column.type, L.array.blob.column,
L.file.schema.num-columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadSchema, UnknownEncoding
from lanceref.encodings_2_0.blob import open_blobs
from lanceref.encodings_2_0.early_strings import is_early, open_early
from lanceref.encodings_2_0.list import open_list
from lanceref.encodings_2_0.paging import ArrayColumn
from lanceref.encodings_2_0.struct import open_struct
from lanceref.encodings_2_0.values import ValueColumn
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb


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
