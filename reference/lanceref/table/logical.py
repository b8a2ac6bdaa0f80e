"""Logical values: what the fields of a table read as.

Some types are stored as something else. A json column holds JSONB and reads as text under the
extension name `arrow.json`. A blob column reads as descriptors or as bytes, as the caller likes.
The way from the stored form to the one shown keeps every list and struct around such a field.

Clauses: L.json.column
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.descriptors import KEPT, BlobFiles, descriptor_field
from lanceref.core.context import Context
from lanceref.core.errors import Place
from lanceref.file.column_io import DESCRIPTOR, ColumnReader, Recutter
from lanceref.file.schema import EXTENSION_KEY, Field, LanceSchema, arrow_type
from lanceref.file.schema_view import mapped
from lanceref.json import jsonb

JSON_SHOWN = "arrow.json"
"""Extension name of json columns as they are read."""


class BlobHandling(Enum):
    """What blob columns read as: bytes, descriptors, as declared, or what is written again."""

    BYTES = "all_binary"
    DESCRIPTIONS = "blobs_descriptions"
    DECLARED = "declared"
    KEPT = "kept"


def logical_schema(schema: LanceSchema, blobs: BlobHandling) -> LanceSchema:
    """Return the schema with every field as it reads."""
    return LanceSchema(tuple(_logical(field, blobs) for field in schema.fields), schema.metadata)


def _logical(field: Field, blobs: BlobHandling) -> Field:
    if field.logical_type == "json":
        metadata = {**field.metadata, EXTENSION_KEY: JSON_SHOWN}
        arrow = pa.field(field.name, pa.utf8(), field.nullable, metadata)
        return replace(field, arrow=arrow, metadata=metadata)
    if field.is_blob_v2 and blobs is not BlobHandling.DECLARED:
        arrow = descriptor_field(field).arrow
        if blobs is not BlobHandling.DESCRIPTIONS:
            type_ = KEPT if blobs is BlobHandling.KEPT else pa.large_binary()
            metadata = {key: text for key, text in field.metadata.items() if key != EXTENSION_KEY}
            arrow = pa.field(field.name, type_, field.nullable, metadata or None)
        return replace(field, children=(), arrow=arrow)
    if field.is_blob and blobs is BlobHandling.DESCRIPTIONS:
        return replace(field, arrow=field.arrow.with_type(DESCRIPTOR))
    return with_children(field, tuple(_logical(child, blobs) for child in field.children))


def stored_field(field: Field) -> Field:
    """Return a field as it is stored: itself when it reads so."""
    if field.logical_type == "json":
        return replace(field, arrow=field.arrow.with_type(pa.large_binary()))
    if field.is_blob_v2:
        return descriptor_field(field)
    if field.packed is not None:
        return stored_field(field.packed)
    return with_children(field, tuple(map(stored_field, field.children)))


def with_children(field: Field, children: tuple[Field, ...]) -> Field:
    """Return a field over other children; itself when they are the ones it has."""
    if children == field.children:
        return field
    below = [child.arrow for child in children]
    type_ = arrow_type(field.logical_type, below, Place("schema", 0))
    return replace(field, children=children, arrow=field.arrow.with_type(type_))


class DerivedColumn:
    """A column whose rows are made of the same rows of `parts`.

    `make` gets an array of each part and the numbers of its rows (n,).
    """

    def __init__(
        self,
        type_: pa.DataType,
        parts: Sequence[ColumnReader],
        make: Callable[[list[pa.Array], NDArray[np.int64]], pa.Array],
        checked: Sequence[ColumnReader] = (),
    ) -> None:
        self.type, self.num_rows = type_, parts[0].num_rows
        self._parts, self._make, self._checked = parts, make, (*parts, *checked)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the rows, cut where the first part is."""
        first, *others = self._parts
        rest = [Recutter(part.scan(start, end)) for part in others]
        for array in first.scan(start, end):
            arrays = [array, *(part.next(len(array)) for part in rest)]
            yield self._make(arrays, np.arange(start, start + len(array)))
            start += len(array)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows. `rows` (n,), ascending."""
        return self._make([part.take(rows) for part in self._parts], rows)

    def check(self) -> None:
        """Check every part of the column, and what else its rows are made of."""
        for part in self._checked:
            part.check()


def packed_column(field: Field, open_field: Callable[[Field], ColumnReader]) -> DerivedColumn:
    """Return a field with some children of packed structs, which are read whole and then cut."""

    def stored(field: Field) -> Field:
        return field.packed or with_children(field, tuple(map(stored, field.children)))

    reader = open_field(stored(field))
    return DerivedColumn(field.arrow.type, [reader], lambda arrays, _: _part(arrays[0], field))


def _part(array: pa.Array, field: Field) -> pa.Array:
    if array.type == field.arrow.type:
        return array
    if pa.types.is_struct(array.type):
        below = [_part(array.field(child.name), child) for child in field.children]
        fields = list(field.arrow.type)
        return pa.StructArray.from_arrays(below, fields=fields, mask=array.is_null())
    return mapped(array, field.arrow.type, lambda n, below: _part(below, field.children[n]))


def logical_column(
    reader: ColumnReader, field: Field, blobs: BlobFiles, ctx: Context
) -> DerivedColumn:
    """Return a column that is stored as one type and reads as another."""

    def show(array: pa.Array, field: Field) -> pa.Array:
        if array.type == field.arrow.type:
            return array
        if field.logical_type == "json":  # L.json.column
            return jsonb.texts(array, ctx, ctx.at(0))
        if field.is_blob_v2:
            return (blobs.kept if field.arrow.type == KEPT else blobs.fetch)(array)
        if field.packed is not None:
            return _part(show(array, field.packed), field)
        return mapped(array, field.arrow.type, lambda n, below: show(below, field.children[n]))

    return DerivedColumn(field.arrow.type, [reader], lambda arrays, _: show(arrays[0], field))
