"""Reading: partitions of a table, and their rows.

A partition is one fragment; without a filter, large fragments are split into ranges of live rows.
Partitions have names and numbers alone: each worker opens the table once per version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from lanceref.core.errors import NotFound
from pyspark.sql.datasource import DataSourceReader, InputPartition

from lanceref_spark.batches import fit_batch
from lanceref_spark.options import REFERENCE, Options, Rows, reader_module
from lanceref_spark.subprocess_reader import read_in_subprocess
from lanceref_spark.types import batch_schema

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset


def open_with_schema(
    options: Options, columns: Sequence[str] | None = None
) -> tuple[LanceDataset, pa.Schema]:
    """Open a table; return it with the schema of the requested columns.

    Raises NotFound, QueryRefused.
    """
    table = open_table(options)
    names = list(columns) if columns is not None else _column_names(options, table)
    return table, pa.schema([_field(options, table, name) for name in names])


def _column_names(options: Options, table: LanceDataset) -> list[str]:
    names = list(options.columns) if options.columns is not None else list(table.schema.names)
    extra = (("_rowid", options.with_row_id), ("_rowaddr", options.with_row_address))
    return names + [name for name, is_requested in extra if is_requested and name not in names]


def _field(options: Options, table: LanceDataset, name: str) -> pa.Field:
    """Return the field of a column, or of a system column, in a scan."""
    scanner = table.scanner(columns=[name], batch_size=options.batch_size)
    return scanner.projected_schema.field(0)


def open_table(options: Options) -> LanceDataset:
    """Open the table of the options. Raises NotFound."""
    module = reader_module(options.reader)
    if options.branch is None:
        table = module.dataset(
            options.uri, version=options.version, storage_options=options.storage_options
        )
        return cast("LanceDataset", table)
    table = module.dataset(options.uri, storage_options=options.storage_options)
    return cast("LanceDataset", table.checkout_version((options.branch, options.version)))


@lru_cache(maxsize=4)
def _cached_table(
    uri: str, branch: str | None, version: int, reader: str, storage: tuple[tuple[str, str], ...]
) -> LanceDataset:
    """Return a version, which each worker process opens once."""
    return open_table(Options(uri, version, branch, reader=reader, storage=dict(storage)))


class TableReader(DataSourceReader):
    """Reads a version of a table; `columns` are those that Spark requests, in order."""

    def __init__(self, options: Options, columns: Sequence[str]) -> None:
        table, schema = open_with_schema(options, columns)
        self._options = replace(options, version=table.version)
        self._columns = list(columns)
        self._schema = batch_schema(schema, truncate=options.truncate)
        self._parts = list(self._partitions(table))

    def _partitions(self, table: LanceDataset) -> Iterator[Rows]:
        for fragment in table.get_fragments():
            live = fragment.metadata.num_rows
            if self._options.filter is not None or live <= self._options.split_rows:
                yield Rows(table.version, fragment.fragment_id)
                continue
            for start in range(0, live, self._options.split_rows):
                count = min(self._options.split_rows, live - start)
                yield Rows(table.version, fragment.fragment_id, start, count)

    def partitions(self) -> Sequence[InputPartition]:
        """Return the partitions."""
        return self._parts

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition, which is None if there are no partitions."""
        if isinstance(partition, Rows):
            yield from rows_of(self._options, partition, self._columns, self._schema)


def rows_of(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition in the types of `schema`; other readers run in a subprocess."""
    read = read_locally if options.reader == REFERENCE else read_in_subprocess
    yield from read(options, part, columns, schema)


def read_locally(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition, which are read in this process."""
    table = _cached_table(
        options.uri,
        options.branch,
        part.version,
        options.reader,
        tuple(sorted(options.storage.items())),
    )
    fragment = table.get_fragment(part.fragment)
    if fragment is None:
        raise NotFound(f"fragment {part.fragment} of version {part.version} of {options.uri}")
    scanner = fragment.scanner(
        columns=list(columns),
        filter=options.filter,
        offset=part.start or None,
        limit=part.count,
        batch_size=options.batch_size,
    )
    for batch in scanner.to_batches():
        if batch.num_rows:
            yield fit_batch(batch, schema)
