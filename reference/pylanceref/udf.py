"""Functions of batches that compute columns (face of `lance.udf`).

Layout of a checkpoint: a SQLite database with the table `batches (fragment_id, batch_index,
result)`, where a result is an Arrow stream of one batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa
from lanceref import operations
from lanceref.core.errors import SchemaRefused
from lanceref.search.snapshot import Snapshot, scan_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

from pylanceref.errors import CallerCode, CallerFailed
from pylanceref.sql.columns import computed_columns
from pylanceref.types import reader_of

Function = Callable[[pa.RecordBatch], object]


class BatchUDFCheckpoint:
    """Results of batches that are kept in a file until the columns are part of the table."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._run(
            "CREATE TABLE IF NOT EXISTS batches (fragment_id INT, batch_index INT, result BLOB)"
        )

    def cleanup(self) -> None:
        """Remove the file that keeps results, if it exists."""
        Path(self.path).unlink()

    def get_batch(self, info: tuple[int, int]) -> pa.RecordBatch | None:
        """Return the result of a batch of a fragment, None when there is none."""
        where = "SELECT result FROM batches WHERE fragment_id = ? AND batch_index = ?"
        found = self._run(where, *info)
        if not found:
            return None
        with pa.ipc.open_stream(found[0][0]) as reader:
            return reader.read_next_batch()

    def insert_batch(self, info: tuple[int, int], batch: pa.RecordBatch) -> None:
        """Keep the result of one batch for a later run."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        self._run("INSERT INTO batches VALUES (?, ?, ?)", *info, sink.getvalue().to_pybytes())

    def _run(self, sql: str, *values: object) -> list[tuple[bytes]]:
        import sqlite3  # slow to import

        with closing(sqlite3.connect(self.path)) as connection:
            found = connection.execute(sql, values).fetchall()
            connection.commit()
        return found


class BatchUDF:
    """A function of batches, the schema of what it returns, and where results are kept."""

    def __init__(
        self,
        func: Function,
        output_schema: pa.Schema | None = None,
        checkpoint_file: str | os.PathLike[str] | None = None,
    ) -> None:
        self.func = func
        self.output_schema = output_schema
        self.cache = None if checkpoint_file is None else BatchUDFCheckpoint(checkpoint_file)

    def __call__(self, batch: pa.RecordBatch) -> object:
        """Return what the function does, as it is."""
        return self.func(batch)

    def for_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns for a batch; a data frame or table is taken too.

        The first batch decides on the schema if nobody else did: what the function raises then
        comes out as it is. Raises CallerFailed for what it raises later, and for another schema.
        """
        if self.output_schema is None:
            found = as_batch(self.func(batch))
            self.output_schema = found.schema
            return found
        with CallerCode():
            found = as_batch(self.func(batch))
        if found.schema != self.output_schema:
            told = "Output schema of function does not match the expected schema"
            raise CallerFailed(f"{told}: {found.schema}, not {self.output_schema}")
        return found

    def cached(self, info: tuple[int, int], batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns for a batch, kept ones if there are any."""
        if self.cache is None:
            return self.for_batch(batch)
        held = self.cache.get_batch(info)
        if held is None:
            held = self.for_batch(batch)
            self.cache.insert_batch(info, held)
        return held


def as_batch(found: object) -> pa.RecordBatch:
    """Return a batch, table or data frame as a batch. Raises TypeError for something else."""
    if isinstance(found, pa.RecordBatch):
        return found
    if isinstance(found, pa.Table):
        arrays = [column.combine_chunks() for column in found.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=found.schema)
    return pa.RecordBatch.from_pandas(found)


def batch_udf(
    output_schema: pa.Schema | None = None, checkpoint_file: str | os.PathLike[str] | None = None
) -> Callable[[Function], BatchUDF]:
    """Make a function of batches one that can add columns, as a decorator."""
    return lambda func: BatchUDF(func, output_schema, checkpoint_file)


def mapped_source(
    snapshot: Snapshot, function: BatchUDF, columns: Sequence[str] | None, batch_size: int | None
) -> operations.new_data.ColumnSource:
    """Return columns by a function of batches; by default the first row decides on the schema.

    Raises SchemaRefused, when they are read, for a batch of more or fewer rows.
    """
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), columns)
    module, schema = operations.new_data, function.output_schema
    if schema is None:
        first = snapshot.scan(snapshot.fragments, projection, 1, 0, 1)
        nothing = pa.RecordBatch.from_struct_array(pa.nulls(0, pa.struct(projection.schema)))
        schema = function.for_batch(next(first, nothing)).schema

    def rows_of(rows: FragmentRows) -> Iterator[pa.RecordBatch]:
        size = module.BATCH_ROWS if batch_size is None else batch_size
        for number, batch in enumerate(module.live_rows(snapshot, rows, projection, size)):
            result = function.cached((rows.fragment.id, number), batch)
            if result.num_rows != batch.num_rows:
                raise SchemaRefused(
                    "Invalid user input: Fragment Updater: new batch has different size with the "
                    f"source batch: {batch.num_rows} != {result.num_rows}"
                )
            yield result

    return module.ColumnSource(schema, rows_of)


def new_columns(
    snapshot: Snapshot,
    given: object,
    columns: Sequence[str] | None,
    batch_size: int | None,
    schema: pa.Schema | None,
    fragments: Sequence[FragmentRows],
) -> operations.new_data.ColumnSource:
    """Return columns in SQL, by a function of batches, or of rows in the order of fragments.

    Raises SchemaRefused, TypeError for what holds no rows and for a plain function that fails.
    """
    if isinstance(given, Mapping):
        return computed_columns(snapshot, given)
    if isinstance(given, BatchUDF):
        return mapped_source(snapshot, given, columns, batch_size)
    if callable(given):
        try:
            with CallerCode():
                return mapped_source(snapshot, BatchUDF(given), columns, batch_size)
        except CallerFailed as error:
            told = "which is callable, but gave an error when called with a batch of data"
            raise TypeError(f"{type(given)}, {told}: {error.__cause__}") from error
    try:
        values = reader_of(given, schema).read_all()
    except TypeError as error:
        raise TypeError(f"transforms: Could not coerce to a reader: {error}") from error
    return operations.new_data.ordered_source(snapshot, values, fragments)
