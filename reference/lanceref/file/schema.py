"""Schema: the field tree of a file or dataset, as stored messages, and the names of its types.

Data file (global buffer 0), manifest and 0.1 file store the same flat list of `Field` messages in
depth-first order; parents come before children and are named by id. A field carries its type as a
string (`logical_type`). Leaves are named whole (`timestamp:us:UTC`); struct, list and map name only
their kind, the child fields hold the rest.

Layout (message lance.file.Field): 2 name, 3 id, 4 parent_id (-1 at top level), 5 logical_type,
6 nullable, 7 encoding, 9 extension_name, 10 metadata, 12-15 keys; 1 type is always 0 and says
nothing.
Layout of a type: `<kind>[:<parameter>…]`. In `fixed_size_list:<item>:<n>` and
`dict:<value>:<index>:false` the inner type may hold `:`; what follows it is read from the end.

Clauses: L.file.schema.unique-ids, L.file.schema.logical-type, L.file.schema.top-level-names,
L.file.schema.extension-name, L.file.schema.parent-first, L.file.schema.children

Divergences: D.file.field-type-always-parent, D.file.top-level-parent-minus-one,
D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import BadSchema, Place
from lanceref.proto import file_pb2

BLOB_EXTENSION = "lance.blob.v2"
"""Extension name of blobs that can lie outside of the data file."""

EXTENSION_KEY = "ARROW:extension:name"
"""Arrow metadata key that holds the name of an extension type."""

BFLOAT16 = "lance.bfloat16"
"""Extension name of two bytes that are a bfloat16."""

BFLOAT16_ITEM = pa.field("item", pa.binary(2), metadata={EXTENSION_KEY: BFLOAT16})
"""Item of a list of them."""

HIDDEN_IDS = (-3, -4, -5)
"""Ids of the hidden columns of a table's files: row id, created-at and last-updated version."""

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
    def has_required(self) -> bool:
        """Whether the field or one below it, but for items of fixed-size lists, is not nullable."""
        below = () if self.logical_type.startswith("fixed_size_list") else self.children
        return not self.nullable or any(child.has_required for child in below)

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


_CLAUSE = "L.file.schema.logical-type"

SIMPLE: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    **{f"{u}int{w}": getattr(pa, f"{u}int{w}")() for u in ("", "u") for w in (8, 16, 32, 64)},
    "halffloat": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "json": pa.large_binary(),
    "date32:day": pa.date32(),
    "date64:ms": pa.date64(),
    "time32:s": pa.time32("s"),
    "time32:ms": pa.time32("ms"),
    "time64:us": pa.time64("us"),
    "time64:ns": pa.time64("ns"),
    **{f"duration:{unit}": pa.duration(unit) for unit in ("s", "ms", "us", "ns")},
}
"""Types whose name has no parameter."""

_LISTS = {
    "list": pa.list_,
    "list.struct": pa.list_,
    "large_list": pa.large_list,
    "large_list.struct": pa.large_list,
}
"""Kinds with one child; the `.struct` form says that the child is a struct."""

_UNITS = ("s", "ms", "us", "ns")

MAX_WIDTH = 2**31 - 1
"""Largest width of a fixed-size type, in bytes or items: Arrow counts them in int32."""

MAX_NESTING = 64
"""Fixed-size lists inside each other in one name."""


def arrow_type(name: str, children: list[pa.Field], place: Place) -> pa.DataType:
    """Return the Arrow type that `name` and the child fields spell. Raises BadSchema."""
    if name == "struct":
        return pa.struct(children)
    is_struct_list = name.startswith("fixed_size_list:struct:")
    wanted = int(name in _LISTS or name == "map" or is_struct_list)
    if len(children) != wanted:
        clause, found = "L.file.schema.children", f"{len(children)} children of {name!r}"
        raise BadSchema(clause, place, found, wanted)
    if not wanted:
        return _leaf(name, place)
    (child,) = children
    if name in _LISTS:
        return _LISTS[name](child)
    if is_struct_list:
        return pa.list_(child, _width(name, name.rsplit(":", maxsplit=1)[-1], place))
    entries = list(child.type) if pa.types.is_struct(child.type) else []
    if len(entries) != 2 or entries[0].nullable:
        clause, wanted_map = "L.file.schema.children", "a struct of a key, never null, and a value"
        raise BadSchema(clause, place, child.type, wanted_map)
    return pa.map_(*entries)


def _leaf(name: str, place: Place) -> pa.DataType:
    match name.split(":"):
        case _ if name in SIMPLE:
            return SIMPLE[name]
        case ["fixed_size_binary", width]:
            return pa.binary(_width(name, width, place))
        case ["fixed_size_list", *item, width] if item == [BFLOAT16]:
            return pa.list_(BFLOAT16_ITEM, _width(name, width, place))
        case ["fixed_size_list", *item, width] if item.count("fixed_size_list") <= MAX_NESTING:
            return pa.list_(_leaf(":".join(item), place), _width(name, width, place))
        case ["decimal", ("128" | "256") as bits, precision, scale]:
            try:
                return getattr(pa, f"decimal{bits}")(int(precision), int(scale))
            except (ValueError, OverflowError, pa.ArrowInvalid) as error:
                raise _unknown(name, place) from error
        case ["timestamp", unit, *zone] if unit in _UNITS and ":".join(zone):
            return pa.timestamp(unit, None if zone == ["-"] else ":".join(zone))
        case ["dict", *value, index, _] if pa.types.is_integer(SIMPLE.get(index, pa.null())):
            return pa.dictionary(SIMPLE[index], _leaf(":".join(value), place))
    raise _unknown(name, place)


def _width(name: str, digits: str, place: Place) -> int:
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 10
    if is_number and int(digits) <= MAX_WIDTH:
        return int(digits)
    raise _unknown(name, place)


def _unknown(name: str, place: Place) -> BadSchema:
    return BadSchema(_CLAUSE, place, repr(name[:80]), "a logical type of the format")


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
    arrow = arrow_type(message.logical_type, [f.arrow for f in below], place)
    values, may_be_null = message.dictionary, message.nullable or pa.types.is_null(arrow)
    return Field(
        name=message.name,
        id=message.id,
        parent_id=message.parent_id,
        logical_type=message.logical_type,
        nullable=message.nullable,
        metadata=metadata,
        children=tuple(below),
        arrow=pa.field(message.name, arrow, may_be_null, metadata or None),
        dictionary=(values.offset, values.length) if message.HasField("dictionary") else None,
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def slot_bits(type_: pa.DataType) -> int | None:
    """Return the bits one value takes when stored flat; None for types of variable width."""
    types = pa.types
    if types.is_null(type_):
        return 0
    if types.is_fixed_size_list(type_):
        inner = slot_bits(type_.value_type)
        return None if inner is None else inner * int(type_.list_size)
    if types.is_dictionary(type_) or types.is_nested(type_):
        return None
    try:
        return int(type_.bit_width)
    except ValueError:
        return None
