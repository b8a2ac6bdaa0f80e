"""Struct: a header column before the columns of its children.

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
from lanceref.core.errors import CorruptPage, OutOfRange
from lanceref.encodings_2_0.paging import ArrayColumn, run_rows
from lanceref.file.batches import batches
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
