"""Computed columns: expressions in SQL by the name they have in the result.

A column that is only renamed keeps its type, also a dictionary or an extension, its metadata and
whether it may be null; what an operator makes may be null where one of its operands may, what a
function makes always.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lanceref.core.extension_types import resolved

if TYPE_CHECKING:
    from lanceref.query.bound import Bound


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
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def bind_columns(given: Mapping[str, str], schema: pa.Schema) -> Computed:
    """Bind the expressions of a projection to the columns of a schema. Raises QueryRefused."""
    from lanceref.query.door import enter  # the parser is slow to import

    bound, fields = [], []
    for name, text in given.items():
        one, metadata = _renamed(enter(text, schema).bound, schema)
        bound.append(one)
        fields.append(pa.field(name, one.type, one.nullable, metadata))
    return Computed(tuple(bound), resolved(pa.schema(fields, schema.metadata)))


def _renamed(one: Bound, schema: pa.Schema) -> tuple[Bound, Mapping[bytes, bytes] | None]:
    """Return a column, or a field of one, as it is stored, and its metadata.

    What is computed has none, and is as it is, or in a dictionary.
    """
    from lanceref.query.bound import encoded  # the parser is slow to import

    if not one.is_column:
        return encoded(one), None
    (path,) = one.paths
    if path in schema.names:
        field = schema.field(path)
        stored = replace(one, type=field.type, run=lambda batch: batch.column(path))
        return stored, field.metadata
    field = pa.field("", pa.struct(list(schema)))
    for name in path.split("."):
        field = field.type.field(name)
    return one, field.metadata


def only_nulls(texts: Iterable[str]) -> bool:
    """Whether all expressions are nulls of a type, as in `CAST(NULL AS INT)`."""
    from sqlglot import exp  # the parser is slow to import

    from lanceref.query.door import parsed

    trees = [parsed(text) for text in texts]
    return all(isinstance(one, exp.Cast) and isinstance(one.this, exp.Null) for one in trees)
