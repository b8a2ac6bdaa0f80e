"""Column layout: which fields own a physical column.

A file has fewer or more columns than its schema has fields, and the rule differs by version: in 2.0
structs and lists own a column (header, offsets) before those of their children; from 2.1 on only
the leaves of the type tree do. A packed struct and a blob are one column in every version.

Clauses: L.file.schema.num-columns
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, Place
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.encodings_2_0.early_strings import is_early
from lanceref.file.columns import ColumnMetadata
from lanceref.file.schema import Field, LanceSchema


def column_owners(field: Field, version: FileVersion) -> Iterator[Field]:
    """Yield the fields at or below `field` that own a physical column, in column order."""
    whole = field.is_leaf
    if whole or (version == V2_0 and not field.logical_type.startswith("fixed_size_list")):
        yield field
    if not whole:
        for child in field.children:
            yield from column_owners(child, version)


def assign_columns(
    schema: LanceSchema,
    version: FileVersion,
    columns: Sequence[ColumnMetadata],
    ctx: Context,
    place: Place,
) -> dict[int, int]:
    """Return field id -> column index when columns follow the schema. Raises BadSchema.

    Strings of early files own two columns; the first is named.
    """
    owners = [owner for top in schema.fields for owner in column_owners(top, version)]
    assigned, index, num_columns = dict[int, int](), 0, len(columns)
    for owner in owners:
        assigned[owner.id] = index
        index += 1
        if version == V2_0 and index < num_columns and is_early(owner, columns[index - 1]):
            index += 1
    if index != num_columns:
        error = BadSchema(
            "L.file.schema.num-columns",
            place,
            found=f"{num_columns} columns",
            wanted=f"{index}, one for each field that owns a column",
        )
        if index > num_columns:
            raise error
        ctx.refuse(error)
    return assigned


def indices_of(
    field: Field, version: FileVersion, assigned: dict[int, int], place: Place
) -> Sequence[int]:
    """Return the column indices of `field` (possibly pruned), in column order. Raises BadSchema."""
    indices = []
    for owner in column_owners(field, version):
        if owner.id not in assigned:
            raise BadSchema(
                "L.file.schema.num-columns",
                place,
                found=f"no column for field {owner.name!r}",
                wanted="a column for each field that owns one",
            )
        indices.append(assigned[owner.id])
    return indices
