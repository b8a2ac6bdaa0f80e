"""Computed columns: expressions in SQL by the name they have in the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from lanceref.query.expression import Bound


@dataclass(frozen=True, slots=True)
class Computed:
    """Expressions over the columns of a batch; `schema` is that of the result."""

    bound: tuple[Bound, ...]
    schema: pa.Schema

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns that are read."""
        return frozenset().union(*(one.columns for one in self.bound))

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the result for a batch. Raises QueryFailed."""
        arrays = [one.evaluate(batch) for one in self.bound]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def bind_columns(given: Mapping[str, str], schema: pa.Schema) -> Computed:
    """Bind the expressions of a projection to the columns of a schema. Raises QueryRefused."""
    from lanceref.query.dialect import parse_expression  # the parser is slow to import
    from lanceref.query.expression import Binder

    binder = Binder(schema)
    bound = {name: binder.bind(parse_expression(text)) for name, text in given.items()}
    fields = [pa.field(name, one.type, _may_be_null(one)) for name, one in bound.items()]
    return Computed(tuple(bound.values()), pa.schema(fields))


def _may_be_null(bound: Bound) -> bool:
    return bound.literal is None or not bound.literal.is_valid
