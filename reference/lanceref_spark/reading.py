"""Reading: partitions of a table, and the rows of each.

A partition is one fragment; without a filter a large one is cut into ranges of its live rows. It
carries names and numbers only: each worker opens the table itself, once for a version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from lanceref.core.errors import NotFound
from pyspark.sql.datasource import DataSourceReader, InputPartition

from lanceref_spark.batches import fitted
from lanceref_spark.options import REFERENCE, Options, Rows, reader_module
from lanceref_spark.subprocess_reader import rows_apart
from lanceref_spark.types import batch_schema

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset


def described(
    options: Options, columns: Sequence[str] | None = None
) -> tuple[LanceDataset, pa.Schema]:
    """Open a table; return it with the schema of its rows. Raises NotFound, QueryRefused."""
    table = opened(options)
    names = list(columns) if columns is not None else _named(options, table)
    return table, pa.schema([_field(options, table, name) for name in names])


def _named(options: Options, table: LanceDataset) -> list[str]:
    names = list(options.columns) if options.columns is not None else list(table.schema.names)
    extra = (("_rowid", options.with_row_id), ("_rowaddr", options.with_row_address))
    return names + [name for name, wanted in extra if wanted and name not in names]


def _field(options: Options, table: LanceDataset, name: str) -> pa.Field:
    """Return a column as a scan gives it, system columns too."""
    scanner = table.scanner(columns=[name], batch_size=options.batch_size)
    return scanner.projected_schema.field(0)


def opened(options: Options) -> LanceDataset:
    """Open the table that options name. Raises NotFound."""
    module = reader_module(options.reader)
    if options.branch is None:
        made = module.dataset(
            options.uri, version=options.version, storage_options=options.storage_options
        )
        return cast("LanceDataset", made)
    table = module.dataset(options.uri, storage_options=options.storage_options)
    return cast("LanceDataset", table.checkout_version((options.branch, options.version)))


@lru_cache(maxsize=4)
def _held(
    uri: str, branch: str | None, version: int, reader: str, storage: tuple[tuple[str, str], ...]
) -> LanceDataset:
    """Open a version once in a worker, whose process does many tasks."""
    return opened(Options(uri, version, branch, reader=reader, storage=dict(storage)))


class TableReader(DataSourceReader):
    """Reads a version of a table; `columns` are those that Spark wants, in their order."""

    def __init__(self, options: Options, columns: Sequence[str]) -> None:
        table, schema = described(options, columns)
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
        """Return the pieces that are read apart."""
        return self._parts

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition; Spark asks for None where there is no partition."""
        if isinstance(partition, Rows):
            yield from rows_of(self._options, partition, self._columns, self._schema)


def rows_of(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition in the types of `schema`; another reader may not end us."""
    read = rows_here if options.reader == REFERENCE else rows_apart
    yield from read(options, part, columns, schema)


def rows_here(
    options: Options, part: Rows, columns: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a partition, read in this process."""
    table = _held(
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
            yield fitted(batch, schema)
