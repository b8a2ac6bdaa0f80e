"""New columns of a table: a file for each fragment, with a value for each of its rows.

Deleted rows count too. A source of columns has the Arrow schema of its columns and gives the values
of a fragment's rows: computed from other columns, brought along in order, or joined by a key.

Clauses: L.txn.op.merge, L.table.fragments.rows, L.table.datafile.lookup
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lanceref.core.arrow_buffers import whole, whole_rows
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V0_1
from lanceref.file.arrow_schema import numbered, schema_of
from lanceref.file.schema import Field, LanceSchema
from lanceref.operations.new_rows import MAX_FRAGMENT_ROWS, write_new_rows
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Projection, Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from lanceref.transactions.manifest_builder import copy_of, storage_version_of

BATCH_ROWS = 8192

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """New columns: their schema, and the rows of a fragment, deleted ones included."""

    schema: pa.Schema
    rows_of: Callable[[FragmentRows], Batches]


def all_rows(rows: FragmentRows, projection: Projection, batch_size: int = BATCH_ROWS) -> Batches:
    """Yield the rows of a fragment, deleted ones included."""
    every = rows.with_deleted()
    end = every.columns.physical_rows
    for count, arrays in every.scan(projection.fields, projection.system, batch_size, 0, end):
        yield projection.batch(count, arrays)


def key_values(column: pa.Array | pa.ChunkedArray) -> list[object]:
    """Return the values (n,) of keys as hashable objects, None for null.

    Python has no timestamps of nanoseconds: times of that unit are their counts.
    """
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", None) == "ns":
        column = column.cast(pa.int64())
    values: list[object] = column.to_pylist()
    return values


def computed_source(
    snapshot: Snapshot,
    schema: pa.Schema,
    columns: Collection[str],
    compute: Callable[[pa.RecordBatch], pa.RecordBatch],
) -> ColumnSource:
    """Return columns of a schema that are computed from some of the table, batch by batch."""
    own = snapshot.schema(BlobHandling.BYTES)
    projection = scan_projection(own, [name for name in own.arrow.names if name in columns])
    return ColumnSource(schema, lambda rows: map(compute, all_rows(rows, projection)))


def ordered_source(
    snapshot: Snapshot, values: pa.Table, fragments: Sequence[FragmentRows]
) -> ColumnSource:
    """Return columns of a table that has a row for each live row of the fragments, in their order.

    Raises SchemaRefused for another number of rows, and for a null that the file version cannot
    hold.
    """
    ends = np.cumsum([0, *(rows.num_rows for rows in fragments)]).tolist()
    live = ends[-1]
    if len(values) < live:
        raise SchemaRefused(
            f"Stream ended before producing values for all rows in dataset: {len(values)} of {live}"
        )
    if len(values) > live:
        raise SchemaRefused(f"Stream produced more values than expected for dataset: {live}")
    starts = {rows.fragment.id: start for rows, start in zip(fragments, ends, strict=False)}

    def rows_of(rows: FragmentRows) -> Batches:
        yield _spread(snapshot, rows, values.slice(starts[rows.fragment.id], rows.num_rows))

    return ColumnSource(values.schema, rows_of)


def joined_source(
    snapshot: Snapshot, right: pa.Table, left_on: str, right_on: str, what: str
) -> ColumnSource:
    """Return columns of the rows of a table with the same key, null where none has it.

    Raises SchemaRefused, which names `what` is joined, for a key that is not there, for keys of
    another type, no rows, and for a null that the file version cannot hold.
    """
    if not len(right):
        raise SchemaRefused("HashJoiner: No data")
    check_keys(snapshot, right.schema, left_on, right_on, what)
    is_system, given = left_on in SYSTEM_COLUMNS, right.schema.field(right_on).type
    held = pa.uint64() if is_system else snapshot.arrow_schema.field(left_on).type
    if held != given:
        raise SchemaRefused(
            f"Invalid user input: Index column type mismatch: expected {given}, got {held}"
        )
    values = whole_rows(right.drop_columns([right_on]).combine_chunks())
    places = {value: row for row, value in enumerate(key_values(right[right_on]))}
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), [left_on])

    def rows_of(rows: FragmentRows) -> Batches:
        chosen: list[int | None] = []
        for batch in snapshot.scan([rows], projection, BATCH_ROWS, 0, rows.num_rows):
            chosen += [places.get(value) for value in key_values(batch.column(0))]
        yield _spread(snapshot, rows, values.take(pa.array(chosen, pa.int64())))

    return ColumnSource(values.schema, rows_of)


def check_keys(
    snapshot: Snapshot, right: pa.Schema, left_on: str, right_on: str, what: str
) -> None:
    """Raise SchemaRefused for a key that either side does not have."""
    known = (*snapshot.manifest.schema.arrow.names, *SYSTEM_COLUMNS)
    for side, name, names in (("left", left_on, known), ("right", right_on, right.names)):
        if name not in names:
            raise SchemaRefused(
                f"Invalid user input: Column {name} does not exist in the {side} side {what}"
            )


def _spread(snapshot: Snapshot, rows: FragmentRows, values: pa.Table) -> pa.RecordBatch:
    """Return values of the live rows of a fragment for all. Raises SchemaRefused."""
    refuse_early_nulls(snapshot, values)
    arrays = [fill_deleted(rows, column.combine_chunks()) for column in values.columns]
    return pa.RecordBatch.from_arrays(arrays, names=values.column_names)


def fill_deleted(rows: FragmentRows, values: pa.Array) -> pa.Array:
    """Return values of the live rows, and the first of them, or null, for each deleted one."""
    if len(values) == rows.columns.stated_rows:
        return values  # none is deleted
    if not len(values):
        return pa.nulls(rows.columns.physical_rows, values.type)
    places = np.zeros(rows.columns.physical_rows, np.int64)
    places[rows.offsets(np.arange(len(values)))] = np.arange(len(values))
    return whole(values).take(pa.array(places))


NULLABLE_0_1 = ("string", "large_string", "binary", "list", "fixed_size_binary", "fixed_size_list")
"""Types of which files of 0.1 hold nulls as values of their own."""


def refuse_early_nulls(snapshot: Snapshot, values: pa.RecordBatch | pa.Table) -> None:
    """Raise SchemaRefused for a null of a type of which files of 0.1 can hold none."""
    if storage_version_of(snapshot.manifest.message) != V0_1:
        return
    for name, column in zip(values.schema.names, values.columns, strict=True):
        holds_nulls = any(getattr(pa.types, f"is_{one}")(column.type) for one in NULLABLE_0_1)
        if column.null_count and not holds_nulls:
            raise SchemaRefused(
                f"Column '{name}' has null values of type: {column.type}, but storing nulls for "
                "this data type is not supported by the dataset's current Lance file format "
                "version: V1. This can be caused by an explicit null in the new data."
            )


def next_field_id(snapshot: Snapshot) -> int:
    """Return the first field id that neither the schema nor a file uses or ever used."""
    manifest = snapshot.manifest
    if manifest.message.HasField("max_allocated_field_id"):
        return int(manifest.message.max_allocated_field_id) + 1
    ids = [field.id for field in manifest.schema.flat()]
    files = (file for fragment in manifest.message.fragments for file in fragment.files)
    return max([*ids, *(number for file in files for number in file.fields)], default=-1) + 1


def numbered_fields(drafts: Sequence[Field], first: int) -> tuple[Field, ...]:
    """Return fields under ids of their own from `first` on, depth first."""

    def unnumbered(field: Field) -> Field:
        return replace(field, id=-1, children=tuple(map(unnumbered, field.children)))

    ids = iter(range(first, 2**31 - 1))
    return tuple(numbered(unnumbered(draft), -1, ids) for draft in drafts)


def new_fields(snapshot: Snapshot, schema: pa.Schema) -> tuple[Field, ...]:
    """Return fields under new ids. Raises SchemaRefused for a name that is taken."""
    taken = {field.name: field.arrow.type for field in snapshot.manifest.schema.fields}
    for name, type_ in zip(schema.names, schema.types, strict=True):
        if name in taken and taken[name] != type_:
            raise SchemaRefused(f"Type conflicts between {name}({taken[name]}) and {name}({type_})")
        if name in taken:
            raise SchemaRefused(f"Invalid user input: Column {name} already exists in the dataset")
    return numbered_fields(schema_of(schema).fields, next_field_id(snapshot))


def write_columns(
    snapshot: Snapshot,
    schema: LanceSchema,
    rows_of: Callable[[FragmentRows], Batches],
    draft: Draft,
    fragments: Sequence[FragmentRows] | None = None,
) -> list[table_pb2.DataFragment]:
    """Write columns for fragments, by default all, and return them with the new files.

    `rows_of` gives as many rows of the columns of `schema` as the fragment has, deleted ones
    included.
    """
    made: list[table_pb2.DataFragment] = []
    for rows in snapshot.fragments if fragments is None else fragments:
        new = write_new_rows(
            snapshot, rows_of(rows), draft, max_rows=MAX_FRAGMENT_ROWS, schema=schema
        )
        made.append(copy_of(rows.fragment.message))
        for one in new.fragments:
            made[-1].files.extend(one.files)
    return made
