"""New data of a table: rows and columns, and the files that they are written to.

New rows go to files of their own, or are in files that others wrote: the columns of an external
file are fields of the table by their names; a base decides where the file is.

New columns go to a file for each fragment, with a value for each of its rows, deleted ones
included. A source of columns has the Arrow schema of its columns and gives the values of a
fragment's live rows: computed from other columns, brought along in order, or joined by a key. A
deleted row gets those of a live one beside it: what it held may have no result.

Clauses: L.table.row-versions.moved, L.txn.op.merge, L.table.fragments.rows,
L.table.datafile.lookup
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.blob_writer import BlobPolicy
from lanceref.blobs.descriptors import BLOB_DESCRIPTOR
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, NotFound, SchemaRefused
from lanceref.core.file_versions import V0_1, FileVersion
from lanceref.data_file.data_file import open_file
from lanceref.file.arrow_schema import numbered, schema_of
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import whole_rows
from lanceref.index.training import is_any
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Projection, Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table import data_files
from lanceref.table.bases import Bases
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.lineage import encode_ids
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from lanceref.transactions.manifest_builder import copy_of, storage_version_of

Ids = NDArray[np.uint64]


def write_new_rows(
    snapshot: Snapshot,
    batches: Iterable[pa.RecordBatch],
    draft: Draft,
    version: FileVersion | None = None,
    max_rows: int = data_files.MAX_ROWS_PER_FILE,
    max_bytes: int = data_files.MAX_BYTES_PER_FILE,
    homes: Sequence[data_files.Home] = (),
    schema: LanceSchema | None = None,
) -> data_files.NewFiles:
    """Write rows of all columns, or those of `schema`; on any error no file is left.

    Files go into one of the `homes` after the other, without any into the root of the table. Raises
    DataRefused.
    """
    schema = snapshot.manifest.schema if schema is None else schema
    message, options = snapshot.manifest.message, snapshot.store.options
    blobs = BlobPolicy(bases=tuple(message.base_paths), options=options)
    new = data_files.write_files(
        list(homes) or [data_files.Home(snapshot.store)],
        schema,
        version or storage_version_of(message),
        map(_alone, batches),
        data_files.FileLimits(max_rows, max_bytes, blobs=blobs),
        snapshot.manifest.dictionaries,
    )
    draft.add(*new.paths)
    return new


def _alone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows that share no memory with others: pages are cut by memory."""
    if batch.get_total_buffer_size() <= batch.nbytes:
        return batch
    return whole_rows(batch).take(pa.array(np.arange(batch.num_rows)))


def give_ids(fragments: Iterable[table_pb2.DataFragment], parts: Iterable[Ids]) -> None:
    """Give the first rows of new fragments ids, in their order; the rest get theirs later.

    Each part is (ids,).
    """
    ids = np.concatenate([np.empty(0, np.uint64), *parts])
    for fragment in fragments:
        rows = int(fragment.physical_rows)
        fragment.inline_row_ids, ids = encode_ids(ids[:rows]), ids[rows:]


def external_file(
    snapshot: Snapshot, path: str, base_id: int | None = None, *, whole: bool = False
) -> tuple[table_pb2.DataFile, int]:
    """Return a data file below the data folder as a manifest would list it, and its rows.

    Its columns are matched with the table's fields.

    Raises NotFound, SchemaRefused for a column that is none of the table and for a missing one of
    a `whole` file, FormatError.
    """
    bases = Bases(snapshot.store, snapshot.manifest)
    try:
        source = bases.open_data_file(path, base_id)
    except FormatError as error:
        raise NotFound(f"Not found: {path}") from error
    opened = open_file(source, Context(PurePosixPath(path).name, limits=snapshot.ctx.limits))
    own, stored = snapshot.manifest.schema, opened.descriptor.schema
    declared = replace(stored, fields=_declared(stored.fields, own.fields))
    schema = data_files.appended_schema(own, declared, opened.version)
    ids = {field.id for field in schema.flat()}
    missing = [field.name for field in own.flat() if field.id not in ids]
    if whole and missing:
        found = f"fields did not match, missing=[{', '.join(missing)}]"
        raise SchemaRefused(f"Append with different schema: {found}")
    entry = data_files.file_entry(path, schema, opened.version, source.size)
    if base_id is not None:
        entry.base_id = base_id
    return entry, opened.num_rows


def _declared(stored: Sequence[Field], own: Sequence[Field]) -> tuple[Field, ...]:
    """Return stored fields, those of blob descriptors as the table declares them."""
    by_name, fields = {field.name: field for field in own}, []
    for field in stored:
        wanted = by_name.get(field.name)
        if wanted is not None and wanted.is_blob_v2:
            fields.append(wanted if field.arrow.type == BLOB_DESCRIPTOR else field)
        elif wanted is not None and field.children:
            children = _declared(field.children, wanted.children)
            fields.append(replace(field, children=children))
        else:
            fields.append(field)
    return tuple(fields)


BATCH_ROWS = 8192

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """New columns: their schema, and their values in the live rows of a fragment."""

    schema: pa.Schema
    rows_of: Callable[[FragmentRows], Batches]


def live_rows(
    snapshot: Snapshot, rows: FragmentRows, projection: Projection, batch_size: int = BATCH_ROWS
) -> Batches:
    """Yield the rows of a fragment that are not deleted."""
    return snapshot.scan([rows], projection, batch_size, 0, rows.num_rows)


def key_values(column: pa.Array | pa.ChunkedArray) -> list[object]:
    """Return the values (n,) of keys as hashable objects, None for null.

    Python has no timestamps of nanoseconds: times of that unit are their counts.
    """
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", None) == "ns":
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def computed_source(
    snapshot: Snapshot,
    schema: pa.Schema,
    columns: Collection[str],
    compute: Callable[[pa.RecordBatch], pa.RecordBatch],
) -> ColumnSource:
    """Return columns of a schema that are computed from some of the table, batch by batch."""
    own = snapshot.schema(BlobHandling.BYTES)
    projection = scan_projection(own, [name for name in own.arrow.names if name in columns])
    return ColumnSource(schema, lambda rows: map(compute, live_rows(snapshot, rows, projection)))


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
        found = f"values for all rows in dataset: {len(values)} of {live}"
        raise SchemaRefused(f"Stream ended before producing {found}")
    if len(values) > live:
        raise SchemaRefused(f"Stream produced more values than expected for dataset: {live}")
    starts = {rows.fragment.id: start for rows, start in zip(fragments, ends, strict=False)}

    def rows_of(rows: FragmentRows) -> Batches:
        own = values.slice(starts[rows.fragment.id], rows.num_rows)
        refuse_early_nulls(snapshot, own)
        yield from own.to_batches()

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
    is_system, type_ = left_on in SYSTEM_COLUMNS, right.schema.field(right_on).type
    own = pa.uint64() if is_system else snapshot.arrow_schema.field(left_on).type
    if own != type_:
        found = f"expected {type_}, got {own}"
        raise SchemaRefused(f"Invalid user input: Index column type mismatch: {found}")
    values = whole_rows(right.drop_columns([right_on]).combine_chunks())
    places = {value: row for row, value in enumerate(key_values(right[right_on]))}
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), [left_on])

    def rows_of(rows: FragmentRows) -> Batches:
        chosen: list[int | None] = []
        for batch in live_rows(snapshot, rows, projection):
            chosen += [places.get(value) for value in key_values(batch.column(0))]
        joined = values.take(pa.array(chosen, pa.int64()))
        refuse_early_nulls(snapshot, joined)
        yield from joined.to_batches()

    return ColumnSource(values.schema, rows_of)


def check_keys(
    snapshot: Snapshot, right: pa.Schema, left_on: str, right_on: str, what: str
) -> None:
    """Raise SchemaRefused for a key that either side does not have."""
    known = (*snapshot.manifest.schema.arrow.names, *SYSTEM_COLUMNS)
    for side, name, names in (("left", left_on, known), ("right", right_on, right.names)):
        if name not in names:
            found = f"Column {name} does not exist in the {side} side {what}"
            raise SchemaRefused(f"Invalid user input: {found}")


NULLABLE_0_1 = ("string", "large_string", "binary", "list", "fixed_size_binary", "fixed_size_list")
"""Types of which files of 0.1 hold nulls as values of their own."""


def refuse_early_nulls(snapshot: Snapshot, values: pa.RecordBatch | pa.Table) -> None:
    """Raise SchemaRefused for a null of a type of which files of 0.1 can hold none."""
    if storage_version_of(snapshot.manifest.message) != V0_1:
        return
    for name, column in zip(values.schema.names, values.columns, strict=True):
        if column.null_count and not is_any(column.type, *NULLABLE_0_1):
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

    `rows_of` gives the columns of `schema` in the live rows of a fragment.
    """
    written: list[table_pb2.DataFragment] = []
    for rows in snapshot.fragments if fragments is None else fragments:
        every = _spread(rows, rows_of(rows), schema.arrow) if len(rows.deleted) else rows_of(rows)
        new = write_new_rows(snapshot, every, draft, max_rows=ADDRESS_LIMIT, schema=schema)
        written.append(copy_of(rows.fragment.message))
        for one in new.fragments:
            written[-1].files.extend(one.files)
    return written


def _spread(rows: FragmentRows, live: Batches, schema: pa.Schema) -> Batches:
    """Yield the values of the live rows for all: a deleted row has those of the next, or the last.

    They are null where no row lives.
    """
    seen, done, num_rows = 0, 0, rows.columns.physical_rows
    for batch in live:
        ends = rows.offsets(np.arange(seen, seen + batch.num_rows)) + 1
        seen += batch.num_rows
        if seen == rows.num_rows:
            ends[-1:] = num_rows
        places = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=done))
        done += len(places)
        for start in range(0, len(places), BATCH_ROWS):
            yield whole_rows(batch).take(pa.array(places[start : start + BATCH_ROWS]))
    if not seen:
        nulls = [pa.nulls(num_rows, type_) for type_ in schema.types]
        yield pa.RecordBatch.from_arrays(nulls, names=schema.names)
