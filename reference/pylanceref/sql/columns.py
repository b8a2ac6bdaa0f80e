"""Computed columns: expressions in SQL by the name they have in the result.

A column that is only renamed keeps its type, also a dictionary or an extension, its metadata and
whether it may be null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
from lanceref.core.errors import EditFailed, QueryFailed
from lanceref.core.logical_types import resolved

from pylanceref.sql.expression import Bound, bind
from pylanceref.sql.trees import Node


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

    def beside(self, others: Computed) -> Computed:
        """Return these expressions, and others after them."""
        schema = pa.schema([*self.schema, *others.schema], self.schema.metadata)
        return Computed((*self.bound, *others.bound), schema)

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
    fields = [
        pa.field(name, one.type, one.nullable, _metadata(one, schema))
        for name, one in bound.items()
    ]
    return Computed(tuple(bound.values()), resolved(pa.schema(fields, schema.metadata)))


def _metadata(one: Bound, schema: pa.Schema) -> Mapping[bytes, bytes] | None:
    """Return the metadata of the field that an expression is; what is computed has none."""
    field = pa.field("", pa.struct(list(schema)))
    for name in one.names:
        field = field.type.field(name)
    found: Mapping[bytes, bytes] | None = field.metadata
    return found if one.names else None


def only_nulls(texts: Iterable[str], schema: pa.Schema) -> bool:
    """Whether all expressions are nulls of a type, as in `CAST(NULL AS INT)`."""
    return all(_is_null(bind(text, schema).node) for text in texts)


def _is_null(node: Node) -> bool:
    if node.op != "Cast":
        return False
    (inner,) = node.parts
    return inner.scalar is not None and not inner.scalar.is_valid


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
