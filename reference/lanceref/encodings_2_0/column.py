"""Column of a 2.0 file: from the type tree to its physical columns; structs.

Every leaf of the type tree owns a column of value pages. A struct owns a header column before those
of its children, a list its offsets before those of its items; packed structs and blobs are one
column. The columns of a field follow each other, depth first. Early strings own two. The header of
a struct has one page without buffers whose length is the number of rows; it has no place for
validity, so no row of a struct is null. A file without rows has a header without pages.

Clauses: L.array.column.encoding, L.array.column.type, L.file.schema.num-columns,
L.array.struct.header, L.array.struct.length, L.array.blob.column
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from lanceref.core.arrow_buffers import STRINGS
from lanceref.core.context import expect
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import (
    BadSchema,
    CorruptPage,
    DataRefused,
    NotStorable,
    OutOfRange,
    UnknownEncoding,
)
from lanceref.core.limits import run_rows
from lanceref.encodings_2_0.list import ListWriter, open_early, open_list
from lanceref.encodings_2_0.page import ArrayColumn, RowRanges
from lanceref.encodings_2_0.values import (
    BlobWriter,
    ValueColumn,
    ValueWriter,
    open_blobs,
    plain_column,
)
from lanceref.file.column_io import (
    DataArea,
    EncodedColumn,
    EncodedPage,
    FieldWriter,
    PagePolicy,
    batches,
)
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
        return _open_struct(file, field, column, children)
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


class StructColumn(ArrayColumn):
    """The column of a struct: a header without values, then its children."""

    def __init__(
        self, file: FileBytes, field: Field, num_rows: int, children: Sequence[ArrayColumn]
    ) -> None:
        self.type: pa.DataType = field.arrow.type
        self.num_rows = num_rows
        self._names = [child.name for child in field.children]
        self._file, self._children = file, children
        self.row_bytes = sum(child.row_bytes for child in children)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the children's rows, cut at the same places."""
        columns = [child.scan(start, end) for child in self._children]
        for rows, arrays in batches(columns, start, end, run_rows(self.row_bytes)):
            yield self._build(rows, arrays)

    def read(self, rows: RowRanges) -> pa.Array:
        return self._build(rows.count, [child.read(rows) for child in self._children])

    def check(self) -> None:
        """Check every child; the header has no bytes."""
        ctx = self._file.ctx
        for name, child in zip(self._names, self._children, strict=True):
            with ctx.group(f"field {name}"), ctx.piece():
                child.check()

    def _build(self, num_rows: int, arrays: Sequence[pa.Array]) -> pa.Array:
        return pa.Array.from_buffers(self.type, num_rows, [None], children=list(arrays))


def _open_struct(
    file: FileBytes, field: Field, header: ColumnMetadata, children: Sequence[ArrayColumn]
) -> StructColumn:
    """Open a struct: its header must agree with its children."""
    for page in header.pages:
        encoding = page.encoding
        assert isinstance(encoding, pb.ArrayEncoding)
        arm = encoding.WhichOneof("array_encoding")
        if arm != "struct" or page.extents or len(header.pages) > 1:
            clause, wanted = "L.array.struct.header", "one page of struct without buffers"
            found = f"{len(header.pages)} pages, one of {arm} with {len(page.extents)} buffers"
            raise CorruptPage(clause, page.place, found, wanted)
    for child in children:
        if child.num_rows != header.num_rows:
            clause, found = "L.array.struct.length", f"{header.num_rows} rows in the header"
            error = OutOfRange(clause, header.place, found, child.num_rows)
            file.ctx.refuse(error)
    return StructColumn(file, field, header.num_rows, children)


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
    children: list[FieldWriter] = []
    first = first_column + 1
    for child in field.children:
        children.append(open_writer(child, first, policy))
        first += children[-1].num_columns
    if pa.types.is_struct(type_):
        return StructWriter(field, first_column, children)
    return ListWriter(first_column, children[0], policy)


class StructWriter:
    """Writes a struct: its header column at the end, its children all along."""

    def __init__(self, field: Field, column: int, children: list[FieldWriter]) -> None:
        self._field, self._column, self._children = field, column, children
        self._rows = 0
        self.num_columns = 1 + sum(child.num_columns for child in children)

    def write(self, array: pa.StructArray, row: int, data: DataArea) -> list[EncodedPage]:
        """Write the rows of every child. Raises DataRefused for a null struct."""
        if array.null_count:
            name = self._field.name
            raise DataRefused(f"field {name!r}: 2.0 cannot store null structs, use 2.1 or later")
        self._rows += len(array)
        pages: list[EncodedPage] = []
        for i, child in enumerate(self._children):
            pages += child.write(array.field(i), row, data)
        return pages

    def flush(self, data: DataArea) -> list[EncodedPage]:
        return [page for child in self._children for page in child.flush(data)]

    def finish(self) -> list[EncodedColumn]:
        """Return the end of the header column, which is its one page, and those of the children."""
        header = EncodedPage(self._column, (), pb.ArrayEncoding(struct={}), self._rows)
        below = [column for child in self._children for column in child.finish()]
        return [EncodedColumn(plain_column().encoding, [header]), *below]
