"""Edits: rows of a dataset deleted, updated and inserted; columns added, dropped and cast (face).

New columns go to files of their own beside those of each fragment; dropping and renaming changes
the schema only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

import pyarrow as pa
from lanceref import operations
from lanceref.core.file_versions import V0_1
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling
from lanceref.transactions.manifest_builder import Staged, storage_version_of

from pylanceref.merge_insert import MergeInsertBuilder
from pylanceref.sql.columns import bind_values, only_nulls
from pylanceref.sql.filters import condition
from pylanceref.table_handle import (
    CONFLICT_RETRIES,
    RETRY_TIMEOUT,
    OpenTable,
    file_version_of,
    retried,
)
from pylanceref.types import reader_of
from pylanceref.udf import BatchUDF, new_columns
from pylanceref.write import write_table


def delete(
    table: OpenTable,
    predicate: object,
    *,
    conflict_retries: int = CONFLICT_RETRIES,
    retry_timeout: timedelta = RETRY_TIMEOUT,
) -> dict[str, int]:
    """Delete the rows that pass a filter, and say how many. Raises QueryRefused, CommitConflict."""

    def attempt() -> dict[str, int]:
        wanted = condition(table._snapshot, predicate)
        chosen = operations.update.select_rows(table._snapshot, wanted)
        with Draft() as draft:
            removal = operations.update.remove(table._snapshot, chosen, draft)
            transaction = table._new_transaction()
            transaction.delete.predicate = str(predicate)
            transaction.delete.updated_fragments.extend(removal.updated)
            transaction.delete.deleted_fragment_ids.extend(removal.removed)
            table._commit(Staged(transaction, affected=removal.affected, draft=draft))
        return {"num_deleted_rows": removal.num_rows}

    return retried(table, attempt, conflict_retries, retry_timeout)


def truncate_table(table: OpenTable) -> None:
    """Commit a version of the table without any rows. Raises CommitConflict."""
    delete(table, "true")


def update(
    table: OpenTable,
    updates: Mapping[str, str],
    where: object = None,
    conflict_retries: int = CONFLICT_RETRIES,
    retry_timeout: timedelta = RETRY_TIMEOUT,
    data_storage_version: str | None = None,
) -> dict[str, int]:
    """Set columns of rows to expressions. Raises QueryRefused, EditFailed, CommitConflict."""
    version = file_version_of(table, data_storage_version)
    bind_values(updates, table._snapshot.schema(BlobHandling.KEPT).arrow)

    def attempt() -> dict[str, int]:
        snapshot = table._snapshot
        wanted = None if where is None else condition(snapshot, where)
        chosen = operations.update.select_rows(snapshot, wanted)
        values = bind_values(updates, snapshot.schema(BlobHandling.KEPT).arrow) if chosen else {}
        batches, row_ids = operations.update.read_updated(snapshot, chosen, values)
        with Draft() as draft:
            new = operations.new_data.write_new_rows(snapshot, batches, draft, version)
            if snapshot.stable_row_ids:
                operations.new_data.give_ids(new.fragments, row_ids)
            removal = operations.update.remove(snapshot, chosen, draft)
            transaction = table._new_transaction()
            tops = snapshot.manifest.schema.fields
            ids = [one.id for top in tops if top.name in updates for one in top.flat()]
            operations.update.put_update(transaction, removal, new.fragments, ids)
            staged = Staged(
                transaction, dictionaries=new.dictionaries, affected=removal.affected, draft=draft
            )
            table._commit(staged)
        return {"num_rows_updated": removal.num_rows}

    return retried(table, attempt, conflict_retries, retry_timeout)


def insert(table: OpenTable, data: object, *, mode: str = "append", **kwargs: object) -> None:
    """Write rows after those there are; `kwargs` as in `write_dataset`."""
    made = write_table(type(table), data, table, mode=mode, **kwargs)  # type: ignore[arg-type]
    table._move_to(made.version)


def merge_insert(table: OpenTable, on: str | Iterable[str] | None = None) -> MergeInsertBuilder:
    """Begin a merge of other rows by key columns. Raises QueryRefused."""
    return MergeInsertBuilder(table, on)


def add_columns(
    table: OpenTable,
    transforms: object,
    read_columns: Sequence[str] | None = None,
    reader_schema: pa.Schema | None = None,
    batch_size: int | None = None,
) -> None:
    """Add columns: computed in SQL, all null, by a function of batches, or from a reader.

    Raises SchemaRefused for a name that is taken and for an all-null column that may not be
    null, QueryRefused for an expression that does not fit, CallerFailed for a function or a
    reader that fails, TypeError for a plain function that fails at once.
    """
    snapshot = table._snapshot
    if isinstance(transforms, pa.Field):
        transforms = [transforms]
    if isinstance(transforms, pa.Schema | list):
        table._commit(operations.alter_table.add_null_columns(snapshot, transforms))
    else:
        rows = snapshot.fragments
        source = new_columns(snapshot, transforms, read_columns, batch_size, reader_schema, rows)
        early = storage_version_of(snapshot.manifest.message) == V0_1
        known = snapshot.schema(BlobHandling.BYTES).arrow
        if isinstance(transforms, Mapping) and not early and only_nulls(transforms.values(), known):
            # no file needs to have columns that are null everywhere
            table._commit(operations.alter_table.add_null_columns(snapshot, source.schema))
        else:
            _add(table, source)
        if isinstance(transforms, BatchUDF) and transforms.cache is not None:
            transforms.cache.cleanup()


def drop_columns(table: OpenTable, columns: Sequence[str]) -> None:
    """Drop columns, nested ones by path. Raises SchemaRefused."""
    table._commit(operations.alter_table.drop_columns(table._snapshot, columns))


def alter_columns(table: OpenTable, *alterations: operations.alter_table.AlterColumn) -> None:
    """Rename columns, let them be null or not, cast them. Raises SchemaRefused, ValueError."""
    snapshot = table._snapshot

    def has_nulls(path: str) -> bool:
        nulls = condition(snapshot, f"{path} IS NULL")
        return any(len(nulls.positions(rows)) for rows in nulls.possible(snapshot.fragments))

    with Draft() as draft:
        table._commit(operations.alter_table.alter_columns(snapshot, alterations, has_nulls, draft))


def merge(
    table: OpenTable,
    data_obj: object,
    left_on: str,
    right_on: str | None = None,
    schema: pa.Schema | None = None,
) -> None:
    """Add the columns of other rows, matched by a key; null where none is. Raises as above."""
    right, key = reader_of(data_obj, schema).read_all(), left_on if right_on is None else right_on
    _add(table, operations.new_data.joined_source(table._snapshot, right, left_on, key, "dataset"))


def _add(table: OpenTable, source: operations.new_data.ColumnSource) -> None:
    with Draft() as draft:
        table._commit(operations.alter_table.add_columns(table._snapshot, source, draft))
