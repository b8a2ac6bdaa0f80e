"""Schema messages: the flat list of fields that stores a schema, parsed and written.

Data file (global buffer 0), manifest and 0.1 file store the same flat list of `Field` messages in
depth-first order; parents come before children and are named by id.

Layout (message lance.file.Field): 2 name, 3 id, 4 parent_id (-1 at top level), 5 logical_type,
6 nullable, 7 encoding, 9 extension_name, 10 metadata, 12-15 keys; 1 type is always 0 and says
nothing.

Clauses: L.file.schema.parent-first, L.file.schema.unique-ids, L.file.schema.logical-type,
L.file.schema.children, L.file.schema.top-level-names, L.file.schema.extension-name

Divergences: D.file.field-type-always-parent, D.file.top-level-parent-minus-one,
D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from lanceref.core import logical_types as arrowtypes
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, Place
from lanceref.core.logical_types import EXTENSION_KEY
from lanceref.file.schema import (
    CLUSTERING_KEY,
    HIDDEN_IDS,
    PRIMARY_KEY,
    Field,
    LanceSchema,
    is_primary,
)
from lanceref.proto import file_pb2


def parse_schema(
    fields: Iterable[file_pb2.Field], metadata: dict[str, bytes], ctx: Context, place: Place
) -> LanceSchema:
    """Build the tree from the flat list; `place` is where the list lies. Raises BadSchema."""
    listed = list(fields)
    children: dict[int, list[file_pb2.Field]] = {-1: []}
    latest = -1
    for one in listed:
        if one.id == -1 and one.parent_id == -1:  # blob v2 descriptor: L.file.schema.unique-ids
            if latest != -1:
                children[latest].append(one)
            continue
        latest = one.id
        if one.parent_id not in children:
            raise BadSchema(
                "L.file.schema.parent-first",
                place,
                found=f"field {one.name!r} with parent {one.parent_id}",
                wanted="a parent listed before it, or -1",
            )
        if one.id in children or (one.id < 0 and one.id not in HIDDEN_IDS):
            raise BadSchema(
                "L.file.schema.unique-ids",
                place,
                found=f"id {one.id} of field {one.name!r}",
                wanted="an id of its own, 0 or more (hidden columns: -3 to -5)",
            )
        children[one.id] = []
        children[one.parent_id].append(one)
    roots = tuple(_build(top, children, ctx, place, 0) for top in children[-1])
    _check_names(roots, ctx, place)
    return LanceSchema(roots, {key: _text(value) for key, value in metadata.items()})


def _build(
    message: file_pb2.Field,
    children: dict[int, list[file_pb2.Field]],
    ctx: Context,
    place: Place,
    depth: int,
) -> Field:
    if depth > ctx.limits.depth:
        raise BadSchema(
            "L.file.schema.children",
            place,
            found="deeper nesting",
            wanted=f"{ctx.limits.depth} levels",
        )
    below = tuple(
        _build(child, children, ctx, place, depth + 1) for child in _below(message, children)
    )
    metadata = {key: _text(value) for key, value in message.metadata.items()}
    named = metadata.get(EXTENSION_KEY, "")
    if message.extension_name != named:
        ctx.lint(
            "L.file.schema.extension-name", place, found=message.extension_name, wanted=repr(named)
        )
        if message.extension_name:
            metadata[EXTENSION_KEY] = message.extension_name
    arrow = arrowtypes.arrow_type(message.logical_type, [f.arrow for f in below], place)
    return Field(
        name=message.name,
        id=message.id,
        parent_id=message.parent_id,
        logical_type=message.logical_type,
        nullable=message.nullable,
        metadata=metadata,
        children=below,
        arrow=pa.field(message.name, arrow, message.nullable, metadata or None),
        dictionary=_values(message),
    )


def _values(message: file_pb2.Field) -> tuple[int, int] | None:
    if not message.HasField("dictionary"):
        return None
    return message.dictionary.offset, message.dictionary.length


def _below(
    message: file_pb2.Field, children: dict[int, list[file_pb2.Field]]
) -> list[file_pb2.Field]:
    """Return the children of a field; those of a blob descriptor have no id of their own."""
    return children[message.id] if message.id != -1 else []


def _check_names(roots: tuple[Field, ...], ctx: Context, place: Place) -> None:
    seen: set[str] = set()
    for top in roots:
        if top.name in seen or "." in top.name:
            ctx.refuse(
                BadSchema(
                    "L.file.schema.top-level-names",
                    place,
                    found=repr(top.name),
                    wanted="a name used once and without a dot",
                )
            )
        seen.add(top.name)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


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
        unenforced_primary_key=is_primary(field),
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
