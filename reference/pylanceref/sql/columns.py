"""Columns and filters: expressions in SQL over the columns of a table, evaluated batch by batch.

A column that is only renamed keeps its type, also a dictionary or an extension, its metadata and
whether it may be null. A filter in SQL or as an Arrow expression becomes the condition that a
search takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref import operations
from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed, QueryFailed, QueryRefused, SchemaRefused
from lanceref.file.arrow_schema import resolved
from lanceref.file.schema import LanceSchema
from lanceref.search import rows
from lanceref.search.index_plan import Mask, Predicate
from lanceref.search.rows import Condition, Filter
from lanceref.search.snapshot import Snapshot, take_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS
from numpy.typing import NDArray

from pylanceref.sql.conditions import predicate_of
from pylanceref.sql.expression import Bound, bind
from pylanceref.sql.rewriting import field_at

if TYPE_CHECKING:
    from lanceref.operations.columns import ColumnSource


@dataclass(frozen=True, slots=True)
class Computed:
    """Expressions over the columns of a batch; `schema` is that of the result."""

    bound: tuple[Bound, ...]
    schema: pa.Schema

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns that are read."""
        return frozenset[str]().union(*(one.columns for one in self.bound))

    @property
    def paths(self) -> frozenset[str]:
        """The same, or `a.b` where only a part of a column is read."""
        return frozenset[str]().union(*(one.paths for one in self.bound))

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the result for a batch. Raises QueryFailed."""
        if not self.bound:
            return batch.select([]).replace_schema_metadata(self.schema.metadata)
        arrays = [one.evaluate(batch) for one in self.bound]
        fitting = [
            array if array.type == field.type else array.cast(field.type)
            for array, field in zip(arrays, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(fitting, schema=self.schema)


def bind_columns(given: Mapping[str, str], schema: pa.Schema) -> Computed:
    """Bind the expressions of a projection to the columns of a schema. Raises QueryRefused."""
    bound = {name: bind(text, schema) for name, text in given.items()}
    fields = []
    for name, one in bound.items():
        field = field_at(schema, one.names) if one.names else None  # what is computed has none
        metadata = None if field is None else field.metadata
        fields.append(pa.field(name, one.type, one.nullable, metadata))
    return Computed(tuple(bound.values()), resolved(pa.schema(fields, schema.metadata)))


def only_nulls(texts: Iterable[str], schema: pa.Schema) -> bool:
    """Whether all expressions are nulls of a type, as in `CAST(NULL AS INT)`."""
    nodes = [bind(text, schema).node for text in texts]
    values = [one.parts[0].scalar if one.op == "Cast" else None for one in nodes]
    return all(value is not None and not value.is_valid for value in values)


@dataclass(frozen=True, slots=True)
class Value:
    """The expression that a column of changed rows becomes."""

    bound: Bound

    @property
    def literal(self) -> pa.Scalar | None:
        """The value where no column is read."""
        return self.bound.literal

    def evaluate(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the value of each row of a batch. Raises EditFailed, QueryFailed."""
        try:
            return self.bound.evaluate(batch)
        except pa.ArrowInvalid as error:
            if isinstance(error, QueryFailed):
                raise
            raise EditFailed(f"Cast error: {error}") from error


def bind_values(updates: Mapping[str, str], schema: pa.Schema) -> dict[str, Value]:
    """Bind the expressions of an update. Raises QueryRefused."""
    return {name: Value(bind(text, schema)) for name, text in updates.items()}


def take_columns(
    snapshot: Snapshot,
    positions: NDArray[np.int64],
    columns: Sequence[str] | Mapping[str, str] | None,
) -> pa.Table:
    """Return rows at live positions (n,) of the table, in their order. Raises NotFound."""
    schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
    if not isinstance(columns, Mapping):
        return snapshot.take(positions, take_projection(schema, columns))
    system = (pa.field(one, pa.uint64(), nullable=one != ROW_OFFSET) for one in SYSTEM_COLUMNS)
    every = pa.schema([*schema.arrow, *system], schema.metadata or None)
    computed = bind_columns(columns, every)
    table = snapshot.take(positions, take_projection(schema, sorted(computed.paths)))
    batches = [computed.batch(batch) for batch in table.to_batches()]
    return pa.Table.from_batches(batches, schema=computed.schema)


def computed_columns(snapshot: Snapshot, expressions: Mapping[str, str]) -> ColumnSource:
    """Return new columns in SQL, without metadata of their fields. Raises SchemaRefused."""
    try:
        bound = bind_columns(expressions, snapshot.schema(BlobHandling.BYTES).arrow)
    except QueryRefused as error:
        raise SchemaRefused(str(error)) from error
    plain = pa.schema([field.remove_metadata() for field in bound.schema], bound.schema.metadata)
    bound = replace(bound, schema=plain)
    return operations.columns.computed_source(snapshot, plain, bound.columns, bound.batch)


ROW = "__row"
"""Name of the column that counts the rows of a batch."""


class SqlFilter:
    """A condition on rows, written in SQL."""

    def __init__(self, text: str, schema: pa.Schema) -> None:
        self._bound, self._schema = bind(text, schema), schema
        self._is_match = self._bound.node.op == "regexp_match"
        if not self._is_match and not pa.types.is_boolean(self._bound.type):
            raise QueryRefused(f"The filter {text[:1000]} does not return a boolean")
        self.columns, self.paths = self._bound.columns, self._bound.paths

    @cached_property
    def predicate(self) -> Predicate | None:
        """What the filter says of single columns."""
        return predicate_of(self._bound.node, self._schema)

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it passes: bool (rows,). Raises QueryFailed."""
        found = self._bound.evaluate(batch)
        if self._is_match:
            found = pc.is_valid(found)
        return np.asarray(pc.fill_null(found, False).to_numpy(zero_copy_only=False), np.bool_)


class ArrowFilter:
    """A filter as an Arrow expression, which pyarrow evaluates; no index is asked for it."""

    def __init__(self, expression: pc.Expression, schema: pa.Schema) -> None:
        self._expression, text = expression, str(expression)
        self.columns = self.paths = tuple(name for name in schema.names if name in text)
        self.predicate: Predicate | None = None
        empty = pa.Table.from_batches([], schema).select(self.columns)
        try:
            empty.filter(expression)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryRefused(f"{error}") from error

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch whether it passes: bool (rows,). Raises QueryFailed."""
        numbers = pa.array(np.arange(batch.num_rows))
        names = [*batch.schema.names, ROW]
        table = pa.Table.from_arrays([*batch.columns, numbers], names=names)
        try:
            kept = table.filter(self._expression)[ROW]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise QueryFailed(f"Execution error: {error}") from error
        mask = np.zeros(batch.num_rows, np.bool_)
        mask[kept.to_numpy()] = True
        return mask


def bind_filter(given: object, schema: pa.Schema) -> Filter:
    """Return a filter over the columns of a schema. Raises QueryRefused, TypeError."""
    if isinstance(given, pc.Expression):
        return ArrowFilter(given, schema)
    if not isinstance(given, str):
        raise TypeError(f"filter must be SQL text or an Arrow expression, got {type(given)}")
    return SqlFilter(given, schema)


def all_columns(schema: LanceSchema, found: Iterable[pa.Field] = ()) -> pa.Schema:
    """Return the columns of a table, those of the system, and what a search has found."""
    system = [pa.field(name, pa.uint64()) for name in SYSTEM_COLUMNS]
    return pa.schema([*schema.arrow, *system, *found])


def condition(
    snapshot: Snapshot, given: object, *, use_stats: bool = True, use_indices: bool = True
) -> Condition:
    """Bind a filter, SQL or an Arrow expression, to a table. Raises QueryRefused, TypeError."""
    found = bind_filter(given, all_columns(snapshot.schema(BlobHandling.DESCRIPTIONS)))
    return rows.condition(snapshot, found, use_stats=use_stats, use_indices=use_indices)


def mask_of(text: str) -> Callable[[pa.RecordBatch], Mask]:
    """Return a filter, (rows,), that is bound to the columns of the batch it is asked about."""
    return lambda batch: bind_filter(text, batch.schema).mask(batch)
