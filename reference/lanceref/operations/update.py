"""Changed rows: read with their ids, some columns computed anew.

Clauses: L.txn.op.update
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed, QueryFailed, QueryRefused
from lanceref.operations.delete import Chosen
from lanceref.search.projection import scan_projection
from lanceref.search.rows import read_rows
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling

BATCH_ROWS = 8192


class Value(Protocol):
    """What a column becomes, computed from the columns of a batch."""

    @property
    def literal(self) -> pa.Scalar | None:
        """The value where no column is read."""

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column and the expression it becomes."""

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
    """Return values with the columns that they become. Raises QueryRefused."""
    schema = snapshot.schema(BlobHandling.BYTES).arrow
    bound = {}
    if not updates:
        raise QueryRefused("No updates provided")
    for name, value in updates.items():
        if name not in schema.names:
            raise QueryRefused(f"Column '{name}' does not exist in dataset schema: {schema.names}")
        field = schema.field(name)
        if value.literal is not None:
            try:
                as_column(value.literal, field.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise QueryRefused(f"Cast error: {error}") from error
        bound[name] = Assignment(field, value)
    return bound


def as_column(value: pa.Array | pa.Scalar, type_: pa.DataType) -> pa.Array | pa.Scalar:
    """Return values in the type of a column: fractions are cut, text is read as a number."""
    storage = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
    plain = storage.value_type if pa.types.is_dictionary(storage) else storage
    if pa.types.is_floating(value.type) and pa.types.is_integer(plain):
        value = pc.trunc(value)
    value = value.cast(plain)
    return value.cast(storage) if storage is not plain else value


def read_changed(
    snapshot: Snapshot, chosen: Chosen, assignments: Mapping[str, Assignment]
) -> tuple[Iterator[pa.RecordBatch], list[NDArray[np.uint64]]]:
    """Return the rows with their new values, and the list their ids are put in as they pass."""
    schema = snapshot.schema(BlobHandling.BYTES)
    projection = scan_projection(schema, None, [ROW_ID])
    ids: list[NDArray[np.uint64]] = []

    def stream() -> Iterator[pa.RecordBatch]:
        for rows, positions in chosen:
            for batch in read_rows(rows, positions, projection, BATCH_ROWS):
                ids.append(batch.column(ROW_ID).to_numpy())
                yield _assigned(batch.drop_columns([ROW_ID]), assignments)

    return stream(), ids


def _assigned(batch: pa.RecordBatch, assignments: Mapping[str, Assignment]) -> pa.RecordBatch:
    names = batch.schema.names
    columns = [
        assignments[name].column(batch) if name in assignments else batch.column(name)
        for name in names
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)
