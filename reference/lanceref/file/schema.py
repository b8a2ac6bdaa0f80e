"""Schema: the field tree of a file or dataset.

Data file (global buffer 0), manifest and 0.1 file store the same flat list of `Field` messages in
depth-first order; parents come before children and are named by id. Here it becomes a tree, and the
tree an Arrow schema.

Layout (message lance.file.Field): 2 name, 3 id, 4 parent_id (-1 at top level), 5 logical_type,
6 nullable, 9 extension_name, 10 metadata; 1 type is always 0 and says nothing.

Clauses: L.file.schema.parent-first, L.file.schema.unique-ids, L.file.schema.logical-type,
L.file.schema.children, L.file.schema.top-level-names, L.file.schema.extension-name

Divergences: D.file.field-type-always-parent, D.file.top-level-parent-minus-one,
D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from lanceref.core import logical_types as arrowtypes
from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, NotFound, Place
from lanceref.core.extension_types import EXTENSION_KEY
from lanceref.proto import file_pb2

BLOB_EXTENSION = "lance.blob.v2"
"""Extension name of blobs that can lie outside of the data file."""

QUOTED = re.compile(r"`((?:[^`]|``)+)`(?:\.(?=.)|$)")
"""A name in backticks, and the point that follows it."""

DESCRIPTOR_METADATA = {"lance-encoding:blob": "true", "lance-encoding:packed": "true"}
"""Metadata of the descriptors of such blobs in a data file, and of the column a table shows."""

HIDDEN_IDS = (-3, -4, -5)
"""Ids of the hidden columns of a table's files: row id, created-at and last-updated version."""


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
        from lanceref.file.schema_write import schema_of

        return schema_of(schema)

    def flat(self) -> Iterator[Field]:
        """Yield every field, depth first."""
        for top in self.fields:
            yield from top.flat()


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
