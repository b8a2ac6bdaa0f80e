"""Logical values: what the fields of a table read as.

Some types are stored as something else. A json column holds JSONB and reads as text under the
extension name `arrow.json`. The way from the stored form to the one shown keeps every list and
struct around such a field.

Clauses: L.json.column
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref import jsonb
from lanceref.arrowtypes import arrow_type
from lanceref.context import Context
from lanceref.errors import Place
from lanceref.extension import EXTENSION_KEY
from lanceref.file.column_reader import ColumnReader
from lanceref.file.schema import Field, LanceSchema
from lanceref.nesting import mapped

JSON_SHOWN = "arrow.json"
"""Extension name of json columns as they are read."""


def logical_schema(schema: LanceSchema) -> LanceSchema:
    """Return the schema with every field as it reads."""
    return LanceSchema(tuple(map(_logical, schema.fields)), schema.metadata)


def _logical(field: Field) -> Field:
    if field.logical_type == "json":
        metadata = {**field.metadata, EXTENSION_KEY: JSON_SHOWN}
        arrow = pa.field(field.name, pa.utf8(), field.nullable, metadata)
        return replace(field, arrow=arrow, metadata=metadata)
    return _over(field, tuple(map(_logical, field.children)))


def stored_field(field: Field) -> Field:
    """Return a field as it is stored: itself when it reads so."""
    if field.logical_type == "json":
        return replace(field, arrow=field.arrow.with_type(pa.large_binary()))
    return _over(field, tuple(map(stored_field, field.children)))


def _over(field: Field, children: tuple[Field, ...]) -> Field:
    """Return a field over other children; itself when they are the ones it has."""
    if all(new is old for new, old in zip(children, field.children, strict=True)):
        return field
    below = [child.arrow for child in children]
    type_ = arrow_type(field.logical_type, below, Place("schema", 0))
    return replace(field, children=children, arrow=field.arrow.with_type(type_))


class LogicalColumn:
    """A column that is stored as one type and reads as another."""

    def __init__(self, reader: ColumnReader, field: Field, ctx: Context, place: Place) -> None:
        self.type: pa.DataType = field.arrow.type
        self.num_rows = reader.num_rows
        self._reader, self._field = reader, field
        self._ctx, self._place = ctx, place

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the stored arrays, each as it reads."""
        for array in self._reader.scan(start, end):
            yield self._show(array, self._field)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows as they read."""
        return self._show(self._reader.take(rows), self._field)

    def check(self) -> None:
        """Check the stored column."""
        self._reader.check()

    def _show(self, array: pa.Array, field: Field) -> pa.Array:
        if array.type == field.arrow.type:
            return array
        if field.logical_type == "json":  # L.json.column
            return jsonb.texts(array, self._ctx, self._place)
        return mapped(
            array, field.arrow.type, lambda n, below: self._show(below, field.children[n])
        )
