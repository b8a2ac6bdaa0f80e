"""Column of a 2.0 file: from the type tree to its physical columns.

Every leaf of the type tree owns a column of value pages. A struct owns a header column before those
of its children, a list its offsets before those of its items; packed structs and blobs are one
column. The columns of a field follow each other, depth first. Early strings own two.

Clauses: L.array.column.encoding, L.array.column.type, L.file.schema.num-columns,
L.array.blob.column
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from lanceref.core.arrow_buffers import STRINGS
from lanceref.core.context import expect
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BadSchema, NotStorable, UnknownEncoding
from lanceref.encodings_2_0.blob import BlobWriter, open_blobs
from lanceref.encodings_2_0.list import ListWriter, open_early, open_list
from lanceref.encodings_2_0.page import ArrayColumn
from lanceref.encodings_2_0.struct import StructWriter, open_struct
from lanceref.encodings_2_0.values import ValueColumn, ValueWriter
from lanceref.file.column_io import FieldWriter, PagePolicy
from lanceref.file.container import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb


def is_early(field: Field, column: ColumnMetadata) -> bool:
    """Whether a column holds the list offsets of a field of strings."""
    if field.arrow.type not in STRINGS or not column.pages:
        return False
    encoding = column.pages[0].encoding
    assert isinstance(encoding, pb.ArrayEncoding)
    return bool(encoding.WhichOneof("array_encoding") == "list")


def open_column(file: FileBytes, field: Field, columns: Iterable[ColumnMetadata]) -> ArrayColumn:
    """Return the reader of a field stored in `columns`, in depth-first order.

    An iterator gives away just the columns of the field. Raises UnknownEncoding, BadSchema.
    """
    columns = iter(columns)
    type_ = field.arrow.type
    if pa.types.is_map(type_) or (pa.types.is_fixed_size_list(type_) and field.children):
        place, wanted = file.ctx.at(0), "a type that 2.0 can store"
        raise UnknownEncoding("L.array.column.type", place, type_, wanted)
    column = _next(file, field, columns)
    encoding = column.encoding
    assert isinstance(encoding, pb.ColumnEncoding)
    arm = encoding.WhichOneof("column_encoding")
    if arm not in ("values", "blob"):
        raise UnknownEncoding("L.array.column.encoding", column.place, arm, "values or blob")
    # a column is blob exactly where the field's metadata has lance-encoding:blob
    wanted = "blob" if field.is_blob else "values"
    expect("L.array.blob.column", arm, wanted, column.place, BadSchema)
    if field.is_blob:
        return open_blobs(file, field, column)
    if pa.types.is_struct(type_) and not field.is_packed:
        children = [open_column(file, child, columns) for child in field.children]
        return open_struct(file, field, column, children)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return open_list(file, field, column, open_column(file, field.children[0], columns))
    if is_early(field, column):
        return open_early(file, field, column, _next(file, field, columns))
    return ValueColumn(file, field, column)


def _next(file: FileBytes, field: Field, columns: Iterator[ColumnMetadata]) -> ColumnMetadata:
    column = next(columns, None)
    if column is None:
        clause, found = "L.file.schema.num-columns", f"no column for field {field.name!r}"
        raise BadSchema(clause, file.ctx.at(0), found, "a column")
    return column


def open_writer(field: Field, first_column: int, policy: PagePolicy) -> FieldWriter:
    """Return the writer of a field whose first physical column is `first_column`.

    Raises NotStorable for a type that 2.0 does not have.
    """
    type_ = field.arrow.type
    if pa.types.is_map(type_) or (pa.types.is_fixed_size_list(type_) and field.children):
        raise NotStorable(f"field {field.name!r}: {type_} needs version 2.2 or later")
    if pa.types.is_fixed_size_binary(type_) and not type_.byte_width:
        raise NotStorable(f"field {field.name!r}: values without bytes need version 2.2")
    if field.is_blob:
        return BlobWriter(field, first_column, policy)
    if field.is_packed or not (field.children or pa.types.is_struct(type_)):
        return ValueWriter(field, first_column, policy)
    children, first = list[FieldWriter](), first_column + 1
    for child in field.children:
        children.append(open_writer(child, first, policy))
        first += children[-1].num_columns
    if pa.types.is_struct(type_):
        return StructWriter(field, first_column, children)
    return ListWriter(first_column, children[0], policy)
