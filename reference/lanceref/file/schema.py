"""Schema: the field tree of a file or dataset, from an Arrow schema and as stored messages.

Fields get ids in depth-first order, and types their logical names. Data file (global buffer 0),
manifest and 0.1 file store the same flat list of `Field` messages in depth-first order; parents
come before children and are named by id.

Layout (message lance.file.Field): 2 name, 3 id, 4 parent_id (-1 at top level), 5 logical_type,
6 nullable, 7 encoding, 9 extension_name, 10 metadata, 12-15 keys; 1 type is always 0 and says
nothing.

Clauses: L.file.schema.unique-ids, L.file.schema.logical-type, L.file.schema.top-level-names,
L.file.schema.extension-name, L.file.schema.parent-first, L.file.schema.children

Divergences: D.file.field-type-always-parent, D.file.top-level-parent-minus-one,
D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import pyarrow as pa

from lanceref.core import logical_types as arrowtypes
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, NotFound, Place
from lanceref.core.logical_types import BFLOAT16, EXTENSION_KEY
from lanceref.proto import file_pb2

BLOB_EXTENSION = "lance.blob.v2"
"""Extension name of blobs that can lie outside of the data file."""

QUOTED = re.compile(r"`((?:[^`]|``)+)`(?:\.(?=.)|$)")
"""A name in backticks, and the point that follows it."""

DESCRIPTOR_METADATA = {"lance-encoding:blob": "true", "lance-encoding:packed": "true"}
"""Metadata of the descriptors of such blobs in a data file, and of the column a table shows."""

HIDDEN_IDS = (-3, -4, -5)
"""Ids of the hidden columns of a table's files: row id, created-at and last-updated version."""

ID_KEY = "lance:field_id"
"""Field metadata that sets the id of a field; it is not stored."""

PRIMARY_KEY = "lance-schema:unenforced-primary-key"

CLUSTERING_KEY = "lance-schema:unenforced-clustering-key"

JSON = "lance.json"
"""Extension name of JSON columns as stored; text under `arrow.json` becomes it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field and what lies below it; `arrow` is its Arrow field with metadata.

    `dictionary` says where a 0.1 table keeps the values of a dictionary: position, and how many.
    `packed` is the packed struct of which only some children are asked for: it is stored as one.
    """

    name: str
    id: int
    parent_id: int
    logical_type: str
    nullable: bool
    metadata: dict[str, str]
    children: tuple[Field, ...]
    arrow: pa.Field
    dictionary: tuple[int, int] | None = None
    packed: Field | None = None

    @property
    def is_packed(self) -> bool:
        """Whether the struct is stored as one column of rows (metadata `packed`)."""
        packed = self.metadata.get("packed", self.metadata.get("lance-encoding:packed", ""))
        return self.logical_type == "struct" and packed.lower() == "true"

    @property
    def is_blob(self) -> bool:
        """Whether the values are stored out of line (metadata `lance-encoding:blob`)."""
        return self.metadata.get("lance-encoding:blob", "").lower() == "true"

    @property
    def is_descriptor(self) -> bool:
        """Whether the values are descriptors of blobs, which are stored like any packed struct."""
        return self.is_blob and self.is_packed

    @property
    def is_blob_v2(self) -> bool:
        """Whether the field is one of a table whose file holds descriptors of blobs instead."""
        return self.metadata.get(EXTENSION_KEY) == BLOB_EXTENSION

    @property
    def is_extension(self) -> bool:
        """Whether the Arrow type of the field, or of its items, is an extension type."""
        return EXTENSION_KEY in self.metadata or BFLOAT16 in self.logical_type

    @property
    def is_leaf(self) -> bool:
        """Whether the field is stored whole in one column."""
        return self.is_packed or self.is_blob or self.is_blob_v2 or not self.children

    def flat(self) -> Iterator[Field]:
        """Yield the field and everything below it, depth first."""
        yield self
        for child in self.children:
            yield from child.flat()


@dataclass(frozen=True, slots=True)
class LanceSchema:
    """The top-level fields of a file or table, and the schema's metadata."""

    fields: tuple[Field, ...]
    metadata: dict[str, str] = dataclass_field(default_factory=dict)

    @property
    def arrow(self) -> pa.Schema:
        return pa.schema([f.arrow for f in self.fields], metadata=self.metadata or None)

    def flat(self) -> Iterator[Field]:
        for top in self.fields:
            yield from top.flat()


def is_primary(field: Field) -> bool:
    """Whether the field is part of the primary key."""
    is_key = field.metadata.get(PRIMARY_KEY, "").lower() in ("true", "1", "yes")
    return is_key or f"{PRIMARY_KEY}:position" in field.metadata


def project(schema: LanceSchema, names: Iterable[str]) -> tuple[Field, ...]:
    """Return the named fields in the order asked for; `a.b` keeps only `b` of struct `a`.

    A name with a point or other signs may be quoted in backticks.
    Raises NotFound for a name the schema does not have.
    """
    chosen: dict[str, list[str]] = {}
    top = {f.name: f for f in schema.fields}
    for name in names:
        first, rest = (name, "") if name in top else split_path(name)
        if first not in top:
            raise NotFound(
                f"Schema error: No field named {name}. Valid fields are {', '.join(top)}."
            )
        if not rest:
            chosen[first] = []
        elif first not in chosen or chosen[first]:
            chosen.setdefault(first, []).append(rest)
    return tuple(_prune(top[name], below) for name, below in chosen.items())


def split_path(path: str) -> tuple[str, str]:
    """Return the first name of a path and what follows its point.

    A name may be quoted in backticks, where one of its own is doubled; an unclosed quote is part of
    the name.
    """
    quoted = QUOTED.match(path)
    if quoted is None:
        first, _, rest = path.partition(".")
        return first, rest
    return quoted[1].replace("``", "`"), path[quoted.end() :]


def _prune(whole: Field, names: list[str]) -> Field:
    """Keep of a struct only the named children (all when no names are given)."""
    if not names:
        return whole
    if whole.logical_type != "struct":
        raise NotFound(f"{whole.name!r} is a {whole.logical_type} and has no field {names[0]!r}")
    kept = project(LanceSchema(whole.children), names)
    type_ = pa.struct([f.arrow for f in kept])
    packed = (whole.packed or whole) if whole.is_packed else None
    return replace(whole, children=kept, arrow=whole.arrow.with_type(type_), packed=packed)


def parse_schema(
    fields: Iterable[file_pb2.Field], metadata: dict[str, bytes], ctx: Context, place: Place
) -> LanceSchema:
    """Build the tree from the flat list; `place` is where the list lies. Raises BadSchema."""
    children: dict[int, list[file_pb2.Field]] = {-1: []}
    latest = -1
    for one in fields:
        if one.id == -1 and one.parent_id == -1:  # blob v2 descriptor: L.file.schema.unique-ids
            if latest != -1:
                children[latest].append(one)
            continue
        latest = one.id
        if one.parent_id not in children:
            clause, found = "L.file.schema.parent-first", f"parent {one.parent_id} of {one.name!r}"
            raise BadSchema(clause, place, found, "a parent listed before it, or -1")
        if one.id in children or (one.id < 0 and one.id not in HIDDEN_IDS):
            clause, found = "L.file.schema.unique-ids", f"id {one.id} of field {one.name!r}"
            raise BadSchema(clause, place, found, "an id of its own, 0 or more")
        children[one.id] = []
        children[one.parent_id].append(one)
    roots: list[Field] = []
    seen: set[str] = set()
    for message in children[-1]:
        roots.append(_build(message, children, ctx, place, 0))
    for top in roots:
        if top.name in seen or "." in top.name:
            clause, wanted = "L.file.schema.top-level-names", "a name used once, without a dot"
            ctx.refuse(BadSchema(clause, place, repr(top.name), wanted))
        seen.add(top.name)
    return LanceSchema(tuple(roots), {key: _text(value) for key, value in metadata.items()})


def _build(
    message: file_pb2.Field,
    children: dict[int, list[file_pb2.Field]],
    ctx: Context,
    place: Place,
    depth: int,
) -> Field:
    if depth > ctx.limits.depth:
        clause, wanted = "L.file.schema.children", f"{ctx.limits.depth} levels"
        raise BadSchema(clause, place, "deeper nesting", wanted)
    # the fields of a blob descriptor have no id of their own
    listed = children[message.id] if message.id != -1 else []
    below: list[Field] = []
    for child in listed:
        below.append(_build(child, children, ctx, place, depth + 1))
    metadata = {key: _text(value) for key, value in message.metadata.items()}
    extension, named = message.extension_name, metadata.get(EXTENSION_KEY, "")
    if extension != named:
        ctx.lint("L.file.schema.extension-name", place, extension, repr(named))
        if extension:
            metadata[EXTENSION_KEY] = extension
    arrow = arrowtypes.arrow_type(message.logical_type, [f.arrow for f in below], place)
    values = message.dictionary
    return Field(
        name=message.name,
        id=message.id,
        parent_id=message.parent_id,
        logical_type=message.logical_type,
        nullable=message.nullable,
        metadata=metadata,
        children=tuple(below),
        arrow=pa.field(message.name, arrow, message.nullable, metadata or None),
        dictionary=(values.offset, values.length) if message.HasField("dictionary") else None,
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


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
