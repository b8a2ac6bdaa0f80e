"""Schema, written: the fields of an Arrow schema, their messages, and rows in their form.

Fields get ids in depth-first order; a field may bring its own in its metadata. What the format
cannot store is refused here, before anything is written.

Arrow has more forms of some values than pages have (views of strings, extension types around their
storage, json as text): rows are brought into the one form of the field's stored type; everything
else stays as it is, bytes below nulls too.

Clauses: L.file.schema.unique-ids, L.file.schema.logical-type, L.file.schema.top-level-names,
L.file.schema.extension-name, L.json.column
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from lanceref.core.arrow_buffers import whole
from lanceref.core.errors import DataRefused, Place, SchemaRefused
from lanceref.file.schema import (
    BFLOAT16,
    EXTENSION_KEY,
    JSON,
    SIMPLE,
    Field,
    LanceSchema,
    arrow_type,
)
from lanceref.file.schema_view import mapped, storage_of
from lanceref.json.jsonb import documents
from lanceref.proto import file_pb2

MOST_IDS = 1 << 31
"""Ids of fields are below: an int32 holds them."""


def schema_of(arrow: pa.Schema) -> LanceSchema:
    """Return the schema with ids 0, 1, … in depth-first order.

    Raises SchemaRefused for names used twice or with a dot, ids used twice or too large, a primary
    key that can be null, and a type the format does not have.
    """
    for name, times in Counter(field.name for field in arrow).items():
        if "\0" in name:
            raise SchemaRefused(f"field {name!r}: no name has a null byte")
        if "." in name:
            raise SchemaRefused(f"top-level field {name!r} cannot contain `.`")
        if times > 1:
            raise SchemaRefused(f"duplicate field name {name!r} in schema")
    try:
        drafts = [_draft(field) for field in arrow]
    except UnicodeDecodeError as error:
        raise SchemaRefused(f"metadata is not valid utf8: {error}") from error
    taken = [draft.id for draft in drafts for draft in draft.flat() if draft.id >= 0]
    if len(set(taken)) < len(taken):
        raise SchemaRefused(f"duplicate field id in schema: {taken}")
    first = max(taken, default=-1) + 1
    without = sum(draft.id < 0 for top in drafts for draft in top.flat())
    if first + without > MOST_IDS:
        raise SchemaRefused(f"{without} fields without an id after {first - 1}: ids have 31 bits")
    ids = iter(range(first, first + without))
    fields = tuple(numbered(draft, -1, ids) for draft in drafts)
    for top in fields:
        _check_keys(top, nullable_above=False)
    metadata = {key.decode(): value.decode() for key, value in (arrow.metadata or {}).items()}
    return LanceSchema(fields, metadata)


def numbered(draft: Field, parent_id: int, ids: Iterator[int]) -> Field:
    """Return the field with an id of its own where it has none, and so for its children."""
    own = draft.id if draft.id >= 0 else next(ids)
    children = tuple(numbered(child, own, ids) for child in draft.children)
    return replace(draft, id=own, parent_id=parent_id, children=children)


def _draft(arrow: pa.Field) -> Field:
    """Describe a field without an id (-1)."""
    type_, metadata = storage_of(arrow)
    text = metadata.pop(ID_KEY, "-1")
    try:
        own_id = int(text)
    except ValueError as error:
        raise SchemaRefused(f"field {arrow.name!r}: {text!r} is no field id") from error
    children = tuple(_draft(child) for child in _child_fields(type_))
    if metadata.get(EXTENSION_KEY) in (JSON, "arrow.json"):
        if pa.types.is_string_view(type_):
            raise SchemaRefused(f"field {arrow.name!r}: JSON is no {type_}")
        metadata[EXTENSION_KEY] = JSON
        logical = "json"
    else:
        logical = _logical_type(arrow.name, type_)
    stored = arrow_type(logical, [child.arrow for child in children], Place("schema", 0))
    own = pa.field(arrow.name, stored, arrow.nullable, metadata or None)
    return Field(arrow.name, own_id, -1, logical, arrow.nullable, metadata, children, own)


def _logical_type(name: str, type_: pa.DataType) -> str:
    """Return the string of a type, one that a reader understands. Raises SchemaRefused."""
    types = pa.types
    if types.is_fixed_size_list(type_):
        item, extension = storage_of(type_.value_field)
        if type_.list_size == 0:
            raise SchemaRefused(
                f'Field "{name}" contains a FixedSizeList with dimension 0; dimension must be '
                "a positive integer"
            )
        of_structs = types.is_fixed_size_list(item) and types.is_struct(item.value_type)
        if not of_structs and extension.get(EXTENSION_KEY) == BFLOAT16:
            return f"fixed_size_list:{BFLOAT16}:{type_.list_size}"
        if of_structs or types.is_list(item) or types.is_large_list(item) or types.is_map(item):
            raise SchemaRefused(f"field {name!r}: unsupported data type {type_}")
        return f"fixed_size_list:{_logical_type(name, item)}:{type_.list_size}"
    if types.is_dictionary(type_):  # its name holds that of its values
        value = _logical_type(name, type_.value_type)
        if ":" in value or value.startswith(("struct", "list", "large_list", "map")):
            raise SchemaRefused(f"field {name!r}: the name of {type_} does not parse back")
    if types.is_map(type_) and type_.keys_sorted:
        raise SchemaRefused(f"unsupported map field {name!r}: keys_sorted=true is not supported")
    if types.is_string_view(type_) or types.is_binary_view(type_):
        return "string" if types.is_string_view(type_) else "binary"
    try:
        return logical_type(type_)
    except TypeError as error:
        raise SchemaRefused(f"field {name!r}: {error}") from error


def _child_fields(type_: pa.DataType) -> list[pa.Field]:
    """Return the fields listed below a field of this type."""
    types = pa.types
    if types.is_struct(type_):
        return list(type_)
    if types.is_map(type_):
        entries = pa.struct([type_.key_field, type_.item_field])
        return [pa.field("entries", entries, nullable=False)]
    of_structs = types.is_fixed_size_list(type_) and types.is_struct(type_.value_type)
    if types.is_list(type_) or types.is_large_list(type_) or of_structs:
        return [type_.value_field]
    return []


def _check_keys(field: Field, *, nullable_above: bool) -> None:
    """Refuse a primary key that can be null, itself or through what surrounds it."""
    nullable = nullable_above or field.nullable
    if is_primary(field) and nullable:
        raise SchemaRefused(
            f"primary key column and all its ancestors must not be nullable: {field.name}"
        )
    for child in field.children:
        _check_keys(child, nullable_above=nullable)


NAMES: dict[pa.DataType, str] = {
    arrow: name for name, arrow in reversed(SIMPLE.items()) if name != "json"
}
"""Names of types without a parameter."""


def logical_type(arrow: pa.DataType) -> str:
    """Return the string that names `arrow`. Raises TypeError for a type without one."""
    if arrow in NAMES:
        return NAMES[arrow]
    types = pa.types
    if types.is_struct(arrow):
        return "struct"
    if types.is_map(arrow):
        return "map"
    if types.is_list(arrow) or types.is_large_list(arrow):
        kind = "list" if types.is_list(arrow) else "large_list"
        return kind + ".struct" if types.is_struct(arrow.value_type) else kind
    if types.is_fixed_size_list(arrow):
        return f"fixed_size_list:{logical_type(arrow.value_type)}:{arrow.list_size}"
    if types.is_fixed_size_binary(arrow):
        return f"fixed_size_binary:{arrow.byte_width}"
    if types.is_decimal128(arrow) or types.is_decimal256(arrow):
        return f"decimal:{arrow.bit_width}:{arrow.precision}:{arrow.scale}"
    if types.is_timestamp(arrow):
        return f"timestamp:{arrow.unit}:{arrow.tz or '-'}"
    if types.is_dictionary(arrow):
        return f"dict:{logical_type(arrow.value_type)}:{logical_type(arrow.index_type)}:false"
    raise TypeError(f"the format has no logical type for {arrow}")


CLUSTERING_KEY = "lance-schema:unenforced-clustering-key"


def schema_message(schema: LanceSchema) -> file_pb2.Schema:
    """Return a schema as the protobuf message that files store."""
    metadata = {key: value.encode() for key, value in schema.metadata.items()}
    return file_pb2.Schema(fields=map(field_message, schema.flat()), metadata=metadata)


def field_message(field: Field) -> file_pb2.Field:
    """Return the message of one field, without its children."""
    message = file_pb2.Field(
        name=field.name,
        id=field.id,
        parent_id=field.parent_id,
        logical_type=field.logical_type,
        nullable=field.nullable,
        encoding=storage_encoding(field.logical_type),  # type: ignore[arg-type]
        extension_name=field.metadata.get(EXTENSION_KEY, ""),
        metadata={key: value.encode() for key, value in field.metadata.items()},
        unenforced_primary_key=is_primary(field),
    )
    if field.dictionary is not None:
        message.dictionary.SetInParent()
        message.dictionary.offset, message.dictionary.length = field.dictionary
    for key, name in ((PRIMARY_KEY, "primary"), (CLUSTERING_KEY, "clustering")):
        position = field.metadata.get(f"{key}:position", "")
        if position.isascii() and position.isdigit():
            setattr(message, f"unenforced_{name}_key_position", int(position))
    return message


def storage_encoding(logical: str) -> int:
    """Return the 0.1 encoding that a field's message names in every version."""
    if logical in ("null", "struct"):
        return file_pb2.Encoding.NONE
    if logical.startswith("dict:"):
        return file_pb2.Encoding.DICTIONARY
    if logical in ("string", "large_string", "binary", "large_binary", "json"):
        return file_pb2.Encoding.VAR_BINARY
    return file_pb2.Encoding.PLAIN


ID_KEY = "lance:field_id"
"""Field metadata that sets the id of a field; it is not stored."""

PRIMARY_KEY = "lance-schema:unenforced-primary-key"


def is_primary(field: Field) -> bool:
    """Whether the field is part of the primary key."""
    is_key = field.metadata.get(PRIMARY_KEY, "").lower() in ("true", "1", "yes")
    return is_key or f"{PRIMARY_KEY}:position" in field.metadata


TEXTS = (pa.string(), pa.large_string(), pa.string_view())
VIEWS = (pa.string_view(), pa.binary_view())


def stored_form(array: pa.Array, field: Field) -> pa.Array:
    """Return the rows of a field as its storage type. Raises DataRefused for text not json."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not _is_other(array.type, field):
        return array
    if field.logical_type == "json":
        return documents(array.cast(pa.large_string()))
    if array.type in VIEWS:
        return array.cast(field.arrow.type)
    return mapped(array, field.arrow.type, lambda i, below: stored_form(below, field.children[i]))


def _is_other(type_: pa.DataType, field: Field) -> bool:
    """Whether something in the type is not in its stored form."""
    if isinstance(type_, pa.BaseExtensionType) or type_ in VIEWS:
        return True
    if field.logical_type == "json":
        return type_ in TEXTS
    below = [type_.field(number).type for number in range(type_.num_fields)]
    return bool(field.children) and any(map(_is_other, below, field.children))


def column_of(batch: pa.RecordBatch, field: Field, *, null_structs: bool = True) -> pa.Array:
    """Return the batch's column for a field, as its storage type. Raises DataRefused.

    Where structs can be null, what lies below a null one is no null of its fields.
    """
    index = batch.schema.get_field_index(field.name)
    if index < 0:
        raise DataRefused(f"Cannot write batch.  The batch was missing the column `{field.name}`")
    given = batch.column(index)
    if not _same_storage(batch.schema.field(index), field):
        expected = f"expected {field.arrow.type}, got {given.type}"
        raise DataRefused(f"field `{field.name}` does not match the file schema: {expected}")
    array = stored_form(given, field)
    _check_nulls(field, array, null_structs=null_structs)
    return array


def _same_storage(found: pa.Field, wanted: Field) -> bool:
    """Whether arrays of an Arrow field are stored as the field says, whatever its keys."""
    if found.equals(wanted.arrow, check_metadata=True):
        return True
    metadata = {k: v for k, v in (found.metadata or {}).items() if not k.startswith(b"lance-")}
    fields = schema_of(pa.schema([pa.field(wanted.name, found.type, metadata=metadata)])).flat()
    described = [(field.name, field.logical_type) for field in fields]
    return described == [(field.name, field.logical_type) for field in wanted.flat()]


def refuse_nulls(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch. Raises DataRefused for nulls in a column that is stated to have none."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not field.nullable and column.null_count:
            told = "is declared as non-nullable but contains null values"
            raise DataRefused(f"Column '{field.name}' {told}")
    return batch


def _check_nulls(field: Field, array: pa.Array, *, null_structs: bool) -> None:
    """Raise DataRefused for nulls in a field without nulls."""
    if not field.nullable and array.null_count:
        marked = "even though the field is marked non-null in the schema"
        raise DataRefused(f"the field `{field.name}` contained null values {marked}")
    if field.logical_type == "struct":
        held = whole(array).filter(array.is_valid()) if null_structs and array.null_count else array
        for i, child in enumerate(field.children):
            _check_nulls(child, held.field(i), null_structs=null_structs)
    elif field.children:
        _check_nulls(field.children[0], array.values, null_structs=null_structs)
