"""Appended rows: their schema, held against the table's.

Fields are matched by name and may come in another order; a field that can be null may be missing,
anywhere in the tree. The rows take the ids, nullability and metadata of the table's fields.

Clauses: L.table.datafile.lookup, L.table.datafile.missing-field
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from lanceref.core.errors import AppendRefused, Place
from lanceref.core.file_versions import V0_1, FileVersion
from lanceref.core.logical_types import arrow_type
from lanceref.file.schema import Field, LanceSchema

_NOWHERE = Place("schema", 0, 0)


def appended_schema(table: LanceSchema, rows: LanceSchema, version: FileVersion) -> LanceSchema:
    """Return the table's fields that `rows` has, in the order of `rows`. Raises AppendRefused."""
    fields, problems = _match(table.fields, rows.fields, "")
    if problems:
        raise AppendRefused(f"Append with different schema: {', '.join(problems)}")
    stored = LanceSchema(fields, table.metadata)
    if version == V0_1:
        check_whole({field.id for field in table.flat()}, {field.id for field in stored.flat()})
        order = [field.id for field in table.fields]  # that of the manifest counts
        in_order = sorted(fields, key=lambda field: order.index(field.id))
        return LanceSchema(tuple(in_order), table.metadata)
    return stored


def check_whole(fields: Set[int], held: Set[int]) -> None:
    """Raise AppendRefused where files of 0.1 hold not every field of a table."""
    missing = fields - held
    if missing:
        raise AppendRefused(f"a 0.1 file holds every field, but {sorted(missing)} are missing")


def _match(
    wanted: Sequence[Field], found: Sequence[Field], above: str
) -> tuple[tuple[Field, ...], list[str]]:
    """Return the matched fields of `wanted` and what is wrong; `above` is their parent's path."""
    by_name = {field.name: field for field in wanted}
    given = {field.name for field in found}
    missing = [f"{above}{f.name}" for f in wanted if f.name not in given and not f.nullable]
    unexpected = [f"{above}{f.name}" for f in found if f.name not in by_name]
    if missing or unexpected:
        listed = f"missing=[{', '.join(missing)}], unexpected=[{', '.join(unexpected)}]"
        return (), [f"fields did not match, {listed}"]
    matched, problems = [], []
    for field in found:
        own = by_name[field.name]
        path = f"{above}{field.name}"
        if own.logical_type != field.logical_type:
            problems.append(
                f"`{path}` should have type {own.logical_type} but type was {field.logical_type}"
            )
            continue
        if own.is_blob_v2 and field.is_blob_v2:  # its rows may lack ranges
            matched.append(own)
            continue
        children, below = _match(own.children, field.children, f"{path}.")
        if below:
            problems.append(f"`{path}` had mismatched children: {', '.join(below)}")
        else:
            matched.append(_with_children(own, children))
    return tuple(matched), problems


def _with_children(field: Field, children: tuple[Field, ...]) -> Field:
    if children == field.children:
        return field
    type_ = arrow_type(field.logical_type, [child.arrow for child in children], _NOWHERE)
    return replace(field, children=children, arrow=field.arrow.with_type(type_))
