"""Cast columns: fields of another type under new ids, and their values; those of structs too.

Clauses: L.txn.op.merge

Divergences: D.table.nested-cast-2-0
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa

from lanceref.core.errors import EvolutionRefused
from lanceref.file.schema import Field, LanceSchema, schema_of
from lanceref.operations.columns import numbered_fields
from lanceref.operations.schema_evolution import cast_values


def cast_field(schema: LanceSchema, held: Field, type_: pa.DataType, number: int) -> Field:
    """Return a field in another type under the id `number`; those below it have the next ids.

    It keeps its name and whether it may be null, its metadata go. Raises EvolutionRefused for one
    in a list.
    """
    by_id = {field.id: field for field in schema.flat()}
    above = held.parent_id
    while above != -1:
        if not pa.types.is_struct(by_id[above].arrow.type):
            raise EvolutionRefused(f"nested column {held.name!r} cannot be cast")
        above = by_id[above].parent_id
    (made,) = schema_of(pa.schema([pa.field(held.name, type_, held.nullable)])).fields
    (numbered,) = numbered_fields([made], number)
    return replace(numbered, parent_id=held.parent_id)


def ids_of(field: Field) -> set[int]:
    """Return the ids of a field and all below it."""
    return {one.id for one in field.flat()}


def cast_within(values: pa.Array, held: Field, wanted: Field, ids: Collection[int]) -> pa.Array:
    """Return what is cast, the fields with the `ids`, of the values of a field, in structs.

    `wanted` is the field with nothing but that. A struct is null where it was.
    """
    if held.id in ids:
        return cast_values(values, wanted.arrow.type)
    chosen = [n for n, child in enumerate(held.children) if not ids_of(child).isdisjoint(ids)]
    pairs = zip(chosen, wanted.children, strict=True)
    arrays = [cast_within(values.field(n), held.children[n], child, ids) for n, child in pairs]
    fields = [child.arrow for child in wanted.children]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=values.is_null())
