"""Files: one data file of any version under its path, read and written as a table.

The way of one read: `open_file` parses everything but the pages (see `data_file` and, for 0.1,
`file_0_1`) and opens a reader for each field; `File.read` lets each reader yield the arrays of its
rows, from the first row to the last. A file of 0.1 is described by the manifest inside it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from lanceref.blobs.descriptors import holds_blobs
from lanceref.core.arrow_buffers import RetainedBytes, whole
from lanceref.core.context import Context, plain_forms
from lanceref.core.errors import ColumnNotFound, NotFound, NotStorable
from lanceref.core.file_versions import V0_1, version_named
from lanceref.core.limits import DEFAULT_LIMITS, Limits, refuse_table
from lanceref.data_file import data_file
from lanceref.data_file.data_file import DataFile
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import ColumnReader, page_policy
from lanceref.file.container import is_legacy
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import project, resolved, resolved_batch
from lanceref.file_0_1.data_file import LegacyFile, open_legacy
from lanceref.storage import LocalSource, Source, StoreOptions, create_sink, is_local, open_store
from lanceref.storage import whole as written_whole
from lanceref.storage.local_file import local_path
from lanceref.storage.protocol import NO_OPTIONS
from lanceref.table.logical import packed_column


def open_source(uri: str | os.PathLike[str], options: StoreOptions = NO_OPTIONS) -> Source:
    """Open one object of any store for reading. Raises NotFound."""
    if is_local(uri):
        return LocalSource(local_path(uri))
    return open_store(uri, options).open("")


class File:
    """An opened data file: `schema`, `num_rows()`, and its rows.

    `columns` names the fields to read, nested ones with dots; None reads all. Raises
    ColumnNotFound.
    """

    def __init__(self, file: DataFile | LegacyFile, columns: Sequence[str] | None = None) -> None:
        schema = file.schema
        try:
            self._fields = schema.fields if columns is None else project(schema, columns)
        except NotFound as error:
            raise ColumnNotFound(f"Error creating projection: {error}") from error
        self._file = file
        self._storage = LanceSchema(tuple(self._fields), schema.metadata).arrow
        extended = any(one.is_extension for field in self._fields for one in field.flat())
        self.schema = resolved(self._storage) if extended else self._storage

    def num_rows(self) -> int:
        return self._file.num_rows

    def open_column(self, field: Field) -> ColumnReader:
        """Open one of the fields that are read, possibly pruned."""
        if any(one.packed for one in field.flat()):
            return packed_column(field, self._file.open_field)
        return self._file.open_field(field)

    def read(self, *, plain: bool = False) -> pa.Table:
        """Return every row; `plain` uses no fast form (`core.context`).

        Raises a LanceError for bytes that break the format, LimitExceeded for a table that takes
        more memory than the limits allow.
        """
        file, columns, held = self._file, [], RetainedBytes()
        size, ctx = file.bytes.size, file.bytes.ctx
        with plain_forms(plain):
            for field in self._fields:
                arrays = []
                for array in self.open_column(field).scan(0, file.num_rows):
                    arrays.append(whole(array) if array.type.num_fields else array)
                    held.add(array)
                    refuse_table(held.total, size, ctx.limits, ctx.file)
                columns.append(pa.chunked_array(arrays, field.arrow.type))
        table = pa.Table.from_arrays(columns, schema=self._storage)
        if self.schema.equals(self._storage):
            return table
        batches = [resolved_batch(batch) for batch in table.to_batches()]
        return pa.Table.from_batches(batches, self.schema)


def open_file(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> File:
    """Open a data file of any version; `columns` (None: all) may be nested, with dots.

    Raises NotFound, FormatError for broken bytes, BadSchema for a file of 0.1 without a manifest.
    """
    source = open_source(path)
    ctx = Context(Path(source.path).name, limits=limits)
    opened = open_legacy(source, ctx) if is_legacy(source) else data_file.open_file(source, ctx)
    return File(opened, columns)


def write_file(
    path: str | os.PathLike[str], rows: pa.Table | pa.RecordBatch, version: str | None = None
) -> int:
    """Write one data file of a version (None: the default) and return its size in bytes.

    Raises ValueError for a version that does not exist, NotStorable for 0.1 and for blobs of the
    second kind, SchemaRefused for a schema the format cannot hold.
    """
    stored, schema = version_named(version), schema_of(rows.schema)
    if stored == V0_1 or any(map(holds_blobs, schema.fields)):
        raise NotStorable("0.1 files and blobs outside of the file are written by write_table only")
    batches = rows.to_batches() if isinstance(rows, pa.Table) else [rows]
    sink = create_sink(path)
    with written_whole(sink):
        writer = FileWriter(sink, schema, stored, page_policy(len(schema.fields)))
        for batch in batches:
            writer.write_batch(batch)
        writer.finish()
    return sink.position
