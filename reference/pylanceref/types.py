"""What may be handed over to be written, as one stream of record batches (face)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from lanceref.core.errors import DataRefused
from lanceref.file.arrow_schema import refuse_nulls
from lanceref.file.schema_view import with_leaves, without_view

from pylanceref.errors import BatchRefused, CallerCode
from pylanceref.scan_arguments import describe
from pylanceref.scanner import DEFAULT_BATCH_SIZE, LanceScanner
from pylanceref.table_handle import OpenTable

_END = object()
"""Comes after the last batch."""


def reader_of(data: object, schema: pa.Schema | None = None) -> pa.RecordBatchReader:
    """Return rows as a reader, views as text or bytes; reading it may raise DataRefused.

    Raises TypeError for other data, ValueError for a wrong schema.
    """
    given = _reader(data, schema)
    reader = pa.RecordBatchReader.from_batches(given.schema, map(refuse_nulls, given))
    for key, value in (reader.schema.metadata or {}).items():
        try:
            key.decode(), value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"Metadata key {key!r} is not valid utf8") from error
    fields = [with_leaves(field, without_view) for field in given.schema]
    plain = pa.schema(fields, given.schema.metadata)
    return reader if plain == given.schema else reader.cast(plain)


def _reader(data: object, schema: pa.Schema | None) -> pa.RecordBatchReader:
    if isinstance(data, pa.RecordBatchReader):
        return pa.RecordBatchReader.from_batches(data.schema, _given(data))
    if isinstance(data, OpenTable):
        data = describe(data._snapshot, data._snapshot.fragments, {**data._scan_options})
    if isinstance(data, LanceScanner):
        return data.to_reader()
    datasets = sys.modules.get("pyarrow.dataset")  # imported by who has one, and slow to import
    if datasets is not None and isinstance(data, datasets.Dataset):
        data = data.scanner()
    if datasets is not None and isinstance(data, datasets.Scanner):
        return data.to_reader()
    if (table := _table(data, schema)) is not None:
        return table.to_reader()
    if type(data).__module__.partition(".")[0] == "datasets":  # those of Hugging Face
        stream: Any = data
        schema = schema or stream.features.arrow_schema
        tables: Iterator[Any] = _given(stream.with_format("arrow").iter(DEFAULT_BATCH_SIZE))
        data = (batch for table in tables for batch in table.to_batches())
    if not isinstance(data, Iterable):
        raise TypeError(f"Unknown data type {type(data)}")
    if schema is None:
        raise ValueError("Must provide schema to write dataset from RecordBatch iterable")
    return pa.RecordBatchReader.from_batches(schema, _cast(data, schema))


def _table(data: object, schema: pa.Schema | None) -> pa.Table | None:
    """Return data that is in memory as a table, None for any other."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, dict):
        return pa.Table.from_batches([pa.RecordBatch.from_pydict(data, schema=schema)])
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return pa.Table.from_batches([pa.RecordBatch.from_pylist(data, schema=schema)])
    match type(data).__module__.partition(".")[0], type(data).__name__:
        case "pandas", "DataFrame":
            return pa.Table.from_pandas(data, schema=schema)
        case "polars", "DataFrame":
            return data.to_arrow()  # type: ignore[attr-defined]
    return None


def _given(batches: Iterable[object]) -> Iterator[object]:
    """Yield what the caller's own iterator yields. Raises CallerFailed for what it raises."""
    rest = iter(batches)
    while True:
        with CallerCode():
            batch = next(rest, _END)
        if batch is _END:
            return
        yield batch


def _cast(batches: Iterable[object], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the batches under `schema`. Raises DataRefused for what does not fit."""
    for batch in _given(batches):
        if not isinstance(batch, pa.RecordBatch):
            raise BatchRefused(f"Expected RecordBatch, got {type(batch)}")
        if batch.schema == schema:
            yield batch
            continue
        if batch.schema.names != schema.names:
            raise DataRefused(f"field names are not matching: {batch.schema.names}, {schema.names}")
        try:
            cast = pa.Table.from_batches([batch]).cast(schema)
        except ValueError as error:  # and so is pyarrow's
            raise DataRefused(f"a batch with schema {batch.schema}, not {schema}") from error
        yield from cast.to_batches()
