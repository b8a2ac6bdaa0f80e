"""Random types: every Arrow type that a file version can store.

Types are drawn by a `random.Random`, both for hypothesis, whose `randoms()` shrink, and for
campaigns with seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pyarrow as pa
from hypothesis import strategies as st
from lanceref.core.file_versions import V2_0, V2_2, FileVersion

UNITS = ("s", "ms", "us", "ns")
"""Units of timestamps and durations."""

NUMBERS: tuple[pa.DataType, ...] = (
    *(getattr(pa, f"{u}int{w}")() for u in ("", "u") for w in (8, 16, 32, 64)),
    pa.float16(),
    pa.float32(),
    pa.float64(),
)
"""Integers and floats."""

STRINGS: tuple[pa.DataType, ...] = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
"""Types of variable width."""

FAMILIES: dict[str, Callable[[Random], pa.DataType]] = {
    "number": lambda rng: rng.choice(NUMBERS),
    "bool": lambda rng: pa.bool_(),
    "string": lambda rng: rng.choice(STRINGS),
    "date": lambda rng: rng.choice((pa.date32(), pa.date64())),
    "time": lambda rng: rng.choice(
        (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    ),
    "timestamp": lambda rng: pa.timestamp(
        rng.choice(UNITS), rng.choice((None, "UTC", "+05:30", "Europe/Berlin"))
    ),
    "duration": lambda rng: pa.duration(rng.choice(UNITS)),
    "decimal": lambda rng: rng.choice(
        (pa.decimal128(20, 3), pa.decimal128(38, 0), pa.decimal256(40, 7), pa.decimal256(76, 2))
    ),
    "fixed_size_binary": lambda rng: pa.binary(rng.choice((1, 3, 8, 16, 40))),
    "dictionary": lambda rng: pa.dictionary(
        rng.choice((pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64())),
        rng.choice((pa.string(), pa.string(), pa.binary(), pa.int32(), pa.float64())),
    ),
    "null": lambda rng: pa.null(),
}
"""Families of leaf types; a family is drawn first, numbers and strings more often."""


def random_type(rng: Random, version: FileVersion, max_depth: int = 4) -> pa.DataType:
    """Draw a type of at most `max_depth` lists, structs and maps inside each other."""
    kinds = ["leaf", "leaf", "vector"]
    if max_depth > 0:
        kinds += ["struct", "list", "large_list"] + ["map"] * (version >= V2_2)
    match rng.choice(kinds):
        case "leaf":
            return FAMILIES[rng.choice((*FAMILIES, "number", "string", "string"))](rng)
        case "vector":
            item = rng.choice((*NUMBERS, pa.float32(), pa.bool_()))
            vector = pa.list_(item, rng.choice((1, 2, 3, 16, 70)))
            return (
                vector if rng.random() < 0.75 else pa.list_(pa.list_(item, 2), rng.choice((2, 5)))
            )
        case "struct":
            names = rng.sample(("a", "b", "x y", "ü"), rng.randint(1, 3))
            return pa.struct([random_field(rng, name, version, max_depth - 1) for name in names])
        case "map":
            key = rng.choice((pa.string(), pa.int32()))
            return pa.map_(key, random_type(rng, version, max_depth - 1))
        case kind:
            item = random_field(rng, rng.choice(("item", "element")), version, max_depth - 1)
            return pa.list_(item) if kind == "list" else pa.large_list(item)


def random_field(rng: Random, name: str, version: FileVersion, max_depth: int) -> pa.Field:
    """Draw a field; most are nullable."""
    type_ = random_type(rng, version, max_depth)
    return pa.field(name, type_, nullable=pa.types.is_null(type_) or rng.random() < 0.8)


def may_be_null(type_: pa.DataType, version: FileVersion) -> bool:
    """Whether a value of this type can be null: 2.0 has no place for a null struct."""
    return not (version == V2_0 and pa.types.is_struct(type_))


def nesting(type_: pa.DataType) -> int:
    """Return the number of lists, structs and maps around the deepest leaf."""
    return 1 + max((nesting(child.type) for child in children(type_)), default=-1)


def children(type_: pa.DataType) -> list[pa.Field]:
    """Return the fields inside a struct, list or map; a vector counts as a leaf."""
    types = pa.types
    if types.is_struct(type_):
        return list(type_)
    if types.is_map(type_):
        return [type_.key_field, type_.item_field]
    if types.is_list(type_) or types.is_large_list(type_):
        return [type_.value_field]
    return []


def type_names(type_: pa.DataType) -> Iterator[str]:
    """Yield the name of every type in the tree: `list`, `int8`, `timestamp` …"""
    types = pa.types
    if types.is_dictionary(type_):
        yield "dictionary"
        yield f"dictionary keys {type_.index_type}"
    elif types.is_fixed_size_list(type_):
        yield "fixed_size_list"
        yield from type_names(type_.value_type)
    else:
        yield str(type_).split("[")[0].split("(")[0].split("<")[0]
    for child in children(type_):
        yield from type_names(child.type)


def arrow_types(version: FileVersion, max_depth: int = 4) -> st.SearchStrategy[pa.DataType]:
    """Strategy: types that files of `version` can store."""
    return st.randoms(use_true_random=False).map(lambda rng: random_type(rng, version, max_depth))
