"""Edits: rows of a dataset deleted, updated, inserted and merged (face).

Has the names of pylance's `LanceDataset`. An edit that meets another one on the same rows is made
again from the newer version, a number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict

from lanceref import operations
from lanceref.table.logical import BlobHandling
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.manifest_builder import Staged

from pylanceref.sql.filter import condition
from pylanceref.table_handle import CONFLICT_RETRIES, RETRY_TIMEOUT, Retrying

if TYPE_CHECKING:
    from pylanceref.merge_insert import MergeInsertBuilder


class DeleteResult(TypedDict):
    """What a delete did."""

    num_deleted_rows: int


class UpdateResult(TypedDict):
    """What an update did."""

    num_rows_updated: int


class Edits(Retrying):
    """What can be done to the rows of a dataset."""

    def delete(
        self,
        predicate: object,
        *,
        conflict_retries: int = CONFLICT_RETRIES,
        retry_timeout: timedelta = RETRY_TIMEOUT,
    ) -> DeleteResult:
        """Delete the rows that pass a filter. Raises QueryRefused, CommitConflict."""

        def attempt() -> DeleteResult:
            chosen = operations.update.choose(self._snapshot, condition(self._snapshot, predicate))
            with Draft() as draft:
                removal = operations.update.remove(self._snapshot, chosen, draft)
                transaction = self._new_transaction()
                transaction.delete.predicate = str(predicate)
                transaction.delete.updated_fragments.extend(removal.updated)
                transaction.delete.deleted_fragment_ids.extend(removal.removed)
                self._commit(Staged(transaction, affected=removal.affected, draft=draft))
            return DeleteResult(num_deleted_rows=removal.num_rows)

        return self._again(attempt, conflict_retries, retry_timeout)

    def truncate_table(self) -> None:
        """Delete all rows."""
        transaction = self._new_transaction()
        transaction.delete.predicate = "true"
        numbers = [rows.fragment.id for rows in self._snapshot.fragments]
        transaction.delete.deleted_fragment_ids.extend(numbers)
        self._commit(Staged(transaction))

    def update(
        self,
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
        version = self._file_version(data_storage_version)
        self._assignments(updates)

        def attempt() -> UpdateResult:
            snapshot = self._snapshot
            wanted = None if where is None else condition(snapshot, where)
            chosen = operations.update.choose(snapshot, wanted)
            assignments = self._assignments(updates) if chosen else {}
            batches, ids = operations.update.read_changed(snapshot, chosen, assignments)
            with Draft() as draft:
                new = operations.new_rows.write_new_rows(snapshot, batches, draft, version)
                if snapshot.stable_row_ids:
                    segments = operations.update.moved_segments(snapshot, chosen, ids, wanted)
                    operations.new_rows.give_ids(new.fragments, segments)
                removal = operations.update.remove(snapshot, chosen, draft)
                transaction = self._new_transaction()
                operations.update.put_update(
                    transaction, removal, new.fragments, self._field_ids(updates)
                )
                staged = Staged(
                    transaction,
                    dictionaries=new.dictionaries,
                    affected=removal.affected,
                    draft=draft,
                )
                self._commit(staged)
            return UpdateResult(num_rows_updated=removal.num_rows)

        return self._again(attempt, conflict_retries, retry_timeout)

    def _assignments(
        self, updates: Mapping[str, str]
    ) -> Mapping[str, operations.update.Assignment]:
        """Return expressions with the columns that they become. Raises QueryRefused."""
        from pylanceref.sql.columns import bind_values  # DataFusion is slow to import

        schema = self._snapshot.schema(BlobHandling.BYTES).arrow
        return operations.update.assign(self._snapshot, bind_values(updates, schema))

    def insert(self, data: object, *, mode: str = "append", **kwargs: object) -> None:
        """Write rows behind those there are; `kwargs` as in `write_dataset`."""
        from pylanceref.write import write_table

        made = write_table(type(self), data, self, mode=mode, **kwargs)  # type: ignore[arg-type]
        self._move_to(made.version)

    def merge_insert(self, on: str | Iterable[str] | None = None) -> MergeInsertBuilder:
        """Begin a merge of other rows by key columns. Raises QueryRefused."""
        from pylanceref.merge_insert import MergeInsertBuilder

        return MergeInsertBuilder(self, on)
