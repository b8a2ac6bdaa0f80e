"""Merge: what becomes of the pairs and of the rest, and the rows that are written for it.

Divergences: D.table.merged-vector-null-0-1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import EditFailed
from lanceref.core.integers import intersection, union
from lanceref.index.predicate import shown
from lanceref.operations.delete import Chosen
from lanceref.operations.matching import Matching
from lanceref.search.projection import scan_projection
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling

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
