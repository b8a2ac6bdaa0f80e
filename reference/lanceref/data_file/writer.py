"""The file writer under the name pylance has for it: `lanceref.file.LanceFileWriter`.

A thin face over `FileWriter`: a path instead of a sink, names instead of versions, defaults.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from types import TracebackType

import pyarrow as pa

from lanceref.core.errors import DataRefused, NotStorable
from lanceref.core.file_versions import V0_1, V2_0, V2_2, version_named
from lanceref.data_file.descriptors import described, described_schema, holds_blobs, prepared
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.column_writer import page_policy
from lanceref.file.schema import LanceSchema, schema_of
from lanceref.storage import Sink, create_sink, store_options, whole


def _check_blobs(schema: LanceSchema) -> None:
    for field in schema.flat():
        if field.is_blob_v2:
            raise DataRefused(f"Blob encoding is not available for field '{field.name}'")


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
        keep_original_array: bool | None = None,
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
        self.closed = False
        self.size_bytes: int | None = None
        if schema is not None:
            self._open(schema)

    def _open(self, schema: pa.Schema) -> FileWriter:
        self._schema = stored = schema_of(schema)
        if self._version < V2_2:
            _check_blobs(stored)
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
        """Write the rows of a batch, or of every batch of a table."""
        if not isinstance(batch, pa.RecordBatch | pa.Table):
            raise TypeError(f"Expected RecordBatch or Table, got {type(batch)}")
        if self.closed:
            raise DataRefused("the file is closed")
        parts = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        for part in parts:
            writer = self._writer if self._writer is not None else self._open(part.schema)
            writer.write_batch(self._with_descriptors(part, writer))

    def _with_descriptors(self, batch: pa.RecordBatch, writer: FileWriter) -> pa.RecordBatch:
        """Return a batch as it is stored: prepared blobs become descriptors."""
        if not any(map(holds_blobs, self._schema.fields)):
            return batch
        return described(batch, self._schema, lambda array, field: prepared(array, field, writer))

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
        """Add an entry to the schema's metadata."""
        self._opened().add_schema_metadata(key, value)

    def add_global_buffer(self, data: bytes) -> int:
        """Add a buffer of the application; return its number, the first is 1."""
        return self._opened().add_global_buffer(data)

    def __enter__(self) -> LanceFileWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and self._sink is not None:
            self.closed = True
            self._sink.abort()
        else:
            self.close()
