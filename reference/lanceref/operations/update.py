"""Updates and deletes: rows taken out of their fragments, and read with new values.

A fragment that keeps rows gets a deletion file of all its deleted rows; one that keeps none is
removed.

Clauses: L.txn.op.update, L.txn.op.delete, L.table.deletions.threshold
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed, QueryFailed, QueryRefused
from lanceref.core.integers import union
from lanceref.operations.new_rows import Ids
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.projection import scan_projection
from lanceref.search.rows import Condition, Passed, read_passed
from lanceref.search.snapshot import Snapshot
from lanceref.storage.protocol import Draft
from lanceref.table.deletions import write_deletions
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.transactions.manifest_builder import copy_of

Positions = NDArray[np.int64]

RowSelection = list[tuple[FragmentRows, Positions]]
"""Fragments, and some of their live rows: positions, ascending."""

BATCH_ROWS = 8192
"""Rows that are read and written together."""


def select_rows(snapshot: Snapshot, condition: Condition | None) -> RowSelection:
    """Return the live rows that pass a condition, all of them without one."""
    if condition is None:
        return [(rows, np.arange(rows.num_rows)) for rows in snapshot.fragments]
    possible = condition.possible(snapshot.fragments)
    pairs = ((rows, condition.positions(rows)) for rows in possible)
    return [(rows, positions) for rows, positions in pairs if len(positions)]


@dataclass(slots=True)
class Removal:
    """What became of the fragments; `affected` are the offsets of the rows by fragment id."""

    updated: list[table_pb2.DataFragment] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    affected: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    num_rows: int = 0


def remove(
    snapshot: Snapshot, chosen: Iterable[tuple[FragmentRows, Positions]], draft: Draft
) -> Removal:
    """Write the deletion files that take the rows out. Positions are (rows,)."""
    removal, store, version = Removal(), snapshot.store, snapshot.manifest.version
    for rows, positions in chosen:
        number, offsets = rows.fragment.id, rows.offsets(positions)
        removal.num_rows += len(positions)
        removal.affected[number] = offsets
        every = union(rows.deleted, offsets)
        if not len(offsets):
            removal.updated.append(rows.fragment.message)
        elif len(every) == rows.columns.physical_rows:
            removal.removed.append(number)
        else:
            fragment = copy_of(rows.fragment.message)
            as_bitmap = fragment.deletion_file.file_type == table_pb2.DeletionFile.BITMAP
            file = write_deletions(store, number, version, every, draft, as_bitmap=as_bitmap)
            fragment.deletion_file.CopyFrom(file)
            removal.updated.append(fragment)
    return removal


def put_update(
    transaction: Transaction,
    removal: Removal,
    new: Iterable[table_pb2.DataFragment],
    fields: Iterable[int],
) -> None:
    """Make a transaction an Update: rows taken out, others written, with values new in `fields`."""
    given = transaction.update
    given.updated_fragments.extend(removal.updated)
    given.removed_fragment_ids.extend(removal.removed)
    given.new_fragments.extend(new)
    given.fields_for_preserving_frag_bitmap.extend(fields)


class Value(Protocol):
    """The new value of a column, computed from the columns of a batch."""

    @property
    def literal(self) -> pa.Scalar | None:
        """The value where no column is read."""

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column, and what computes its new value."""

    field: pa.Field
    value: Value

    def column(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the column for a batch. Raises EditFailed for a value it cannot hold."""
        try:
            return as_column(self.value.evaluate(batch), self.field.type)
        except QueryFailed:
            raise
        except pa.ArrowInvalid as error:
            raise EditFailed(f"Cast error: {error}") from error


def assign(snapshot: Snapshot, updates: Mapping[str, Value]) -> dict[str, Assignment]:
    """Return values with the columns that get them. Raises QueryRefused."""
    schema, bound = snapshot.schema(BlobHandling.BYTES).arrow, {}
    if not updates:
        raise QueryRefused("No updates provided")
    for name, value in updates.items():
        if name not in schema.names:
            raise QueryRefused(f"Column '{name}' does not exist in dataset schema: {schema.names}")
        bound[name] = Assignment(schema.field(name), value)
        if value.literal is not None:
            try:
                as_column(value.literal, schema.field(name).type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise QueryRefused(f"Cast error: {error}") from error
    return bound


def as_column(value: pa.Array | pa.Scalar, type_: pa.DataType) -> pa.Array | pa.Scalar:
    """Return values in the type of a column: fractions are cut, text is read as a number."""
    storage = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
    plain = storage.value_type if pa.types.is_dictionary(storage) else storage
    if pa.types.is_floating(value.type) and pa.types.is_integer(plain):
        value = pc.trunc(value)
    value = value.cast(plain)
    return value.cast(storage) if storage is not plain else value


def read_updated(
    snapshot: Snapshot, chosen: RowSelection, assignments: Mapping[str, Assignment]
) -> tuple[Iterator[pa.RecordBatch], list[Ids]]:
    """Return the rows with their new values, and a list to which their ids are added meanwhile.

    Ids are (rows,).
    """
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), None, [ROW_ID])
    ids: list[Ids] = []

    def stream() -> Iterator[pa.RecordBatch]:
        for rows, positions in chosen:
            for batch in read_passed(Passed(rows, positions), projection, BATCH_ROWS):
                ids.append(batch.column(ROW_ID).to_numpy())
                old = batch.drop_columns([ROW_ID])
                columns = {
                    name: assignments[name].column(old) if name in assignments else old.column(name)
                    for name in old.schema.names
                }
                yield pa.RecordBatch.from_pydict(columns)

    return stream(), ids
