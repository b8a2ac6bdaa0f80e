"""Files: readers and writers of single files of 2.0 to 2.3 (face).

Has the names of pylance's `lance.file`, over `DataFile` and `FileWriter`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from lanceref.blobs.descriptors import described, described_schema, holds_blobs, prepared
from lanceref.core.arrow_buffers import nests_fixed_size_lists
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import DataRefused, NotFound, NotStorable
from lanceref.core.file_versions import (
    FOOTER_WORDS,
    V0_1,
    V2_0,
    V2_2,
    stable_version,
    version_named,
)
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.data_file.data_file import open_file
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import ColumnReader, batches, page_policy
from lanceref.file.schema_view import resolved, resolved_batch
from lanceref.files import File, open_source
from lanceref.search.snapshot import bound_table
from lanceref.storage import Sink, Source, create_sink, store_options, whole
from lanceref.storage.uri import joined

from pylanceref.stored_files import StoredFiles

__all__ = ["LanceFileMetadata", "LanceFileReader", "LanceFileSession", "LanceFileStatistics"]
__all__ += ["LanceFileWriter", "ReaderResults", "stable_version"]


class ReaderResults:
    """The rows of a read of `file`, in one pass; a row was asked for up to `copies` times."""

    def __init__(self, reader: pa.RecordBatchReader, file: FileBytes, copies: int = 1) -> None:
        self.reader = reader
        self._file, self._copies = file, copies

    def to_batches(self) -> pa.RecordBatchReader:
        return self.reader

    def to_table(self) -> pa.Table:
        """Read everything into a table. Raises LimitExceeded for one that is too large."""
        ctx, copies = self._file.ctx, self._copies
        limits = replace(ctx.limits, expansion_bytes=copies * ctx.limits.expansion_bytes)
        batches = bound_table(self.reader, limits, ctx.file, lambda: copies * self._file.size)
        return pa.Table.from_batches(batches, schema=self.reader.schema)


class LanceBufferDescriptor(NamedTuple):
    """Absolute position and size in bytes of a buffer."""

    position: int
    size: int


class LancePageMetadata(NamedTuple):
    """Buffers and encoding (as text) of one page."""

    buffers: list[LanceBufferDescriptor]
    encoding: str


class LanceColumnMetadata(NamedTuple):
    """Column-level buffers and pages of one physical column."""

    column_buffers: list[LanceBufferDescriptor]
    pages: list[LancePageMetadata]


class LanceFileMetadata(NamedTuple):
    """What the metadata of a file says; sizes in bytes, versions as the words of the footer."""

    schema: pa.Schema
    num_rows: int
    num_data_bytes: int
    num_column_metadata_bytes: int
    num_global_buffer_bytes: int
    global_buffers: list[LanceBufferDescriptor]
    columns: list[LanceColumnMetadata]
    major_version: int
    minor_version: int


class LanceColumnStatistics(NamedTuple):
    """Pages and bytes of page buffers of one physical column."""

    num_pages: int
    size_bytes: int


class LanceFileStatistics(NamedTuple):
    """The statistics of every physical column of a file."""

    columns: list[LanceColumnStatistics]


class LanceFileReader(File):
    """Reads one data file of version 2.0 to 2.3.

    `columns` names the fields to read, nested ones with dots; None reads all. Raises NotFound when
    the file or a column does not exist, and a `LanceError` for bytes that break the format.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        storage_options: dict[str, str] | None = None,
        columns: Sequence[str] | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        source: Source | None = None,
    ) -> None:
        if source is None:
            source = open_source(path, store_options(storage_options))
        self._opened = open_file(source, Context(Path(source.path).name, limits=limits))
        super().__init__(self._opened, columns)

    def read_all(self, *, batch_size: int = 1024, batch_readahead: int = 16) -> ReaderResults:
        """Read every row in batches of `batch_size` rows."""
        return self.read_range(0, self.num_rows(), batch_size=batch_size)

    def read_range(
        self, start: int, num_rows: int, *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """Read `num_rows` rows. Raises OverflowError below 0, ValueError outside of the file."""
        end = start + num_rows
        self._check_rows(min(start, num_rows), end, f"Range({start}..{end})")
        return self._results(self._stream(start, end, batch_size))

    def _check_rows(self, least: int, end: int, asked: str) -> None:
        if least < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if end > self.num_rows():
            raise ValueError(
                f"Invalid user input: cannot read {asked} from columns with {self.num_rows()} rows"
            )

    def take_rows(
        self, indices: Sequence[int], *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """Read rows at ascending `indices`. Raises OverflowError below 0, ValueError for others."""
        rows = np.asarray(indices, dtype=np.int64)
        least, last = int(np.min(rows, initial=0)), int(np.max(rows, initial=-1))
        self._check_rows(least, last + 1, f"Indices({last})")
        if np.any(np.diff(rows) < 0):
            raise ValueError("Indices must be sorted in ascending order for file API")
        batch = self._batch([reader.take(rows) for reader in self._readers])
        parts = [batch.slice(at, batch_size) for at in range(0, len(rows), batch_size)]
        return self._results(parts, int(np.unique_counts(rows).counts.max(initial=1)))

    def _results(self, batches: Iterable[pa.RecordBatch], copies: int = 1) -> ReaderResults:
        reader = pa.RecordBatchReader.from_batches(self.schema, batches)
        return ReaderResults(reader, self._opened.bytes, copies)

    def _stream(self, start: int, end: int, batch_size: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches of rows `start`..`end`; a run is dropped before the next is read."""
        uncut = not any(nests_fixed_size_lists(reader.type) for reader in self._readers)
        columns = [reader.scan(start, end) for reader in self._readers]
        for _, arrays in batches(columns, start, end, batch_size, uncut=uncut):
            stretch = self._batch(arrays)
            arrays.clear()
            for at in range(0, max(1, len(stretch)), batch_size):
                yield stretch.slice(at, batch_size)
            del stretch

    def _batch(self, arrays: list[pa.Array]) -> pa.RecordBatch:
        stored = pa.RecordBatch.from_arrays(arrays, schema=self._storage)
        return stored if self.schema.equals(self._storage) else resolved_batch(stored)

    @cached_property
    def _readers(self) -> list[ColumnReader]:
        return [self.open_column(field) for field in self._fields]

    def metadata(self) -> LanceFileMetadata:
        file, footer = self._opened, self._opened.footer
        words = FOOTER_WORDS[footer.version]
        num_global_buffer_bytes = sum(extent.size for extent in file.global_buffers)
        columns = []
        for column in file.columns:
            parts = [(_descriptors(page.extents), str(page.encoding)) for page in column.pages]
            pages = [LancePageMetadata(*part) for part in parts]
            columns.append(LanceColumnMetadata(_descriptors(column.extents), pages))
        return LanceFileMetadata(
            schema=resolved(file.descriptor.schema.arrow),
            num_rows=file.num_rows,
            num_data_bytes=footer.column_metadata_start - num_global_buffer_bytes,
            num_column_metadata_bytes=footer.gbo_start - footer.column_metadata_start,
            num_global_buffer_bytes=num_global_buffer_bytes,
            global_buffers=_descriptors(file.global_buffers),
            columns=columns,
            major_version=words[0],
            minor_version=words[1],
        )

    def file_statistics(self) -> LanceFileStatistics:
        columns = []
        for column in self._opened.columns:
            size_bytes = sum(extent.size for page in column.pages for extent in page.extents)
            columns.append(LanceColumnStatistics(len(column.pages), size_bytes))
        return LanceFileStatistics(columns)

    def read_global_buffer(self, index: int) -> bytes:
        """Return a global buffer; 0 is the file descriptor. Raises NotFound."""
        buffers = self._opened.global_buffers
        if not 0 <= index < len(buffers):
            raise NotFound(
                f"Invalid user input: request for global buffer at index {index} but there were "
                f"only {len(buffers)} global buffers in the file"
            )
        extent = buffers[index]
        cursor = self._opened.bytes.cursor(extent, f"global buffer {index}", "L.file.gbo.entry")
        return bytes(cursor.data)


def _descriptors(extents: Sequence[Extent]) -> list[LanceBufferDescriptor]:
    return [LanceBufferDescriptor(extent.offset, extent.size) for extent in extents]


def _has_views(type_: pa.DataType) -> bool:
    if pa.types.is_string_view(type_) or pa.types.is_binary_view(type_):
        return True
    return any(_has_views(type_.field(number).type) for number in range(type_.num_fields))


class LanceFileWriter:
    """Writes one data file of version 2.0 to 2.3 (the default is 2.2).

    Without a schema that of the first batch is taken. `data_cache_bytes` is divided evenly among
    the top-level fields. `size_bytes` is known after `close`. Raises ValueError for a version that
    does not exist, NotImplementedError for 0.1, SchemaRefused for a schema the format cannot hold.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema | None = None,
        *,
        data_cache_bytes: int | None = None,
        version: str | None = None,
        storage_options: dict[str, str] | None = None,
        max_page_bytes: int | None = None,
    ) -> None:
        self._version = version_named(version)
        if self._version == V0_1:
            raise NotStorable("0.1 files are written by write_dataset only")
        if max_page_bytes == 0:
            raise DataRefused("max_page_bytes must be greater than 0, got 0")
        self._options = store_options(storage_options)
        self._path, self._caches = path, (data_cache_bytes, max_page_bytes)
        self._sink: Sink | None = None
        self._writer: FileWriter | None = None
        self._writing = Lock()
        self.closed = False
        self.size_bytes: int | None = None
        if schema is not None:
            self._open(schema)

    def _open(self, schema: pa.Schema) -> FileWriter:
        self._schema = stored = schema_of(schema)
        blob = next((field.name for field in stored.flat() if field.is_blob_v2), None)
        if blob is not None and self._version < V2_2:
            raise DataRefused(f"Blob encoding is not available for field '{blob}'")
        if self._version == V2_0 and any(map(_has_views, schema.types)):
            raise DataRefused("2.0 files have no views of strings")
        policy = page_policy(len(stored.fields), *self._caches)
        self._sink = create_sink(self._path, self._options)
        with ExitStack() as undo:
            undo.callback(self._sink.abort)
            self._writer = FileWriter(self._sink, described_schema(stored), self._version, policy)
            undo.pop_all()
        return self._writer

    def write_batch(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Write the rows of a batch or table; threads take turns. Raises DataRefused, TypeError."""
        if not isinstance(batch, pa.RecordBatch | pa.Table):
            raise TypeError(f"Expected RecordBatch or Table, got {type(batch)}")
        if self.closed:
            raise DataRefused("the file is closed")
        parts = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        with self._writing:
            for part in parts:
                writer = self._writer if self._writer is not None else self._open(part.schema)
                of_blobs = any(map(holds_blobs, self._schema.fields))
                data = partial(prepared, data=writer)  # what prepared blobs become descriptors of
                writer.write_batch(described(part, self._schema, data) if of_blobs else part)

    def close(self) -> int | None:
        """Write the file's description and close it; return its rows, None at a second call."""
        if self.closed:
            return None
        self.closed = True
        writer = self._opened()
        assert self._sink is not None
        with whole(self._sink):
            num_rows = writer.finish()
        self.size_bytes = self._sink.position
        return num_rows

    def _opened(self) -> FileWriter:
        if self._writer is None:
            raise DataRefused(
                "Invalid user input: No schema provided on writer open and no data provided.  "
                "Schema is unknown and file cannot be created"
            )
        return self._writer

    def add_schema_metadata(self, key: str, value: str) -> None:
        self._opened().add_schema_metadata(key, value)

    def add_global_buffer(self, data: bytes) -> int:
        return self._opened().add_global_buffer(data)

    def __enter__(self) -> LanceFileWriter:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and self._sink is not None:
            self.closed = True
            self._sink.abort()
        else:
            self.close()


class LanceFileSession(StoredFiles):
    """Opens files below a folder, which no path leaves."""

    def open_reader(self, path: str, columns: Sequence[str] | None = None) -> LanceFileReader:
        """Open a file of the session's folder for reading."""
        return LanceFileReader(joined(self._base, self._below(path)), self._options, columns)

    def open_writer(self, path: str, **options: object) -> LanceFileWriter:
        """Begin a file; arguments as of `LanceFileWriter`."""
        named = {"storage_options": self._options, **options}
        return LanceFileWriter(joined(self._base, self._below(path)), **named)  # type: ignore[arg-type]
