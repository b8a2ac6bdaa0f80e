"""Logical types: the strings that name Arrow types.

A field of a schema carries its type as a string (`logical_type`). Leaves are named whole
(`timestamp:us:UTC`); struct, list and map name only their kind, the child fields hold the rest.
Data files, manifests and 0.1 files hold the same strings.

Layout: `<kind>[:<parameter>…]`. In `fixed_size_list:<item>:<n>` and `dict:<value>:<index>:false`
the inner type may itself hold `:`; the parameters after it are read from the end.

Clauses: L.file.schema.logical-type, L.file.schema.children
"""

from __future__ import annotations

import pyarrow as pa

from lanceref.core.errors import BadSchema, Place

_CLAUSE = "L.file.schema.logical-type"

_SIMPLE: dict[str, pa.DataType] = {
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

_NAMES: dict[pa.DataType, str] = {
    arrow: name for name, arrow in reversed(_SIMPLE.items()) if name != "json"
}

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


EXTENSION_KEY = "ARROW:extension:name"
"""Arrow metadata key that holds the name of an extension type."""

BFLOAT16 = "lance.bfloat16"
"""Extension name of two bytes that are a bfloat16."""

BFLOAT16_ITEM = pa.field("item", pa.binary(2), metadata={EXTENSION_KEY: BFLOAT16})
"""Item of a list of them."""


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
        case _ if name in _SIMPLE:
            return _SIMPLE[name]
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
        case ["dict", *value, index, _] if pa.types.is_integer(_SIMPLE.get(index, pa.null())):
            return pa.dictionary(_SIMPLE[index], _leaf(":".join(value), place))
    raise _unknown(name, place)


def _width(name: str, digits: str, place: Place) -> int:
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 10
    if is_number and int(digits) <= MAX_WIDTH:
        return int(digits)
    raise _unknown(name, place)


def _unknown(name: str, place: Place) -> BadSchema:
    return BadSchema(_CLAUSE, place, repr(name[:80]), "a logical type of the format")


def logical_type(arrow: pa.DataType) -> str:
    """Return the string that names `arrow`. Raises TypeError for a type without one."""
    if arrow in _NAMES:
        return _NAMES[arrow]
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
