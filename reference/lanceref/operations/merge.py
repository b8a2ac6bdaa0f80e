"""Merge: what becomes of the pairs and of the rest, and the rows that are written for it.

Divergences: D.table.merged-vector-null-0-1

Matching: which rows of a source are rows of a table, by the values of key columns.

A key with a null matches nothing.

Merged columns: matched rows get values of the source without being moved.

Each fragment with a matched row gets a file of the columns that the source has, for all its rows.
Only an update of matched rows can be written so, from a source that leaves columns out.

Clauses: L.txn.op.update, L.table.datafile.tombstone
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import EditFailed
from lanceref.core.integers import difference, intersection, union
from lanceref.index.predicate import shown
from lanceref.operations.column_update import replace_values, write_values
from lanceref.operations.columns import all_rows
from lanceref.operations.update import Chosen
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.projection import scan_projection
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.uncommitted_files import Draft

TARGET, SOURCE = "__target", "__source"


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of live row positions of the table and rows of the source, by rising position.

    `unmatched_source` and `unmatched_target` are the others, ascending.
    """

    target: NDArray[np.int64]
    source: NDArray[np.int64]
    unmatched_source: NDArray[np.int64]
    unmatched_target: NDArray[np.int64]


def match(snapshot: Snapshot, source: pa.Table, keys: Sequence[str]) -> Matching:
    """Find the pairs."""
    own = _target_keys(snapshot, keys)
    theirs = source.select(list(keys)).append_column(SOURCE, pa.array(np.arange(len(source))))
    own = own.append_column(TARGET, pa.array(np.arange(len(own))))
    pairs = own.join(_comparable(theirs, keys), list(keys), join_type="inner").sort_by(TARGET)
    target, matched = (pairs[name].to_numpy() for name in (TARGET, SOURCE))
    return Matching(
        target,
        matched,
        difference(np.arange(len(source)), matched),
        difference(np.arange(len(own)), target),
    )


def _target_keys(snapshot: Snapshot, keys: Sequence[str]) -> pa.Table:
    projection = scan_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), list(keys))
    end = sum(rows.num_rows for rows in snapshot.fragments)
    batches = snapshot.scan(snapshot.fragments, projection, 1 << 16, 0, end)
    return _comparable(pa.Table.from_batches(batches, schema=projection.schema), keys)


def _comparable(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the table with its keys in types that are joined."""
    for name in keys:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


Numbers = NDArray[np.int64]


@dataclass(slots=True)
class Actions:
    """What is asked for.

    `update_if` is a condition on pairs, structs `source` and `target`; `delete_if` gives one on the
    rows of the table. None is always.
    """

    update: bool = False
    update_if: Callable[[pa.RecordBatch], NDArray[np.bool_]] | None = None
    delete: bool = False
    fail: bool = False
    insert: bool = False
    delete_unmatched: bool = False
    delete_if: Callable[[Snapshot], Condition] | None = None

    @property
    def only_deletes_matches(self) -> bool:
        """Whether matched rows go and nothing else happens."""
        return self.delete and not (self.update or self.insert or self.delete_unmatched)

    @property
    def only_deletes(self) -> bool:
        """Whether rows go, matched or not, and of the source only the keys count."""
        return (self.delete or self.delete_unmatched) and not (
            self.update or self.insert or self.fail
        )

    def __bool__(self) -> bool:
        return self.update or self.delete or self.fail or self.insert or self.delete_unmatched


@dataclass(slots=True)
class MergePlan:
    """Live row positions to take out; the pairs to write anew; source rows to insert."""

    removed: Numbers
    updated: Numbers
    update_sources: Numbers
    inserted: Numbers
    num_deleted: int


def plan_merge(
    snapshot: Snapshot, source: pa.Table, keys: list[str], actions: Actions, found: Matching
) -> MergePlan:
    """Decide what becomes of every row. Raises EditFailed where a match must not be."""
    target, sources = found.target, found.source
    if actions.fail and len(target):
        values = _shown(source, keys, int(sources[0]))
        raise EditFailed(f"Merge insert failed: found matching row with key values: {values}")
    none = np.empty(0, np.int64)
    updated, update_sources = (target, sources) if actions.update else (none, none)
    if actions.update and actions.update_if is not None:
        passed = _passed(snapshot, source, found, actions.update_if)
        updated, update_sources = updated[passed], update_sources[passed]
    deleted = target if actions.delete else none
    _check_single(source, keys, updated, update_sources)
    _check_single(source, keys, deleted, sources)
    if actions.delete_unmatched:
        unmatched = found.unmatched_target
        if actions.delete_if is not None:
            unmatched = intersection(unmatched, _passing(snapshot, actions.delete_if(snapshot)))
        deleted = union(deleted, unmatched)
    return MergePlan(
        removed=union(updated, deleted),
        updated=updated,
        update_sources=update_sources,
        inserted=found.unmatched_source if actions.insert else none,
        num_deleted=len(deleted),
    )


def _shown(source: pa.Table, keys: list[str], row: int) -> str:
    """Return the keys of a row as an error shows them."""
    return ", ".join(f"{name} = {shown(source[name][row])}" for name in keys)


def _check_single(source: pa.Table, keys: list[str], changed: Numbers, sources: Numbers) -> None:
    """Raise EditFailed when two source rows change one row of the table; `changed` is sorted."""
    twice = np.flatnonzero(changed[1:] == changed[:-1])
    if len(twice):
        values = _shown(source, keys, int(sources[twice[0]]))
        raise EditFailed(
            "Invalid user input: Ambiguous merge inserts are prohibited: multiple source rows "
            f"match the same target row on ({values}). Please ensure each target row is matched by "
            "at most one source row."
        )


def _passed(
    snapshot: Snapshot,
    source: pa.Table,
    found: Matching,
    holds: Callable[[pa.RecordBatch], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Return for each pair whether a condition on `source` and `target` columns holds."""
    own = _rows_at(snapshot, found.target)
    theirs = source.take(pa.array(found.source))
    pairs = pa.table({"source": _struct(theirs), "target": _struct(own)}).combine_chunks()
    batches = pairs.to_batches() or [pa.RecordBatch.from_pylist([], schema=pairs.schema)]
    return np.concatenate([holds(batch) for batch in batches])


def _struct(table: pa.Table) -> pa.Array:
    arrays = [column.combine_chunks() for column in table.columns]
    plain = [one.storage if isinstance(one, pa.ExtensionArray) else one for one in arrays]
    return pa.StructArray.from_arrays(plain, names=table.column_names)


def _passing(snapshot: Snapshot, wanted: Condition) -> Numbers:
    """Return the live rows of the table that pass a condition, counted over all fragments."""
    start, parts = 0, [np.empty(0, np.int64)]
    for rows in snapshot.fragments:
        parts.append(wanted.positions(rows) + start)
        start += rows.num_rows
    return np.concatenate(parts)


def by_fragment(snapshot: Snapshot, positions: Numbers) -> Chosen:
    """Return ascending live row positions of a table as positions in their fragments."""
    chosen: Chosen = []
    start = 0
    for rows in snapshot.fragments:
        first, last = np.searchsorted(positions, [start, start + rows.num_rows])
        if last > first:
            chosen.append((rows, positions[first:last] - start))
        start += rows.num_rows
    return chosen


def _rows_at(snapshot: Snapshot, positions: Numbers) -> pa.Table:
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), None)
    return snapshot.take(positions, projection)


def merged_rows(
    snapshot: Snapshot, source: pa.Table, plan: MergePlan
) -> tuple[Iterator[pa.RecordBatch], NDArray[np.uint64]]:
    """Return the rows to be written, updated ones first, and the ids of those."""
    schema = snapshot.schema(BlobHandling.BYTES)
    projection = scan_projection(schema, None, [ROW_ID])
    own = snapshot.take(plan.updated, projection)
    ids = own[ROW_ID].to_numpy() if len(own) else np.empty(0, np.uint64)
    updated = _overlaid(own.drop_columns([ROW_ID]), source.take(pa.array(plan.update_sources)))
    inserted = source.take(pa.array(plan.inserted))
    missing = pa.Table.from_arrays(
        [
            inserted[one.name] if one.name in inserted.schema.names else _nulls(one, len(inserted))
            for one in projection.schema
            if one.name != ROW_ID
        ],
        names=[one.name for one in projection.schema if one.name != ROW_ID],
    )
    both = [*updated.to_batches(), *missing.to_batches()]
    return iter(both), ids


def _nulls(one: pa.Field, rows: int) -> pa.ChunkedArray:
    if isinstance(one.type, pa.BaseExtensionType):
        storage = pa.nulls(rows, one.type.storage_type)
        return pa.chunked_array([pa.ExtensionArray.from_storage(one.type, storage)])
    return pa.chunked_array([pa.nulls(rows, one.type)])


def _overlaid(own: pa.Table, theirs: pa.Table) -> pa.Table:
    """Return rows with the columns of the source in place of theirs."""
    for number, name in enumerate(own.column_names):
        if name in theirs.column_names:
            own = own.set_column(number, name, theirs[name])
    return own


KEY_INDICES = ("BTreeIndexDetails", "BitmapIndexDetails")
"""Indices that find the rows of a key."""


def obstacle(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> str:
    """Return why a merge cannot be written as columns, empty where it can."""
    fields = {field.name: field for field in snapshot.manifest.schema.fields}
    if actions.insert:
        return "inserting unmatched source rows adds rows, which patching cannot do"
    if actions.delete_unmatched:
        return "deleting target rows unmatched by the source removes rows"
    if not actions.update:
        return "when_matched must update rather than delete or do nothing"
    if set(source.names) <= set(keys):
        return "the source carries no column besides the join key"
    if set(source.names) >= set(fields):
        return "the source covers every dataset column, so there is nothing to skip"
    held = [fields[name] for name in source.names]
    if any(one.is_blob or one.is_blob_v2 for field in held for one in field.flat()):
        return "the source carries a blob column"
    return ""


def check_columns(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> None:
    """Raise EditFailed for a merge that cannot be written as columns."""
    found = obstacle(snapshot, source, keys, actions)
    if found:
        raise EditFailed(
            f"MergeInsertWriteMode::RewriteColumns cannot express this merge insert: {found}. Use "
            "MergeInsertWriteMode::Auto or RewriteRows instead."
        )


def is_patched(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> bool:
    """Whether a merge is written as columns when nobody says how: its key has an index."""
    if len(keys) != 1 or actions.fail or actions.delete:
        return False
    if obstacle(snapshot, source, keys, replace(actions, insert=False)):
        return False
    return has_key_index(snapshot, keys)


def has_key_index(snapshot: Snapshot, keys: list[str]) -> bool:
    """Whether an index finds the rows of a key of one column."""
    if len(keys) != 1:
        return False
    (key,) = (field.id for field in snapshot.manifest.schema.fields if field.name == keys[0])
    return any(
        list(index.fields) == [key]
        and index.index_details.type_url.rpartition(".")[2] in KEY_INDICES
        for index in snapshot.manifest.indices
    )


def write_merged_columns(
    snapshot: Snapshot,
    source: pa.Table,
    keys: list[str],
    plan: MergePlan,
    update: Transaction.Update,
    draft: Draft,
) -> None:
    """Write the columns of matched rows, and list what became of the fragments."""
    update.update_mode = Transaction.Update.REWRITE_COLUMNS
    order = np.argsort(plan.updated)
    fields = [
        field
        for field in snapshot.manifest.schema.fields
        if field.name in source.schema.names and field.name not in keys
    ]
    names = [field.name for field in fields]
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), names)
    done = 0
    for rows, positions in by_fragment(snapshot, plan.updated[order]):
        sources = plan.update_sources[order][done : done + len(positions)]
        done += len(positions)
        batches = list(all_rows(rows, projection))
        held = pa.Table.from_batches(batches, schema=projection.schema)
        chosen = np.full(len(held), -1, np.int64)
        chosen[rows.offsets(positions)] = sources
        new = pa.array(chosen, mask=chosen < 0)
        values = replace_values(held, source.select(names), new)
        made = write_values(snapshot, rows, values, new, draft)
        update.updated_fragments.append(made.fragment)
        if snapshot.stable_row_ids:
            update.updated_fragment_offset_bitmaps[rows.fragment.id] = made.offsets
    if done:
        update.fields_modified.extend(one.id for field in fields for one in field.flat())
