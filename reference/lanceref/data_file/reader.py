"""The file reader under the name pylance has for it: `lanceref.file.LanceFileReader`.

A thin face over `DataFile`: projection, batches, ranges and random rows of one data file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import FileColumnNotFound, NotFound
from lanceref.core.file_versions import FOOTER_WORDS
from lanceref.core.limits import DEFAULT_LIMITS, Limits, bound_table
from lanceref.core.logical_types import resolved, resolved_batch
from lanceref.data_file.data_file import DataFile, open_file
from lanceref.file.column_reader import ColumnReader, stretches
from lanceref.file.columns import PageMetadata
from lanceref.file.schema import project
from lanceref.storage import Source, open_source, store_options


class ReaderResults:
    """The rows of a read: one pass, as batches or as a table. `file` is what they are read from."""

    def __init__(self, reader: pa.RecordBatchReader, file: FileBytes) -> None:
        self.reader = reader
        self._file = file

    def to_batches(self) -> pa.RecordBatchReader:
        """Return the batches as a stream."""
        return self.reader

    def to_table(self) -> pa.Table:
        """Read everything into a table. Raises LimitExceeded for one that is too large."""
        file = self._file
        batches = bound_table(self.reader, file.ctx.limits, file.ctx.file, lambda: file.size)
        return pa.Table.from_batches(batches, schema=self.reader.schema)


@dataclass(frozen=True, slots=True)
class LanceBufferDescriptor:
    """Absolute position and size in bytes of a buffer."""

    position: int
    size: int


@dataclass(frozen=True, slots=True)
class LancePageMetadata:
    """Buffers and encoding (as text) of one page."""

    buffers: list[LanceBufferDescriptor]
    encoding: str


@dataclass(frozen=True, slots=True)
class LanceColumnMetadata:
    """Column-level buffers and pages of one physical column."""

    column_buffers: list[LanceBufferDescriptor]
    pages: list[LancePageMetadata]


@dataclass(frozen=True, slots=True)
class LanceFileMetadata:
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


@dataclass(frozen=True, slots=True)
class LanceColumnStatistics:
    """Pages and bytes of page buffers of one physical column."""

    num_pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LanceFileStatistics:
    """Statistics of every physical column."""

    columns: list[LanceColumnStatistics]


class LanceFileReader:
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
        opened_from = (
            source if source is not None else open_source(path, store_options(storage_options))
        )
        self._file: DataFile = open_file(
            opened_from, Context(Path(opened_from.path).name, limits=limits)
        )
        schema = self._file.descriptor.schema
        try:
            self._fields = schema.fields if columns is None else project(schema, columns)
        except NotFound as error:
            raise FileColumnNotFound(f"Error creating projection: {error}") from error
        self._storage = pa.schema(
            [field.arrow for field in self._fields], metadata=schema.metadata or None
        )
        self.schema = resolved(self._storage)

    def read_all(self, *, batch_size: int = 1024, batch_readahead: int = 16) -> ReaderResults:
        """Read every row in batches of `batch_size` rows."""
        return self.read_range(0, self.num_rows(), batch_size=batch_size)

    def read_range(
        self, start: int, num_rows: int, *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """Read rows `start` to `start + num_rows`.

        Raises OverflowError for negative numbers, ValueError for rows outside the file.
        """
        if start < 0 or num_rows < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if start + num_rows > self.num_rows():
            raise ValueError(
                f"Invalid user input: cannot read Range({start}..{start + num_rows}) from columns "
                f"with {self.num_rows()} rows"
            )
        stream = self._stream(start, start + num_rows, batch_size)
        return self._results(stream)

    def take_rows(
        self, indices: Sequence[int], *, batch_size: int = 1024, batch_readahead: int = 16
    ) -> ReaderResults:
        """Read the rows at ascending `indices`.

        Raises OverflowError for a negative one, ValueError when unsorted or out of range.
        """
        rows = np.asarray(indices, dtype=np.int64)
        if np.any(rows < 0):
            raise OverflowError("can't convert negative int to unsigned")
        if np.any(np.diff(rows) < 0):
            raise ValueError("Indices must be sorted in ascending order for file API")
        if len(rows) and rows[-1] >= self.num_rows():
            raise ValueError(
                f"Invalid user input: cannot read Indices({rows[-1]}) from columns with "
                f"{self.num_rows()} rows"
            )
        arrays = [reader.take(rows) for reader in self._readers]
        batch = self._batch(arrays)
        parts = [batch.slice(at, batch_size) for at in range(0, len(rows), batch_size)]
        return self._results(parts)

    def _results(self, batches: Iterable[pa.RecordBatch]) -> ReaderResults:
        reader = pa.RecordBatchReader.from_batches(self.schema, batches)
        return ReaderResults(reader, self._file.bytes)

    def _stream(self, start: int, end: int, batch_size: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches of rows `start`..`end`; a run is dropped before the next is read."""
        for arrays in stretches(self._readers, start, end, batch_size):
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
        return [self._file.open_field(field) for field in self._fields]

    def num_rows(self) -> int:
        """Rows of the file."""
        return self._file.num_rows

    def metadata(self) -> LanceFileMetadata:
        """Return what the file's metadata says."""
        file, words = self._file, FOOTER_WORDS[self._file.footer.version]
        num_global_buffer_bytes = sum(extent.size for extent in file.global_buffers)
        return LanceFileMetadata(
            schema=resolved(file.descriptor.schema.arrow),
            num_rows=file.num_rows,
            num_data_bytes=file.footer.column_metadata_start - num_global_buffer_bytes,
            num_column_metadata_bytes=file.footer.gbo_start - file.footer.column_metadata_start,
            num_global_buffer_bytes=num_global_buffer_bytes,
            global_buffers=_descriptors(file.global_buffers),
            columns=[
                LanceColumnMetadata(
                    _descriptors(column.extents), [_page(page) for page in column.pages]
                )
                for column in file.columns
            ],
            major_version=words[0],
            minor_version=words[1],
        )

    def file_statistics(self) -> LanceFileStatistics:
        """Return pages and bytes of every physical column."""
        return LanceFileStatistics(
            [
                LanceColumnStatistics(
                    len(column.pages), sum(e.size for page in column.pages for e in page.extents)
                )
                for column in self._file.columns
            ]
        )

    def read_global_buffer(self, index: int) -> bytes:
        """Return a global buffer; 0 is the file descriptor. Raises NotFound."""
        if not 0 <= index < len(self._file.global_buffers):
            raise NotFound(
                f"Invalid user input: request for global buffer at index {index} but there were "
                f"only {len(self._file.global_buffers)} global buffers in the file"
            )
        extent = self._file.global_buffers[index]
        cursor = self._file.bytes.cursor(extent, f"global buffer {index}", "L.file.gbo.entry")
        return bytes(cursor.data)


def _descriptors(extents: Sequence[Extent]) -> list[LanceBufferDescriptor]:
    return [LanceBufferDescriptor(extent.offset, extent.size) for extent in extents]


def _page(page: PageMetadata) -> LancePageMetadata:
    return LancePageMetadata(_descriptors(page.extents), str(page.encoding))
