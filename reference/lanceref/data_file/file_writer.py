"""Data file, written: the container of 2.0 to 2.3.

The counterpart of `data_file`. Pages go out as they become full, each buffer padded to a multiple
of 64; everything that describes them follows at the end.

Layout: see `data_file`.

Clauses: L.file.alignment.buffers, L.file.padding.value, L.file.columns.order,
L.file.footer.cmo-start, L.file.descriptor.length, L.file.globals.descriptor

Divergences: D.file.footer-says-0-3
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message

from lanceref.core.cursor import Extent
from lanceref.core.errors import NotStorable
from lanceref.core.file_versions import FOOTER_WORDS, PAGE_TYPE, V2_0, FileVersion
from lanceref.core.run_sizes import keep_freed_blocks
from lanceref.encodings_2_0 import column as arrays
from lanceref.file.arrow_schema import column_of, schema_message
from lanceref.file.column_io import Buffer, EncodedPage, FieldWriter, PagePolicy
from lanceref.file.container import ALIGNMENT, COLUMN_TYPE, MAGIC
from lanceref.file.schema import Field, LanceSchema
from lanceref.pages import writer as pages
from lanceref.proto import file2_pb2, file_pb2
from lanceref.storage import Sink

PADDING = b"H" * ALIGNMENT
"""Bytes between buffers."""

FieldOpener = Callable[[Field, int, FileVersion, PagePolicy], FieldWriter]
"""Gives the writer of a field whose first physical column is known."""

_FOOTER = struct.Struct("<QQQIIHH4s")
_ENTRY = struct.Struct("<QQ")


@contextmanager
def _as_deep_as_can_be_read() -> Iterator[None]:
    """Raise NotStorable for messages of encodings that nest deeper than the library parses."""
    try:
        yield
    except DecodeError as error:
        raise NotStorable(f"a type nested too deep for its encoding: {error}") from error


class FileWriter:
    """Writes one data file to a sink; `num_rows` counts what was written so far.

    The file is whole after `finish`; on any error the caller aborts the sink. `open_field` gives
    the writer of a field, by default that of the version.
    """

    def __init__(
        self,
        sink: Sink,
        schema: LanceSchema,
        version: FileVersion,
        policy: PagePolicy,
        open_field: FieldOpener | None = None,
    ) -> None:
        keep_freed_blocks()
        self._sink, self._schema, self._version = sink, schema, version
        self._metadata = dict(schema.metadata)
        self._writers: list[FieldWriter] = []
        num_columns, opener = 0, open_field or _open_writer
        for field in schema.fields:
            self._writers.append(opener(field, num_columns, version, policy))
            num_columns += self._writers[-1].num_columns
        self._columns = [file2_pb2.ColumnMetadata() for _ in range(num_columns)]
        self._global_buffers: list[Extent] = []
        self.num_rows = 0

    def write(self, data: Buffer) -> Extent:
        """Write a buffer and the padding after it; return where it lies."""
        extent = self._write_unpadded(data)
        self._sink.write(PADDING[: -extent.size % ALIGNMENT])
        return extent

    def _write_unpadded(self, data: Buffer) -> Extent:
        view = memoryview(pa.py_buffer(data))
        extent = Extent(self._sink.position, len(view))
        self._sink.write(view)
        return extent

    @_as_deep_as_can_be_read()
    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Queue the rows of a batch and write the pages that became full.

        Raises DataRefused when a column is missing, of another type, or has nulls it must not have,
        NotStorable for lists in so many lists that no message describes them.
        """
        if batch.num_rows == 0:
            return
        arrays = [column_of(batch, field) for field in self._schema.fields]
        done: list[EncodedPage] = []
        for writer, array in zip(self._writers, arrays, strict=True):
            done += writer.write(array, self.num_rows, self)
        self.num_rows += batch.num_rows
        self._write_pages(done)

    def _write_pages(self, done: Sequence[EncodedPage]) -> None:
        for page in done:
            extents = [self.write(buffer) for buffer in page.buffers]
            self._columns[page.column].pages.add(
                buffer_offsets=[extent.offset for extent in extents],
                buffer_sizes=[extent.size for extent in extents],
                length=page.num_rows,
                encoding=_direct(page.encoding, PAGE_TYPE[self._version]),
                priority=page.priority,
            )

    def add_global_buffer(self, data: Buffer) -> int:
        """Write a buffer of the application; return its number, the first is 1."""
        self._global_buffers.append(self.write(data))
        return len(self._global_buffers)

    def add_schema_metadata(self, key: str, value: str) -> None:
        self._metadata[key] = value

    @_as_deep_as_can_be_read()
    def finish(self) -> int:
        """Write what is queued and the description of the file; return its rows.

        Raises NotStorable as `write_batch`.
        """
        self._write_pages([page for writer in self._writers for page in writer.flush(self)])
        ends = (column for writer in self._writers for column in writer.finish())
        for message, column in zip(self._columns, ends, strict=True):
            extents = [self.write(buffer) for buffer in column.buffers]
            message.encoding.CopyFrom(_direct(column.encoding, COLUMN_TYPE))
            message.buffer_offsets.extend(extent.offset for extent in extents)
            message.buffer_sizes.extend(extent.size for extent in extents)
            self._write_pages(column.pages)
        schema = schema_message(LanceSchema(self._schema.fields, self._metadata))
        descriptor = file_pb2.FileDescriptor(schema=schema, length=self.num_rows)
        first = self._write_unpadded(descriptor.SerializeToString(deterministic=True))
        metadata = [self._write_unpadded(column.SerializeToString()) for column in self._columns]
        start = metadata[0].offset if metadata else self._sink.position
        cmo_start = self._write_table(metadata)
        gbo_start = self._write_table([first, *self._global_buffers])
        words = FOOTER_WORDS[self._version]
        counts = (1 + len(self._global_buffers), len(metadata))
        self._write_unpadded(_FOOTER.pack(start, cmo_start, gbo_start, *counts, *words, MAGIC))
        return self.num_rows

    def _write_table(self, extents: Sequence[Extent]) -> int:
        """Write an offset table; return where it begins."""
        table = b"".join(_ENTRY.pack(extent.offset, extent.size) for extent in extents)
        return self._write_unpadded(table).offset


def _open_writer(
    field: Field, first_column: int, version: FileVersion, policy: PagePolicy
) -> FieldWriter:
    if version == V2_0:
        return arrays.open_writer(field, first_column, policy)
    return pages.open_writer(field, first_column, version, policy)


def _direct(message: Message, type_name: str) -> file2_pb2.Encoding:
    """Wrap an encoding message into the `Any` that is stored in place. Raises DecodeError."""
    data = message.SerializeToString()
    type(message).FromString(data)
    packed = AnyMessage(type_url=f"/{type_name}", value=data)
    encoding = file2_pb2.DirectEncoding(encoding=packed.SerializeToString())
    return file2_pb2.Encoding(direct=encoding)
