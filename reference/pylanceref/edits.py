"""Edits: rows of a dataset deleted, updated and inserted; columns added, dropped and cast (face).

Has the names of pylance's `LanceDataset`. An edit that conflicts with another one on the same rows
is made again from the newer version, a number of times. New columns go to files of their own beside
those of each fragment; dropping and renaming changes the schema only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa
from lanceref import operations
from lanceref.core.errors import EvolutionRefused, SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.schema import Field, LanceSchema, field_message, schema_of
from lanceref.proto import table_pb2
from lanceref.search.projection import scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.row_lineage import drop_idle_overlays

from pylanceref.merge_insert import MergeInsertBuilder
from pylanceref.sql.columns import bind_values, computed_columns, condition, only_nulls
from pylanceref.table_handle import (
    CONFLICT_RETRIES,
    RETRY_TIMEOUT,
    OpenTable,
    field_ids,
    file_version_of,
    retried,
)
from pylanceref.types import reader_of
from pylanceref.udf import BatchUDF, mapped_by, values_of
from pylanceref.write import write_table

if TYPE_CHECKING:
    from lanceref.operations.columns import Batches, ColumnSource


class DeleteResult(TypedDict):
    """How many rows a delete has removed."""

    num_deleted_rows: int


class UpdateResult(TypedDict):
    """How many rows an update has changed."""

    num_rows_updated: int


def delete(
    table: OpenTable,
    predicate: object,
    *,
    conflict_retries: int = CONFLICT_RETRIES,
    retry_timeout: timedelta = RETRY_TIMEOUT,
) -> DeleteResult:
    """Delete the rows that pass a filter. Raises QueryRefused, CommitConflict."""

    def attempt() -> DeleteResult:
        chosen = operations.update.select_rows(
            table._snapshot, condition(table._snapshot, predicate)
        )
        with Draft() as draft:
            removal = operations.update.remove(table._snapshot, chosen, draft)
            transaction = table._new_transaction()
            transaction.delete.predicate = str(predicate)
            transaction.delete.updated_fragments.extend(removal.updated)
            transaction.delete.deleted_fragment_ids.extend(removal.removed)
            table._commit(Staged(transaction, affected=removal.affected, draft=draft))
        return DeleteResult(num_deleted_rows=removal.num_rows)

    return retried(table, attempt, conflict_retries, retry_timeout)


def truncate_table(table: OpenTable) -> None:
    """Commit a version of the table without any rows."""
    transaction = table._new_transaction()
    transaction.delete.predicate = "true"
    numbers = [rows.fragment.id for rows in table._snapshot.fragments]
    transaction.delete.deleted_fragment_ids.extend(numbers)
    table._commit(Staged(transaction))


def update(
    table: OpenTable,
    updates: Mapping[str, str],
    where: object = None,
    conflict_retries: int = CONFLICT_RETRIES,
    retry_timeout: timedelta = RETRY_TIMEOUT,
    data_storage_version: str | None = None,
) -> UpdateResult:
    """Set columns of the rows that pass a filter to expressions.

    Raises QueryRefused for an expression that does not fit, EditFailed for a value that its
    column cannot hold, CommitConflict.
    """
    version = file_version_of(table, data_storage_version)
    _assignments(table, updates)

    def attempt() -> UpdateResult:
        snapshot = table._snapshot
        wanted = None if where is None else condition(snapshot, where)
        chosen = operations.update.select_rows(snapshot, wanted)
        assignments = _assignments(table, updates) if chosen else {}
        batches, ids = operations.update.read_updated(snapshot, chosen, assignments)
        with Draft() as draft:
            new = operations.new_rows.write_new_rows(snapshot, batches, draft, version)
            if snapshot.stable_row_ids:
                segments = operations.update.moved_segments(snapshot, chosen, ids, wanted)
                operations.new_rows.give_ids(new.fragments, segments)
            removal = operations.update.remove(snapshot, chosen, draft)
            transaction = table._new_transaction()
            operations.update.put_update(
                transaction, removal, new.fragments, field_ids(table, updates)
            )
            staged = Staged(
                transaction,
                dictionaries=new.dictionaries,
                affected=removal.affected,
                draft=draft,
            )
            table._commit(staged)
        return UpdateResult(num_rows_updated=removal.num_rows)

    return retried(table, attempt, conflict_retries, retry_timeout)


def _assignments(
    table: OpenTable, updates: Mapping[str, str]
) -> Mapping[str, operations.update.Assignment]:
    """Return expressions with the columns that they become. Raises QueryRefused."""
    schema = table._snapshot.schema(BlobHandling.BYTES).arrow
    return operations.update.assign(table._snapshot, bind_values(updates, schema))


def insert(table: OpenTable, data: object, *, mode: str = "append", **kwargs: object) -> None:
    """Write rows after those there are; `kwargs` as in `write_dataset`."""
    made = write_table(type(table), data, table, mode=mode, **kwargs)  # type: ignore[arg-type]
    table._move_to(made.version)


def merge_insert(table: OpenTable, on: str | Iterable[str] | None = None) -> MergeInsertBuilder:
    """Begin a merge of other rows by key columns. Raises QueryRefused."""
    return MergeInsertBuilder(table, on)


class AlterColumn(TypedDict, total=False):
    """What is to become of the column at a path."""

    path: str
    name: str | None
    nullable: bool | None
    data_type: pa.DataType | None


def add_columns(
    table: OpenTable,
    transforms: object,
    read_columns: Sequence[str] | None = None,
    reader_schema: pa.Schema | None = None,
    batch_size: int | None = None,
) -> None:
    """Add columns: computed in SQL, all null, by a function of batches, or from a reader.

    Raises EvolutionRefused for a name that is taken and for an all-null column that may not be
    null, QueryRefused for an expression that does not fit, CallerFailed for a function or a
    reader that fails, TypeError for a plain function that fails at once.
    """
    if isinstance(transforms, pa.Field):
        transforms = [transforms]
    if isinstance(transforms, pa.Schema | list):
        _add_nulls(table, list(transforms))
    elif isinstance(transforms, Mapping):
        source = computed_columns(table._snapshot, transforms)
        schema = table._snapshot.schema(BlobHandling.BYTES).arrow
        is_early = storage_version_of(table._snapshot.manifest.message) == V0_1
        if only_nulls(transforms.values(), schema) and not is_early:
            _add_nulls(table, list(source.schema))
        else:
            _add(table, source)
    elif callable(transforms):
        _add(table, mapped_by(table._snapshot, transforms, read_columns, batch_size))
        if isinstance(transforms, BatchUDF) and transforms.cache is not None:
            transforms.cache.cleanup()
    else:
        values = values_of(transforms, reader_schema)
        _add(
            table,
            operations.columns.ordered_source(table._snapshot, values, table._snapshot.fragments),
        )


def drop_columns(table: OpenTable, columns: Sequence[str]) -> None:
    """Drop columns, nested ones by path. Raises EvolutionRefused."""
    _project(
        table, operations.schema_evolution.drop_fields(table._snapshot.manifest.schema, columns)
    )


def alter_columns(table: OpenTable, *alterations: AlterColumn) -> None:
    """Rename columns, let them be null or not, cast them. Raises EvolutionRefused."""
    evolve, known = operations.schema_evolution, table._snapshot.manifest.schema
    schema, casts, tightened = known, dict[int, pa.DataType](), list[str]()
    for one in alterations:
        for key in one.keys() - AlterColumn.__annotations__.keys():
            raise ValueError(f"Unknown key: {key}")
        path = one.get("path")
        if path is None:
            raise ValueError("path is required")
        if not any(one.get(key) is not None for key in ("name", "nullable", "data_type")):
            raise ValueError("At least one of name, nullable, or data_type must be specified")
        field = evolve.find_field(known, path)
        if field is None:
            raise EvolutionRefused(f'Column "{path}" does not exist in the dataset')
        if (name := one.get("name")) is not None:
            schema = evolve.edit_field(schema, field.id, evolve.renaming(name))
        if (nullable := one.get("nullable")) is not None:
            schema = evolve.edit_field(schema, field.id, evolve.with_nullable(nullable))
            if field.nullable and not nullable:
                tightened.append(path)
        if (wanted := one.get("data_type")) is not None:
            evolve.check_cast(path, field.arrow.type, wanted)
            casts[field.id] = wanted
    try:
        schema_of(pa.schema([field.arrow for field in schema.fields]))
    except SchemaRefused as error:  # two columns have one name
        raise EvolutionRefused(str(error)) from error
    for path in tightened:
        nulls = condition(table._snapshot, f"{path} IS NULL")
        if any(len(nulls.positions(rows)) for rows in table._snapshot.fragments):
            raise EvolutionRefused(f"Column {path} contains NULL values")
    if casts and tightened:
        raise EvolutionRefused("cannot make non-nullable and cast in the same call")
    if not casts:
        _project(table, schema)
        return
    indexed = [one for one in table._snapshot.manifest.indices if casts.keys() & set(one.fields)]
    if indexed:  # they would find other values
        names = sorted({one.name for one in indexed})
        raise EvolutionRefused(f"Cannot cast column(s): drop their index(es) {names} before")
    _cast(table, schema, casts)


def merge(
    table: OpenTable,
    data_obj: object,
    left_on: str,
    right_on: str | None = None,
    schema: pa.Schema | None = None,
) -> None:
    """Add the columns of other rows, matched by a key; null where none is. Raises as above."""
    right = reader_of(data_obj, schema).read_all()
    key = left_on if right_on is None else right_on
    _add(table, operations.columns.joined_source(table._snapshot, right, left_on, key, "dataset"))


def _add_nulls(table: OpenTable, fields: Sequence[pa.Field]) -> None:
    if storage_version_of(table._snapshot.manifest.message) == V0_1:
        raise EvolutionRefused("Cannot add all-null columns to legacy dataset version.")
    for field in fields:
        if not field.nullable:
            raise EvolutionRefused(f"All-null columns must be nullable: '{field.name}'")
    made = operations.columns.new_fields(table._snapshot, pa.schema(fields))
    fragments = [rows.fragment.message for rows in table._snapshot.fragments]
    _merge(table, _grown(table, made), fragments, Draft())


def _may_be_null(table: OpenTable, schema: LanceSchema) -> bool:
    """Whether a field that may not be null was already there, and might not before either."""
    strict = {field.id for field in table._snapshot.manifest.schema.flat() if not field.nullable}
    return strict.issuperset(field.id for field in schema.flat() if not field.nullable)


def _cast(table: OpenTable, schema: LanceSchema, casts: Mapping[int, pa.DataType]) -> None:
    """Write columns in other types, under new ids; the old ones leave the schema."""
    evolve, columns = operations.schema_evolution, operations.columns
    old, number = (
        table._snapshot.schema(BlobHandling.BYTES),
        columns.next_field_id(table._snapshot),
    )
    version, made_ids = storage_version_of(table._snapshot.manifest.message), set[int]()
    for field_id, type_ in casts.items():
        held = next(field for field in schema.flat() if field.id == field_id)
        if held.parent_id != -1 and version in (V0_1, V2_0):
            raise EvolutionRefused(f"nested column {held.name!r} cannot be cast in {version}")
        made = evolve.cast_field(schema, held, type_, number)
        number += len(list(made.flat()))
        made_ids.add(made.id)
        schema = evolve.edit_field(schema, field_id, evolve.replacing(made))
    new = evolve.keep_fields(schema, made_ids)
    tops = [one for one in old.fields if not casts.keys().isdisjoint(evolve.ids_of(one))]
    projection = scan_projection(old, [one.name for one in tops])

    def rows_of(rows: FragmentRows) -> Batches:
        for batch in columns.all_rows(rows, projection):
            each = zip(batch.columns, tops, new.fields, strict=True)
            arrays = [evolve.cast_within(column, top, one, casts) for column, top, one in each]
            yield pa.RecordBatch.from_arrays(arrays, names=[one.name for one in new.fields])

    with Draft() as draft:
        written = columns.write_columns(table._snapshot, new, rows_of, draft)
        _merge(table, schema, written, draft)


def _add(table: OpenTable, source: ColumnSource) -> None:
    fields = operations.columns.new_fields(table._snapshot, source.schema)
    written = [rows.fragment.message for rows in table._snapshot.fragments]
    with Draft() as draft:
        if fields:
            new = LanceSchema(fields)
            written = operations.columns.write_columns(table._snapshot, new, source.rows_of, draft)
        _merge(table, _grown(table, fields), written, draft)


def _grown(table: OpenTable, fields: tuple[Field, ...]) -> LanceSchema:
    schema = table._snapshot.manifest.schema
    return replace(schema, fields=(*schema.fields, *fields))


def _merge(
    table: OpenTable, schema: LanceSchema, fragments: Sequence[table_pb2.DataFragment], draft: Draft
) -> None:
    live = {field.id for field in schema.flat()}
    transaction = table._new_transaction()
    transaction.merge.schema.extend(field_message(field) for field in schema.flat())
    transaction.merge.preserves_nullability = _may_be_null(table, schema)
    for fragment in fragments:
        kept = table_pb2.DataFragment()
        kept.CopyFrom(fragment)
        files = [file for file in fragment.files if not live.isdisjoint(file.fields)]
        del kept.files[:]
        kept.files.extend(files)
        drop_idle_overlays(kept, live)
        transaction.merge.fragments.append(kept)
    table._commit(Staged(transaction, schema, draft=draft))


def _project(table: OpenTable, schema: LanceSchema) -> None:
    transaction = table._new_transaction()
    transaction.project.preserves_nullability = _may_be_null(table, schema)
    transaction.project.schema.extend(field_message(field) for field in schema.flat())
    table._commit(Staged(transaction, schema))
