"""Columns added, dropped, renamed, relaxed or cast: the transaction of each such change.

New columns go to files of their own beside those of each fragment (a Merge); dropping and renaming
change the schema only (a Project). A cast column is a new one under new ids, and the old one leaves
the schema. Fields are named by paths, at any depth.

Clauses: L.txn.op.merge, L.txn.op.project, L.file.schema.top-level-names
Divergences: D.table.nested-cast-2-0
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

import pyarrow as pa

from lanceref.core.arrow_buffers import decoded, encoded
from lanceref.core.compute import pc
from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.arrow_schema import field_message, schema_of
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import mapped, split_path
from lanceref.index.training import BINARY, TEXT, is_any
from lanceref.operations import new_data
from lanceref.operations.new_data import Batches, ColumnSource, numbered_fields
from lanceref.operations.update import as_column
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling, with_children
from lanceref.table.rows import FragmentRows
from lanceref.transactions.fragment_operations import drop_unused_files
from lanceref.transactions.manifest_builder import Staged, copy_of, storage_version_of
from lanceref.transactions.transaction import new_transaction

types = pa.types


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


def _by_id(schema: LanceSchema, number: int) -> Field:
    return next(field for field in schema.flat() if field.id == number)


def replace_field(schema: LanceSchema, number: int, new: Field) -> LanceSchema:
    """Return the schema with `new` in place of the field with an id."""

    def visit(field: Field) -> Field:
        if field.id == number:
            return new
        return with_children(field, tuple(map(visit, field.children)))

    return replace(schema, fields=tuple(map(visit, schema.fields)))


def keep_fields(schema: LanceSchema, ids: Collection[int]) -> LanceSchema:
    """Return the schema with nothing but some fields, by their ids, and those above them."""

    def visit(field: Field) -> Field | None:
        if field.id in ids:
            return field
        children = tuple(filter(None, map(visit, field.children)))
        return with_children(field, children) if children else None

    return LanceSchema(tuple(filter(None, map(visit, schema.fields))))


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
        remaining = {one.id for one in schema.flat() if not one.children and one.id not in gone}
        schema = replace(keep_fields(schema, remaining), metadata=schema.metadata)
    if not schema.fields:
        raise SchemaRefused("Cannot drop all columns from a dataset")
    return schema


FAMILIES = (("integer",), ("floating",), ("boolean",), ("temporal",), TEXT, BINARY, ("decimal",))
"""Kinds of types that can be cast to each other, some dates, times and durations apart."""

LISTS = ("list", "large_list", "fixed_size_list")


def check_cast(path: str, stored: pa.DataType, wanted: pa.DataType) -> None:
    """Raise SchemaRefused for a cast to another kind of values; dictionaries are their values."""
    pair = (stored, wanted)
    values, target = (one.value_type if types.is_dictionary(one) else one for one in pair)

    def both(kinds: Sequence[str]) -> bool:
        return is_any(values, *kinds) and is_any(target, *kinds)

    if both(LISTS):
        check_cast("item", values.value_type, target.value_type)
    elif not any(map(both, FAMILIES)):
        raise SchemaRefused(
            f'Invalid user input: Cannot cast column "{path}" from {type_name(stored)} to '
            f"{type_name(wanted)}"
        )


def cast_values(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return values in another type. Raises SchemaRefused for the first that does not fit."""
    try:
        return _cast_all(values, wanted)
    except pa.ArrowNotImplementedError as error:
        text = f"Casting from {type_name(values.type)} to {type_name(wanted)} not supported"
        raise SchemaRefused(f"Cast error: {text}") from error
    except pa.ArrowInvalid as error:
        for one in values:
            try:
                _cast_all(pa.array([one], values.type), wanted)
            except pa.ArrowInvalid:
                text = f"Can't cast value {one} to type {type_name(wanted)}"
                raise SchemaRefused(f"Cast error: {text}") from error
        raise SchemaRefused("Dictionary key bigger than the key type") from error


def _cast_all(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return values in another type; moments get a coarser unit, and a zone by their local time."""
    values = decoded(values)
    of_booleans = types.is_dictionary(wanted) and types.is_boolean(wanted.value_type)
    if types.is_dictionary(wanted) and not of_booleans:  # as the oracle, which has no cast to such
        return encoded(_cast_all(values, wanted.value_type), wanted)
    if not types.is_temporal(values.type):
        return as_column(values, wanted)
    is_local = types.is_timestamp(wanted) and wanted.tz and not getattr(values.type, "tz", None)
    target = pa.timestamp(wanted.unit) if is_local else wanted
    if types.is_date64(wanted) and types.is_timestamp(values.type):
        target = pa.timestamp("ms")  # the time of the day stays
    moments = pc.cast(values, options=pc.CastOptions(target, allow_time_truncate=True))
    return pc.assume_timezone(moments, wanted.tz) if is_local else moments.view(wanted)


def type_name(type_: pa.DataType) -> str:
    """Return the name that errors give a type."""
    known = {"string": "Utf8", "large_string": "LargeUtf8", "float": "Float32", "double": "Float64"}
    text = str(type_)
    if text.startswith("uint"):
        return f"UInt{text.removeprefix('uint')}"
    return known.get(text) or f"{text[:1].upper()}{text[1:]}"


def cast_field(schema: LanceSchema, field: Field, type_: pa.DataType, number: int) -> Field:
    """Return a field in another type under the id `number`; those below it have the next ids.

    It keeps its name and whether it may be null, its metadata go. Raises SchemaRefused for one
    in a map.
    """
    by_id = {one.id: one for one in schema.flat()}
    above = field.parent_id
    while above != -1:
        if types.is_map(by_id[above].arrow.type):
            raise SchemaRefused(f"nested column {field.name!r} cannot be cast")
        above = by_id[above].parent_id
    (new,) = schema_of(pa.schema([pa.field(field.name, type_, field.nullable)])).fields
    (numbered,) = numbered_fields([new], number)
    return replace(numbered, parent_id=field.parent_id)


def ids_of(field: Field) -> set[int]:
    """Return the ids of a field and all below it."""
    return {one.id for one in field.flat()}


def cast_within(values: pa.Array, field: Field, wanted: Field, ids: Collection[int]) -> pa.Array:
    """Return what is cast, the fields with the `ids`, of the values of a field, where it was.

    `wanted` is the field with nothing but that. Structs and lists are null where they were.
    """
    if field.id in ids:
        return cast_values(values, wanted.arrow.type)
    if not types.is_struct(values.type):
        (item,), (other,) = field.children, wanted.children
        type_ = wanted.arrow.type
        return mapped(values, type_, lambda _, below: cast_within(below, item, other, ids))
    chosen = [n for n, child in enumerate(field.children) if not ids_of(child).isdisjoint(ids)]
    pairs = zip(chosen, wanted.children, strict=True)
    arrays = [cast_within(values.field(n), field.children[n], child, ids) for n, child in pairs]
    fields = [child.arrow for child in wanted.children]
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=values.is_null())


class AlterColumn(TypedDict, total=False):
    """What is to become of the column at a path."""

    path: str
    name: str | None
    nullable: bool | None
    data_type: pa.DataType | None


def add_columns(snapshot: Snapshot, source: ColumnSource, draft: Draft) -> Staged:
    """Write the values of new columns. Raises SchemaRefused for a name that is taken."""
    fields = new_data.new_fields(snapshot, source.schema)
    written = [rows.fragment.message for rows in snapshot.fragments]
    if fields:
        written = new_data.write_columns(snapshot, LanceSchema(fields), source.rows_of, draft)
    return _merged(snapshot, _extended_schema(snapshot, fields), fields, written, draft)


def add_null_columns(snapshot: Snapshot, fields: Iterable[pa.Field]) -> Staged:
    """Add columns without any value, which need no file. Raises SchemaRefused."""
    if storage_version_of(snapshot.manifest.message) == V0_1:
        raise SchemaRefused("Cannot add all-null columns to legacy dataset version.")
    schema = pa.schema(fields)
    for one in schema:
        if not one.nullable:
            raise SchemaRefused(f"All-null columns must be nullable: '{one.name}'")
    fragments = [rows.fragment.message for rows in snapshot.fragments]
    new = new_data.new_fields(snapshot, schema)
    return _merged(snapshot, _extended_schema(snapshot, new), new, fragments, Draft())


def drop_columns(snapshot: Snapshot, paths: Collection[str]) -> Staged:
    """Drop columns, nested ones by path. Raises SchemaRefused."""
    return _projected(snapshot, drop_fields(snapshot.manifest.schema, paths))


def alter_columns(
    snapshot: Snapshot,
    alterations: Sequence[AlterColumn],
    has_nulls: Callable[[str], bool],
    draft: Draft,
) -> Staged:
    """Rename columns, let them be null or not, cast them; `has_nulls` looks at one, by its path.

    Raises SchemaRefused, ValueError for an alteration that says nothing.
    """
    known = schema = snapshot.manifest.schema
    casts: dict[int, pa.DataType] = {}
    tightened = []
    for one in alterations:
        path, field = _altered_field(known, one)
        nullable, wanted = one.get("nullable"), one.get("data_type")
        new = _altered(_by_id(schema, field.id), one.get("name"), nullable)
        schema = replace_field(schema, field.id, new)
        tightened += [path] if field.nullable and nullable is False else []
        if wanted is not None:
            check_cast(path, field.arrow.type, wanted)
            casts[field.id] = wanted
    schema_of(pa.schema([one.arrow for one in schema.fields]))  # no two columns have one name
    for path in tightened:
        if has_nulls(path):
            raise SchemaRefused(f"Column {path} contains NULL values")
    if casts and tightened:
        raise SchemaRefused("cannot make non-nullable and cast in the same call")
    if not casts:
        return _projected(snapshot, schema)
    indexed = [one for one in snapshot.manifest.indices if casts.keys() & set(one.fields)]
    if indexed:  # they would find other values
        names = sorted({one.name for one in indexed})
        raise SchemaRefused(f"Cannot cast column(s): drop their index(es) {names} before")
    return _cast(snapshot, schema, casts, draft)


def _altered_field(known: LanceSchema, one: AlterColumn) -> tuple[str, Field]:
    """Return the path and the field of an alteration. Raises SchemaRefused, ValueError."""
    for key in one.keys() - AlterColumn.__annotations__.keys():
        raise ValueError(f"Unknown key: {key}")
    path = one.get("path")
    if path is None:
        raise ValueError("path is required")
    if not any(one.get(key) is not None for key in ("name", "nullable", "data_type")):
        raise ValueError("At least one of name, nullable, or data_type must be specified")
    field = find_field(known, path)
    if field is None:
        raise SchemaRefused(f'Column "{path}" does not exist in the dataset')
    return path, field


def _altered(field: Field, name: str | None, nullable: bool | None) -> Field:
    """Return a field with another name, null or not; None: as it is."""
    new = field.name if name is None else name
    may = field.nullable if nullable is None else nullable
    arrow = field.arrow.with_name(new).with_nullable(may)
    return replace(field, name=new, nullable=may, arrow=arrow)


def _cast(
    snapshot: Snapshot, schema: LanceSchema, casts: Mapping[int, pa.DataType], draft: Draft
) -> Staged:
    """Write columns in other types, under new ids; the old ones leave the schema."""
    old, number = snapshot.schema(BlobHandling.BYTES), new_data.next_field_id(snapshot)
    version, made_ids = storage_version_of(snapshot.manifest.message), set[int]()
    for field_id, type_ in casts.items():
        field = _by_id(schema, field_id)
        if field.parent_id != -1 and version in (V0_1, V2_0):
            raise SchemaRefused(f"nested column {field.name!r} cannot be cast in {version}")
        new_field = cast_field(schema, field, type_, number)
        number += len(list(new_field.flat()))
        made_ids.add(new_field.id)
        schema = replace_field(schema, field_id, new_field)
    new = keep_fields(schema, made_ids)
    tops = [one for one in old.fields if not casts.keys().isdisjoint(ids_of(one))]
    projection = scan_projection(old, [one.name for one in tops])

    def rows_of(rows: FragmentRows) -> Batches:
        for batch in new_data.live_rows(snapshot, rows, projection):
            each = zip(batch.columns, tops, new.fields, strict=True)
            arrays = [cast_within(column, top, one, casts) for column, top, one in each]
            yield pa.RecordBatch.from_arrays(arrays, names=[one.name for one in new.fields])

    written = new_data.write_columns(snapshot, new, rows_of, draft)
    return _merged(snapshot, schema, new.fields, written, draft)


def _extended_schema(snapshot: Snapshot, fields: tuple[Field, ...]) -> LanceSchema:
    schema = snapshot.manifest.schema
    return replace(schema, fields=(*schema.fields, *fields))


def _preserves_nullability(
    snapshot: Snapshot, schema: LanceSchema, written: Iterable[Field] = ()
) -> bool:
    """Whether no field loses its nulls, and those written are nullable, down to the new ones."""
    before = {one.id: one.nullable for one in snapshot.manifest.schema.flat()}

    def nullable(field: Field) -> bool:
        return field.nullable and (field.id not in before or all(map(nullable, field.children)))

    lost = any(before.get(one.id) and not one.nullable for one in schema.flat())
    return not lost and all(map(nullable, written))


def _merged(
    snapshot: Snapshot,
    schema: LanceSchema,
    written: Iterable[Field],
    fragments: Sequence[table_pb2.DataFragment],
    draft: Draft,
) -> Staged:
    """Return a Merge: fragments without the files of which no field is left."""
    live = {one.id for one in schema.flat()}
    transaction = new_transaction(snapshot.manifest.version)
    transaction.merge.schema.extend(field_message(one) for one in schema.flat())
    transaction.merge.preserves_nullability = _preserves_nullability(snapshot, schema, written)
    for fragment in fragments:
        copy = copy_of(fragment)
        drop_unused_files(copy, live)
        transaction.merge.fragments.append(copy)
    return Staged(transaction, draft=draft)


def _projected(snapshot: Snapshot, schema: LanceSchema) -> Staged:
    """Return a Project: another schema over the same files."""
    transaction = new_transaction(snapshot.manifest.version)
    transaction.project.preserves_nullability = _preserves_nullability(snapshot, schema)
    transaction.project.schema.extend(field_message(one) for one in schema.flat())
    return Staged(transaction)
