"""Merge insert: other rows merged into a dataset by key columns (face)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from typing import Self

import pyarrow as pa
from lanceref.blobs.blob_writer import declared_schema
from lanceref.core.errors import EditFailed, QueryRefused, SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_view import names_in, whole_rows
from lanceref.index.indices import indexed_path
from lanceref.operations import merge
from lanceref.operations.new_data import give_ids, write_new_rows
from lanceref.operations.update import put_update, remove
from lanceref.storage.protocol import Draft
from lanceref.table.data_files import Home, appended_schema
from lanceref.transactions.manifest_builder import Staged, storage_version_of

from pylanceref.operation import Transaction
from pylanceref.sql.filters import condition as table_condition
from pylanceref.sql.filters import mask_of
from pylanceref.table_handle import (
    CONFLICT_RETRIES,
    RETRY_TIMEOUT,
    OpenTable,
    file_version_of,
    retried,
)
from pylanceref.transactions import from_message
from pylanceref.types import reader_of
from pylanceref.write import homes_of, open_target

Counts = dict[str, int]
"""How many rows a merge inserted, updated and deleted."""


class MergeInsertBuilder:
    """Describes a merge step by step, and executes it."""

    def __init__(self, table: OpenTable, on: str | Iterable[str] | None) -> None:
        self._table = table
        self._keys = [on] if isinstance(on, str) else list(on or ()) or self._primary_key()
        if not self._keys:
            raise QueryRefused("A merge insert operation requires join keys or a primary key")
        for number, key in enumerate(self._keys):
            try:
                path, _ = indexed_path(table._snapshot.manifest.schema, key)
                (self._keys[number],) = names_in(path)  # a column, no field below one
            except ValueError as error:
                told = f"Merge insert key column '{key}' does not exist in schema"
                raise QueryRefused(told) from error
        self._actions = merge.Actions()
        self._retries = CONFLICT_RETRIES
        self._timeout = RETRY_TIMEOUT
        self._version = file_version_of(table, None)
        self._use_index = True
        self._bases: Sequence[str] = ()
        self._first_version = table.version

    def _primary_key(self) -> list[str]:
        """Return the columns of the primary key in its order; none where there is no such key."""
        every = self._table._snapshot.manifest.message.fields
        marked = [one for one in every if one.unenforced_primary_key]
        marked.sort(key=lambda one: one.unenforced_primary_key_position)
        return [one.name for one in marked]

    def when_matched_update_all(self, condition: str | None = None) -> Self:
        """Let matched rows become those of the source, where a condition holds."""
        self._actions.update = True
        self._actions.update_if = mask_of(condition) if condition else None
        return self

    def when_matched_delete(self) -> Self:
        """Delete the rows of the table that a row of the source matches."""
        self._actions.delete = True
        return self

    def when_matched_fail(self) -> Self:
        """Do nothing at all if a row is matched."""
        self._actions.fail = True
        return self

    def when_not_matched_insert_all(self) -> Self:
        """Insert the rows of the source that match none."""
        self._actions.insert = True
        return self

    def when_not_matched_by_source_delete(self, expr: str | None = None) -> Self:
        """Delete the rows that none of the source matches, where a condition holds."""
        self._actions.delete_unmatched = True
        self._actions.delete_if = partial(table_condition, given=expr) if expr else None
        return self

    def conflict_retries(self, max_retries: int) -> Self:
        """Say how often the merge is made again after a conflict."""
        self._retries = max_retries
        return self

    def retry_timeout(self, timeout: timedelta) -> Self:
        """Set for how long a merge is tried again after conflicts."""
        self._timeout = timeout
        return self

    def data_storage_version(self, version: str) -> Self:
        """Say in which file version new rows are written. Raises TypeError and ValueError."""
        self._version = file_version_of(self._table, version)
        return self

    def use_index(self, use_index: bool) -> Self:
        """Say whether an index may find the keys; without one no columns are written alone."""
        self._use_index = use_index
        return self

    def target_bases(self, bases: Sequence[str]) -> Self:
        """Say in which bases new files go in turn: by name or path, the root by its URI."""
        self._bases = bases
        return self

    def explain_plan(self, schema: pa.Schema | None = None, verbose: bool = False) -> str:
        """Return the steps of a merge, the last one first. Raises EditFailed, SchemaRefused."""
        snapshot, actions = self._table._snapshot, self._actions
        source = snapshot.arrow_schema if schema is None else schema
        self._check(source, inserts=actions.insert)
        if self._use_index and merge.has_key_index(snapshot, self._keys):
            raise EditFailed("a merge by an index of its keys does not support explain_plan")
        named = ((one.name, getattr(actions, one.name)) for one in fields(actions))
        done, keys = ", ".join(name for name, is_set in named if is_set), ", ".join(self._keys)
        return (
            f"MergeInsert: on=[{keys}], actions=[{done}]\n"
            f"  HashJoinExec: on=[{keys}]\n"
            f"    LanceRead: projection=[{keys}], num_fragments={len(snapshot.fragments)}\n"
        )

    def analyze_plan(self, data_obj: object, *, schema: pa.Schema | None = None) -> str:
        """Make a merge, do not commit it, and return the plan with what it did. Raises likewise."""
        source, start = self._source(data_obj, schema), time.perf_counter()
        plan = self.explain_plan(source.schema)
        draft, counter = Draft(), self._table._snapshot.store.stats
        before = counter.written_bytes
        try:
            result = self._stage(source, draft)[1]
            files = sum(path.endswith(".lance") for path in draft.paths)
        finally:
            draft.discard()  # nothing is committed
        told = {"bytes_written": counter.written_bytes - before, "num_files_written": files}
        counts = ", ".join(f"{name}={count}" for name, count in {**told, **result}.items())
        first, rest = plan.split("\n", 1)
        return f"{first}, elapsed={time.perf_counter() - start:.6f}s, metrics=[{counts}]\n{rest}"

    def _homes(self) -> Sequence[Home]:
        """Return where new files go. Raises DataRefused for a base that there is not."""
        if not self._bases:
            return ()
        bases = list(self._table._snapshot.manifest.message.base_paths)
        return homes_of(open_target(self._table), bases, self._bases)

    def execute(self, data_obj: object, *, schema: pa.Schema | None = None) -> Counts:
        """Merge rows. Raises SchemaRefused for another schema, EditFailed, CommitConflict."""
        source = self._source(data_obj, schema)

        def attempt() -> Counts:
            with Draft() as draft:
                staged, result = self._stage(source, draft)
                self._table._commit(staged)
            return result

        return retried(self._table, attempt, self._retries, self._timeout)

    def execute_uncommitted(
        self, data_obj: object, *, schema: pa.Schema | None = None
    ) -> tuple[Transaction, Counts]:
        """Write what a merge needs, and return the transaction that is to be committed."""
        with Draft() as draft:
            staged, result = self._stage(self._source(data_obj, schema), draft)
        return from_message(staged.transaction), result

    def _source(self, data: object, schema: pa.Schema | None) -> pa.Table:
        if not self._actions:
            raise QueryRefused("The merge insert job is not configured to change the data")
        return whole_rows(reader_of(data, schema).read_all())

    def _only_keys(self, source: pa.Table) -> pa.Table:
        """Return the keys of rows in the types of the table; all as they are if that cannot be."""
        schema = self._table._snapshot.manifest.schema.arrow
        if not set(self._keys) <= {*source.column_names} & {*schema.names}:
            return source
        keys = pa.schema([pa.field(name, schema.field(name).type) for name in self._keys])
        try:
            return source.select(self._keys).cast(keys)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return source

    def _check(self, source: pa.Schema, *, inserts: bool) -> None:
        """Refuse rows that do not fit the table as it is now. Raises SchemaRefused, EditFailed."""
        for key in self._keys:
            if key not in source.names:
                raise SchemaRefused(f"Invalid user input: Schema error: No field named {key}.")
        manifest = self._table._snapshot.manifest
        own = storage_version_of(manifest.message)
        version = V2_0 if own == V0_1 else own  # rows of a merge are written whole
        optional = tuple(replace(field, nullable=True) for field in manifest.schema.fields)
        appended_schema(LanceSchema(optional), schema_of(declared_schema(source, own)), version)
        required = [f for f in manifest.schema.fields if inserts and not f.arrow.nullable]
        lacking = [field.name for field in required if field.name not in source.names]
        if lacking:
            raise EditFailed(f"target column(s) {json.dumps(lacking)} are non-nullable")

    def _stage(self, source: pa.Table, draft: Draft) -> tuple[Staged, Counts]:
        """Write what the merge needs, and return what is to be committed."""
        actions = self._actions
        snapshot = self._table._snapshot
        if not source.num_rows:  # whatever columns it has
            own, given = snapshot.manifest.schema.arrow, {*source.column_names, *self._keys}
            source = pa.schema([one for one in own if one.name in given]).empty_table()
        if actions.only_deletes:
            source = self._only_keys(source)
        is_retry = snapshot.manifest.version != self._first_version
        inserts = actions.insert and (source.num_rows > 0 or is_retry)
        self._check(source.schema, inserts=inserts)
        as_columns = self._use_index and merge.is_patched(
            snapshot, source.schema, self._keys, actions
        )
        plan = merge.plan_merge(snapshot, source, self._keys, actions)
        result = Counts(
            num_inserted_rows=len(plan.inserted),
            num_updated_rows=len(plan.updated),
            num_deleted_rows=0 if as_columns else plan.num_deleted,
        )
        if as_columns:
            return self._stage_columns(source, plan, draft), result
        batches, ids = merge.merged_rows(snapshot, source, plan)
        new = write_new_rows(snapshot, batches, draft, self._version, homes=self._homes())
        if snapshot.stable_row_ids:
            give_ids(new.fragments, [ids])
        removal = remove(snapshot, snapshot.fragments.split(plan.removed), draft)
        transaction = self._table._new_transaction()
        schema = snapshot.manifest.schema
        changed = schema.fields if actions.only_deletes_matches else schema.flat()
        put_update(transaction, removal, new.fragments, [field.id for field in changed])
        if self._keys == self._primary_key() and not actions.only_deletes_matches:
            by_name = {field.name: field.id for field in schema.fields}
            inserted = source.select(self._keys).take(pa.array(plan.inserted))
            listed = merge.list_keys(inserted, [by_name[key] for key in self._keys])
            transaction.update.inserted_rows.CopyFrom(listed)
        dictionaries, affected = new.dictionaries, removal.affected
        staged = Staged(transaction, dictionaries=dictionaries, affected=affected, draft=draft)
        return staged, result

    def _stage_columns(self, source: pa.Table, plan: merge.MergePlan, draft: Draft) -> Staged:
        """Write columns of the rows that are updated, and the rows that are inserted."""
        snapshot, given = self._table._snapshot, self._table._snapshot.manifest.schema
        transaction = self._table._new_transaction()
        merge.write_merged_columns(snapshot, source, self._keys, plan, transaction.update, draft)
        if not len(plan.inserted):
            return Staged(transaction, draft=draft)
        held = tuple(one for one in given.fields if one.name in source.schema.names)
        rows = source.select([one.name for one in held]).take(pa.array(plan.inserted))
        some, homes = LanceSchema(held, given.metadata), self._homes()
        new = write_new_rows(
            snapshot, rows.to_batches(), draft, self._version, homes=homes, schema=some
        )
        transaction.update.new_fragments.extend(new.fragments)
        return Staged(transaction, dictionaries=new.dictionaries, draft=draft)
