"""Schema evolution: fields dropped, renamed, relaxed or of another type, at any depth.

A cast field has a new id, and so have those below it.

Clauses: L.txn.op.project, L.txn.op.merge, L.file.schema.top-level-names
Divergences: D.table.nested-cast-2-0
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pyarrow as pa

from lanceref.core.errors import SchemaRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import Field, LanceSchema, split_path
from lanceref.operations.columns import numbered_fields
from lanceref.operations.update import as_column
from lanceref.table.logical import with_children

types = pa.types
Edit = Callable[[Field], Field]


def find_field(schema: LanceSchema, path: str) -> Field | None:
    """Return the field at a path of names with dots, None for an unknown one.

    A name may be put in backticks.
    """
    fields: Sequence[Field] = schema.fields
    found, rest = None, path
    while rest or found is None:
        name, rest = split_path(rest)
        found = next((field for field in fields if field.name == name), None)
        if found is None:
            return None
        fields = found.children
    return found


def edit_field(schema: LanceSchema, number: int, edit: Edit) -> LanceSchema:
    """Return the schema with one field, by its id, edited."""

    def visit(field: Field) -> Field | None:
        return edit(field) if field.id == number else _with_children(field, visit)

    return replace(schema, fields=_visited(schema.fields, visit))


def keep_fields(schema: LanceSchema, ids: Collection[int]) -> LanceSchema:
    """Return the schema with nothing but some fields, by their ids, and those above them."""

    def visit(field: Field) -> Field | None:
        if field.id in ids:
            return field
        return _with_children(field, visit) if field.children else None

    return LanceSchema(_visited(schema.fields, visit))


Visit = Callable[[Field], Field | None]


def _with_children(field: Field, visit: Visit) -> Field | None:
    """Return a field with its children visited; None when none of them is left."""
    children = _visited(field.children, visit)
    return with_children(field, children) if children or not field.children else None


def _visited(fields: Sequence[Field], visit: Visit) -> tuple[Field, ...]:
    return tuple(field for field in map(visit, fields) if field is not None)


def altering(name: str | None, nullable: bool | None) -> Edit:
    """Return an edit that gives a field another name and lets it be null or not; None: as it is."""

    def edit(field: Field) -> Field:
        new = field.name if name is None else name
        may = field.nullable if nullable is None else nullable
        arrow = field.arrow.with_name(new).with_nullable(may)
        return replace(field, name=new, nullable=may, arrow=arrow)

    return edit


def replacing(made: Field) -> Edit:
    """Return an edit that puts another field in place of one."""
    return lambda _: made


def drop_fields(schema: LanceSchema, paths: Collection[str]) -> LanceSchema:
    """Return the schema without fields; a struct or list of which none is left goes too.

    Raises SchemaRefused for an unknown one, or for all.
    """
    gone: set[int] = set()
    for path in paths:
        field = find_field(schema, path)
        if field is None:
            raise SchemaRefused(f"Column {path} does not exist in the dataset")
        gone |= {one.id for one in field.flat()}
    if gone:
        kept = {one.id for one in schema.flat() if not one.children and one.id not in gone}
        schema = replace(keep_fields(schema, kept), metadata=schema.metadata)
    if not schema.fields:
        raise SchemaRefused("Cannot drop all columns from a dataset")
    return schema


FAMILIES = (
    (types.is_integer,),
    (types.is_floating,),
    (types.is_string, types.is_large_string),
    (types.is_binary, types.is_large_binary),
    (types.is_decimal,),
)
"""Types that can be cast to each other."""

LISTS = (types.is_list, types.is_large_list, types.is_fixed_size_list)


def check_cast(path: str, held: pa.DataType, wanted: pa.DataType) -> None:
    """Raise SchemaRefused for a cast to another kind of values."""

    def both(tests: Sequence[Callable[[pa.DataType], bool]]) -> bool:
        return all(any(test(one) for test in tests) for one in (held, wanted))

    if both(LISTS):
        check_cast("item", held.value_type, wanted.value_type)
    elif held != wanted and not any(map(both, FAMILIES)):
        raise SchemaRefused(
            f'Invalid user input: Cannot cast column "{path}" from {type_name(held)} to '
            f"{type_name(wanted)}"
        )


def cast_values(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return values in another type. Raises SchemaRefused for the first that does not fit."""
    try:
        return as_column(values, wanted)
    except pa.ArrowInvalid as error:
        for one in values:
            try:
                as_column(pa.array([one], values.type), wanted)
            except pa.ArrowInvalid:
                text = f"Can't cast value {one} to type {type_name(wanted)}"
                raise SchemaRefused(f"Cast error: {text}") from error
        raise


def type_name(type_: pa.DataType) -> str:
    """Return the name that errors give a type."""
    known = {"string": "Utf8", "large_string": "LargeUtf8", "float": "Float32", "double": "Float64"}
    text = str(type_)
    if text.startswith("uint"):
        return f"UInt{text.removeprefix('uint')}"
    return known.get(text) or f"{text[:1].upper()}{text[1:]}"


def cast_field(schema: LanceSchema, held: Field, type_: pa.DataType, number: int) -> Field:
    """Return a field in another type under the id `number`; those below it have the next ids.

    It keeps its name and whether it may be null, its metadata go. Raises SchemaRefused for one
    in a list.
    """
    by_id = {field.id: field for field in schema.flat()}
    above = held.parent_id
    while above != -1:
        if not pa.types.is_struct(by_id[above].arrow.type):
            raise SchemaRefused(f"nested column {held.name!r} cannot be cast")
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
