"""Index files: columns, metadata and buffers in the container of data files.

Every file of an index is a data file of 2.0 or later. The metadata of its schema holds parameters
as text; what is no column lies in global buffers from 1 on. Opening a file reads only its end.

Clauses: L.index.files.column, L.index.files.metadata, L.index.files.buffer, L.index.files.size
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import decoded
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent, parse_message
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.core.file_versions import FileVersion
from lanceref.data_file.data_file import open_file
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import ColumnReader, page_policy
from lanceref.storage import Source, Store, whole

M = TypeVar("M", bound=Message)
N = TypeVar("N", bound=np.unsignedinteger)

SMALL_BYTES = 2**16
"""Files up to this may be read as a whole."""


class IndexFile:
    """An opened file of an index; `size_bytes` is its size in the manifest, None: unknown.

    It has `num_rows`, columns of some `names`, and as `metadata` the texts of its schema by key.
    """

    def __init__(self, source: Source, ctx: Context, size_bytes: int | None = None) -> None:
        self.ctx = ctx
        self.source = source
        self.place = ctx.at(0, source.size)
        if size_bytes is not None and size_bytes != source.size:
            ctx.reject("L.index.files.size", self.place, f"{source.size} bytes", size_bytes)
        self._file = open_file(source, ctx)
        schema = self._file.descriptor.schema
        self.num_rows, self.metadata = self._file.num_rows, schema.metadata
        self._fields = {field.name: field for field in schema.fields}
        self.names = list(self._fields)

    def hold(self) -> None:
        """Read a small file at once: then no column of it costs a request."""
        if self.source.size <= SMALL_BYTES:
            every = Extent(0, self.source.size)
            window = self._file.bytes.with_window(every, "index file", "L.file.pages.extent")
            self._file = replace(self._file, bytes=window, readers={})

    def lint(self, clause: str, found: object, wanted: object) -> None:
        """Record a broken writer clause of the file."""
        self.ctx.lint(clause, self.place, found, wanted)

    def corrupt(self, clause: str, found: object, wanted: object) -> CorruptPage:
        """Return the error for content that contradicts its description."""
        return CorruptPage(clause, self.place, found, wanted)

    def _unfit(self, found: object, wanted: object) -> FormatError:
        return FormatError("L.index.files.column", self.place, found, wanted)

    def text(self, key: str) -> str:
        """Return an entry of the metadata. Raises FormatError when it is missing."""
        if key not in self.metadata:
            raise FormatError("L.index.files.metadata", self.place, sorted(self.metadata), key)
        return self.metadata[key]

    def number(self, key: str) -> int:
        """Return an entry of the metadata as a number. Raises FormatError for another."""
        text = self.text(key)
        if not (text.isascii() and text.isdigit() and len(text) <= 20):
            raise self._misfit(key, "a decimal number")
        return int(text)

    def digits(self, key: str) -> bytes:
        """Return an entry of the metadata that is hexadecimal digits. Raises FormatError."""
        try:
            return bytes.fromhex(self.text(key))
        except ValueError as error:
            raise self._misfit(key, "hexadecimal digits") from error

    def _misfit(self, key: str, wanted: str) -> FormatError:
        found = f"{key!r} = {self.text(key)[:40]!r}"
        return FormatError("L.index.files.metadata", self.place, found, wanted)

    def column_type(self, name: str) -> pa.DataType:
        """Return the Arrow type of a column. Raises FormatError when there is none."""
        return self._column(name, None).type

    def read(
        self,
        name: str,
        type_: pa.DataType | None = None,
        start: int = 0,
        end: int | None = None,
        whole: str | None = None,
    ) -> pa.Array:
        """Return rows of a column. Raises FormatError when it is missing or of another type.

        By a clause `whole` no value is null, and none in a list.
        """
        column = self._column(name, type_)
        stop = self.num_rows if end is None else end
        if stop - start < self.num_rows and not pa.types.is_primitive(column.type):
            # of long values a scan reads all lengths
            return self._checked(column.take(np.arange(start, stop)), name, whole)
        parts = list(column.scan(start, stop))
        values = pa.concat_arrays(parts) if parts else pa.nulls(0, column.type)
        return self._checked(values, name, whole)

    def _checked(self, values: pa.Array, name: str, whole: str | None) -> pa.Array:
        """Return values of a column. Raises CorruptPage of a clause for a null among them."""
        if whole is not None:
            is_list = pa.types.is_list(values.type) or pa.types.is_fixed_size_list(values.type)
            nulls = values.null_count or (values.flatten().null_count if is_list else 0)
            if nulls:
                raise self.corrupt(whole, f"{nulls} nulls in {name!r}", "a value in every row")
        return values

    def read_ordered(self, name: str, start: int = 0, end: int | None = None) -> pa.Array:
        """Return rows of a column of keys. Raises FormatError for a type that has no order."""
        values = self.read(name, None, start, end)
        if pa.types.is_nested(values.type):
            raise self._unfit(f"{name!r} of {values.type}", "a type that has an order")
        return decoded(values)

    @contextmanager
    def comparing(self, type_: pa.DataType) -> Iterator[None]:
        """Compare keys of a type with values of the column. Raises FormatError where none can."""
        try:
            yield
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise self._unfit(f"keys of {type_}", "the type of the column") from error

    def numbers(
        self, name: str, dtype: type[N], start: int = 0, end: int | None = None
    ) -> NDArray[N]:
        """Return rows of a column of numbers: (rows,). Raises FormatError where one is null."""
        type_ = pa.from_numpy_dtype(dtype)
        return np.asarray(self.read(name, type_, start, end, "L.index.files.column"), dtype)

    def take(
        self,
        name: str,
        rows: NDArray[np.int64],
        type_: pa.DataType | None = None,
        whole: str | None = None,
    ) -> pa.Array:
        """Return rows of a column, at ascending places, as `read`. `rows` (n,)."""
        return self._checked(self._column(name, type_).take(rows), name, whole)

    def _column(self, name: str, type_: pa.DataType | None) -> ColumnReader:
        field = self._fields.get(name)
        if field is None:
            raise self._unfit(f"columns {self.names}", f"a column {name!r}")
        column = self._file.open_field(field)
        if type_ is not None and not column.type.equals(type_):
            raise self._unfit(f"{name!r} of {column.type}", type_)
        return column

    def take_cursors(self, name: str, rows: NDArray[np.int64], clause: str) -> list[Cursor]:
        """Return the binary values of ascending rows (n,). Raises FormatError for a null."""
        values = self.take(name, rows, pa.binary(), clause)
        return [Cursor(memoryview(value.as_buffer()), 0, self.ctx) for value in values]

    def buffer(self, number: int) -> Cursor:
        """Return the bytes of a global buffer. Raises FormatError when there is none."""
        buffers, name = self._file.global_buffers, f"global buffer {number}"
        if not 1 <= number < len(buffers):
            raise FormatError("L.index.files.buffer", self.place, name, f"one of {len(buffers)}")
        return self._file.bytes.cursor(buffers[number], name, "L.index.files.buffer")

    def message(self, number: int, kind: type[M]) -> M:
        """Return a global buffer as a message. Raises BadProto."""
        return parse_message(self.buffer(number), kind, "global buffer", "L.index.files.buffer")


def write_index_file(
    store: Store,
    path: str,
    schema: pa.Schema,
    version: FileVersion,
    batches: Iterable[pa.RecordBatch],
    metadata: Mapping[str, str],
    buffers: Sequence[bytes] = (),
) -> int:
    """Write a file, whole or not at all; return its size in bytes. `buffers` are 1, 2 and so on."""
    stored = schema_of(schema)
    with whole(store.create(path)) as sink:
        writer = FileWriter(sink, stored, version, page_policy(len(stored.fields)))
        for batch in batches:
            writer.write_batch(batch)
        for buffer in buffers:
            writer.add_global_buffer(buffer)
        for key, text in metadata.items():
            writer.add_schema_metadata(key, text)
        writer.finish()
    return sink.position
