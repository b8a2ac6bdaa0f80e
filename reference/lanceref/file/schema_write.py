"""Schema, written: from an Arrow schema to field messages.

The counterpart of `schema`: fields get ids in depth-first order, types their strings, and the tree
becomes the flat list that data files, manifests and 0.1 files store.

Layout: see `schema`. A field is described by 2 name, 3 id, 4 parent_id, 5 logical_type, 6 nullable,
7 encoding, 9 extension_name, 10 metadata, 12-15 keys; 1 type stays 0.

Clauses: L.file.schema.parent-first, L.file.schema.unique-ids, L.file.schema.logical-type,
L.file.schema.top-level-names, L.file.schema.extension-name

Divergences: D.file.field-type-always-parent, D.file.top-level-parent-minus-one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from lanceref.core import logical_types as arrowtypes
from lanceref.core.errors import Place, SchemaRefused
from lanceref.core.extension_types import EXTENSION_KEY, storage_of
from lanceref.file.schema import Field, LanceSchema
from lanceref.proto import file_pb2

ID_KEY = "lance:field_id"
"""Field metadata that sets the id of a field; it is not stored."""

PRIMARY_KEY = "lance-schema:unenforced-primary-key"
CLUSTERING_KEY = "lance-schema:unenforced-clustering-key"

JSON = "lance.json"
"""Extension name of JSON columns as stored; text under `arrow.json` becomes it."""

_TRUE = ("true", "1", "yes")
_JSON_NAMES = (JSON, "arrow.json")
_NOWHERE = Place("schema", 0, 0)


def schema_of(arrow: pa.Schema) -> LanceSchema:
    """Return the schema with ids 0, 1, … in depth-first order.

    Raises SchemaRefused for names used twice or with a dot, ids used twice, a primary key that can
    be null, and a type the format does not have.
    """
    times = Counter(field.name for field in arrow)
    for name in times:
        if "\0" in name:
            raise SchemaRefused(f"field {name!r}: no name has a null byte")
        if "." in name:
            raise SchemaRefused(f"top-level field {name!r} cannot contain `.`")
        if times[name] > 1:
            raise SchemaRefused(f"duplicate field name {name!r} in schema")
    try:
        drafts = [_draft(field) for field in arrow]
    except UnicodeDecodeError as error:
        raise SchemaRefused(f"metadata is not valid utf8: {error}") from error
    taken = [draft.id for draft in drafts for draft in draft.flat() if draft.id >= 0]
    if len(set(taken)) < len(taken):
        raise SchemaRefused(f"duplicate field id in schema: {taken}")
    ids = iter(range(max(taken, default=-1) + 1, 2**31 - 1))
    fields = tuple(numbered(draft, -1, ids) for draft in drafts)
    for field in fields:
        _check_keys(field, nullable_above=False)
    metadata = {key.decode(): value.decode() for key, value in (arrow.metadata or {}).items()}
    return LanceSchema(fields, metadata)


def numbered(draft: Field, parent_id: int, ids: Iterator[int]) -> Field:
    """Return the field with an id of its own where it has none, and so for its children."""
    own = draft.id if draft.id >= 0 else next(ids)
    children = tuple(numbered(child, own, ids) for child in draft.children)
    return Field(
        name=draft.name,
        id=own,
        parent_id=parent_id,
        logical_type=draft.logical_type,
        nullable=draft.nullable,
        metadata=draft.metadata,
        children=children,
        arrow=draft.arrow,
    )


def _draft(arrow: pa.Field) -> Field:
    """Describe a field without an id (-1)."""
    type_, metadata = storage_of(arrow)
    own_id = _own_id(arrow.name, metadata.pop(ID_KEY, "-1"))
    children = tuple(_draft(child) for child in child_fields(type_))
    if metadata.get(EXTENSION_KEY) in _JSON_NAMES:
        if pa.types.is_string_view(type_):
            raise SchemaRefused(f"field {arrow.name!r}: JSON is no {type_}")
        metadata[EXTENSION_KEY] = JSON
        logical = "json"
    else:
        logical = _logical_type(arrow.name, type_)
    stored = arrowtypes.arrow_type(logical, [child.arrow for child in children], _NOWHERE)
    return Field(
        name=arrow.name,
        id=own_id,
        parent_id=-1,
        logical_type=logical,
        nullable=arrow.nullable,
        metadata=metadata,
        children=children,
        arrow=pa.field(arrow.name, stored, arrow.nullable, metadata or None),
    )


def _own_id(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise SchemaRefused(f"field {name!r}: {text!r} is no field id") from error


def _logical_type(name: str, type_: pa.DataType) -> str:
    """Return the string of a type, one that a reader understands. Raises SchemaRefused."""
    if pa.types.is_fixed_size_list(type_):
        item, extension = storage_of(type_.value_field)
        if type_.list_size == 0:
            raise SchemaRefused(
                f'Field "{name}" contains a FixedSizeList with dimension 0; dimension must be '
                "a positive integer"
            )
        if pa.types.is_fixed_size_list(item) and pa.types.is_struct(item.value_type):
            raise SchemaRefused(f"field {name!r}: unsupported data type {type_}")
        if extension.get(EXTENSION_KEY) == arrowtypes.BFLOAT16:
            return f"fixed_size_list:{arrowtypes.BFLOAT16}:{type_.list_size}"
        if pa.types.is_list(item) or pa.types.is_large_list(item) or pa.types.is_map(item):
            raise SchemaRefused(f"field {name!r}: unsupported data type {type_}")
        return f"fixed_size_list:{_logical_type(name, item)}:{type_.list_size}"
    if pa.types.is_dictionary(type_) and not _is_plain(_logical_type(name, type_.value_type)):
        raise SchemaRefused(f"field {name!r}: the name of {type_} does not parse back")
    if pa.types.is_map(type_) and type_.keys_sorted:
        raise SchemaRefused(f"unsupported map field {name!r}: keys_sorted=true is not supported")
    if pa.types.is_string_view(type_) or pa.types.is_binary_view(type_):
        return "string" if pa.types.is_string_view(type_) else "binary"
    try:
        return arrowtypes.logical_type(type_)
    except TypeError as error:
        raise SchemaRefused(f"field {name!r}: {error}") from error


def _is_plain(logical: str) -> bool:
    """Whether a type's name can stand inside another name: no parts, nothing below it."""
    return ":" not in logical and not logical.startswith(("struct", "list", "large_list", "map"))


def child_fields(type_: pa.DataType) -> list[pa.Field]:
    """Return the fields listed below a field of this type."""
    types = pa.types
    if types.is_struct(type_):
        return list(type_)
    if types.is_map(type_):
        entries = pa.struct([type_.key_field, type_.item_field])
        return [pa.field("entries", entries, nullable=False)]
    if types.is_list(type_) or types.is_large_list(type_):
        return [type_.value_field]
    if types.is_fixed_size_list(type_) and types.is_struct(type_.value_type):
        return [type_.value_field]
    return []


def _check_keys(field: Field, *, nullable_above: bool) -> None:
    """Refuse a primary key that can be null, itself or through what surrounds it."""
    nullable = nullable_above or field.nullable
    if _is_primary(field) and nullable:
        raise SchemaRefused(
            f"primary key column and all its ancestors must not be nullable: {field.name}"
        )
    for child in field.children:
        _check_keys(child, nullable_above=nullable)


def _is_primary(field: Field) -> bool:
    return (
        field.metadata.get(PRIMARY_KEY, "").lower() in _TRUE
        or f"{PRIMARY_KEY}:position" in field.metadata
    )


def schema_message(schema: LanceSchema) -> file_pb2.Schema:
    """Return the message of a schema."""
    return file_pb2.Schema(
        fields=[field_message(field) for field in schema.flat()],
        metadata={key: value.encode() for key, value in schema.metadata.items()},
    )


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
        unenforced_primary_key=_is_primary(field),
    )
    if field.dictionary is not None:
        message.dictionary.SetInParent()
        message.dictionary.offset, message.dictionary.length = field.dictionary
    for key, name in (
        (PRIMARY_KEY, "unenforced_primary_key_position"),
        (CLUSTERING_KEY, "unenforced_clustering_key_position"),
    ):
        position = field.metadata.get(f"{key}:position", "")
        if position.isascii() and position.isdigit():
            setattr(message, name, int(position))
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
