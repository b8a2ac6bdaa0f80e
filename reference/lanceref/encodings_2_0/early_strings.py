"""Early strings: a column of list offsets before a column of bytes, read and never written.

Release 0.13 stored text and byte strings as lists of bytes. The pages of the first column are
lists, by which such a field is known, and the field owns the next column too. A manifest names the
first.

Clauses: L.array.binary.early, and those of `list`
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.encodings_2_0.binary import is_string
from lanceref.encodings_2_0.list import ListColumn, open_list
from lanceref.encodings_2_0.paging import ArrayColumn
from lanceref.encodings_2_0.values import ValueColumn
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field, schema_of
from lanceref.proto import encodings_v2_0_pb2 as pb


class EarlyStrings:
    """Strings or binary values made of lists of bytes."""

    def __init__(self, file: FileBytes, field: Field, lists: ListColumn) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._lists = file, lists

    @property
    def num_rows(self) -> int:
        """Rows of all pages."""
        return self._lists.num_rows

    @property
    def row_bytes(self) -> float:
        """Bytes of an offset and of an average string."""
        return self._lists.row_bytes

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the strings run by run."""
        return map(self._strings, self._lists.scan(start, end))

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the strings of rows."""
        return self._strings(self._lists.take(rows))

    def check(self) -> None:
        """Check the lists, and that text is UTF-8."""
        self._lists.check()
        for _ in self.scan(0, self.num_rows):
            pass

    def _strings(self, lists: pa.Array) -> pa.Array:
        nulls = lists.is_null().to_numpy(zero_copy_only=False)
        validity = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
        offsets = np.ascontiguousarray(lists.offsets.to_numpy())
        data = np.ascontiguousarray(lists.values.to_numpy())
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        strings = pa.Array.from_buffers(self.type, len(lists), buffers)
        try:
            strings.validate(full=True)
        except pa.ArrowInvalid as error:
            self._file.ctx.refuse(
                CorruptPage(
                    "L.array.binary.utf8",
                    self._lists.place,
                    found=str(error),
                    wanted="valid UTF-8",
                )
            )
        return strings


def is_early(field: Field, column: ColumnMetadata) -> bool:
    """Whether a column holds the list offsets of a field of strings."""
    if not is_string(field.arrow.type) or not column.pages:
        return False
    encoding = column.pages[0].encoding
    assert isinstance(encoding, pb.ArrayEncoding)
    return bool(encoding.WhichOneof("array_encoding") == "list")


def open_early(
    file: FileBytes, field: Field, offsets: ColumnMetadata, data: ColumnMetadata
) -> ArrayColumn:
    """Open a field of early strings, stored in two columns."""
    large = pa.types.is_large_string(field.arrow.type) or pa.types.is_large_binary(field.arrow.type)
    item = pa.field("item", pa.uint8(), nullable=False)
    type_ = pa.large_list(item) if large else pa.list_(item)
    listed = pa.field(field.name, type_, field.nullable)
    (whole,) = schema_of(pa.schema([listed])).fields
    items = ValueColumn(file, whole.children[0], data)
    return EarlyStrings(file, field, open_list(file, whole, offsets, items))
