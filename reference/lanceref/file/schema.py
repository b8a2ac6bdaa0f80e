"""Schema: the field tree of a file or dataset, and how it comes from an Arrow schema.

Fields get ids in depth-first order and types their strings; `schema_messages` parses and writes the
flat list of messages in which data files, manifests and 0.1 files store the tree.

Clauses: L.file.schema.unique-ids, L.file.schema.logical-type, L.file.schema.top-level-names,
L.file.schema.extension-name
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from lanceref.core import logical_types as arrowtypes
from lanceref.core.errors import NotFound, Place, SchemaRefused
from lanceref.core.logical_types import EXTENSION_KEY, storage_of

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

_TRUE = ("true", "1", "yes")

_JSON_NAMES = (JSON, "arrow.json")

_NOWHERE = Place("schema", 0, 0)


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
    """Top-level fields and schema metadata."""

    fields: tuple[Field, ...]
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema."""
        return pa.schema([f.arrow for f in self.fields], metadata=self.metadata or None)

    def to_pyarrow(self) -> pa.Schema:
        """Return the Arrow schema."""
        return self.arrow

    @staticmethod
    def from_pyarrow(schema: pa.Schema) -> LanceSchema:
        """Return the schema with ids from 0 on, depth first. Raises SchemaRefused."""
        return schema_of(schema)

    def flat(self) -> Iterator[Field]:
        """Yield every field, depth first."""
        for top in self.fields:
            yield from top.flat()


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
    for top in fields:
        _check_keys(top, nullable_above=False)
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
    if is_primary(field) and nullable:
        raise SchemaRefused(
            f"primary key column and all its ancestors must not be nullable: {field.name}"
        )
    for child in field.children:
        _check_keys(child, nullable_above=nullable)


def is_primary(field: Field) -> bool:
    return (
        field.metadata.get(PRIMARY_KEY, "").lower() in _TRUE
        or f"{PRIMARY_KEY}:position" in field.metadata
    )


def project(schema: LanceSchema, names: Iterable[str]) -> tuple[Field, ...]:
    """Return the named fields in the order asked for; `a.b` keeps only `b` of struct `a`.

    A name with a point or other signs may stand in backticks.
    Raises NotFound for a name the schema does not have.
    """
    chosen: dict[str, list[str]] = {}
    top = {f.name: f for f in schema.fields}
    for name in names:
        if name in top:
            chosen[name] = []
            continue
        first, rest = split_path(name)
        if first not in top or name == first:
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

    A name may stand in backticks, where one of its own is doubled; what is not closed is a name.
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
    inner = LanceSchema(whole.children)
    kept = project(inner, names)
    arrow = pa.field(
        whole.name, pa.struct([f.arrow for f in kept]), whole.nullable, whole.arrow.metadata
    )
    packed = (whole.packed or whole) if whole.is_packed else None
    return replace(whole, children=kept, arrow=arrow, packed=packed)
