"""Struct column of a 2.0 file: a header without values, then its children, read and written.

The header has one page without buffers whose length is the number of rows; it has no place for
validity, so no row of a struct is null. In a file without rows its length is 0; a
header without pages is read as that.

Clauses: L.array.struct.header, L.array.struct.length
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, DataRefused, OutOfRange
from lanceref.core.run_sizes import run_rows
from lanceref.encodings_2_0.page import ArrayColumn, RowRanges
from lanceref.encodings_2_0.values import plain_column
from lanceref.file.column_io import DataArea, EncodedColumn, EncodedPage, FieldWriter, batches
from lanceref.file.container import ColumnMetadata
from lanceref.file.schema import Field
from lanceref.proto import encodings_v2_0_pb2 as pb


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


def open_struct(
    file: FileBytes, field: Field, header: ColumnMetadata, children: Sequence[ArrayColumn]
) -> StructColumn:
    """Open a struct: its header must agree with its children. Raises CorruptPage, OutOfRange."""
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
            file.ctx.refuse(OutOfRange(clause, header.place, found, child.num_rows))
    return StructColumn(file, field, header.num_rows, children)


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
