"""Leaves: the way to each leaf of a field, and decoded values as the Arrow array of its type.

The stored form does not know the Arrow type; the schema decides at read time. The width of the
values is compared with that of the type, and their bytes become the buffers of an Arrow array,
mostly without a copy. The inverse is in `codecs.encoder_inputs`.

Layout: bool 1 bit; integers, floats, temporal types and decimals their raw little-endian bytes;
fixed-size binary 8 n bits; utf8 and binary variable values; fixed-size lists of these; a packed
struct rows of its children.

Clauses: L.page.leaf.width, L.page.leaf.kind, L.page.leaf.utf8, L.page.leaf.dimension,
L.page.leaf.count, L.page.leaf.offset-width
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import prod

import numpy as np
import pyarrow as pa

from lanceref.codecs.buffers import value_bits
from lanceref.codecs.values import Fixed, FixedSizeList, Validity, Values, Variable
from lanceref.core.arrow_buffers import (
    STRINGS,
    TEXT,
    bitmap,
    check_text,
    has_wide_offsets,
    offsets_buffer,
)
from lanceref.core.errors import CorruptPage, Place
from lanceref.file.schema import Field, slot_bits
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


class Step(Enum):
    """What a field is on the way to a leaf."""

    LIST = "list"
    STRUCT = "struct"
    FIXED_SIZE_LIST = "fixed-size list"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One field on the way to a leaf; `dimension` is 1 but for a fixed-size list."""

    step: Step
    field: Field
    dimension: int = 1


Path = tuple[PathStep, ...]
"""From the column's field (first) to the leaf (last)."""


def leaf_paths(field: Field) -> list[Path]:
    """Return the path to every leaf at or below `field`, in column order."""
    if field.is_leaf:
        return [(PathStep(Step.LEAF, field),)]
    step = PathStep(Step.LIST, field)
    if field.logical_type == "struct":
        step = PathStep(Step.STRUCT, field)
    elif field.logical_type.startswith("fixed_size_list"):
        step = PathStep(Step.FIXED_SIZE_LIST, field, field.arrow.type.list_size)
    return [(step, *path) for child in field.children for path in leaf_paths(child)]


def scale_of(path: Path) -> int:
    """Return the page slots per row: the product of the fixed-size lists on the way."""
    return prod(step.dimension for step in path)


def width_bits(type_: pa.DataType) -> int | None:
    """Return the bits of a value of fixed width, a packed struct among them; None for others."""
    if pa.types.is_struct(type_):
        widths = [width_bits(field.type) for field in type_]
        return None if None in widths else sum(width for width in widths if width is not None)
    return None if pa.types.is_null(type_) else slot_bits(type_)


def check_leaf_encoding(type_: pa.DataType, encoding: CompressiveEncoding, place: Place) -> None:
    """Raise CorruptPage unless variable values go with variable types, and offsets fit them."""
    arm = encoding.WhichOneof("compression")
    while arm in ("fsst", "general"):
        encoding = getattr(encoding, arm).values
        arm = encoding.WhichOneof("compression")
    if (arm == "variable") != (type_ in STRINGS):
        raise _wrong_kind(type_, f"an encoding {arm}", place)
    if arm == "variable":
        check_offset_width(type_, value_bits(encoding.variable.offsets) or 0, place)


def check_offset_width(type_: pa.DataType, bits: int, place: Place) -> None:
    """Raise CorruptPage for offsets that are not as wide as the Arrow type's."""
    wanted = 64 if has_wide_offsets(type_) else 32
    if bits != wanted:
        raise CorruptPage("L.page.leaf.offset-width", place, f"offsets of {bits} bits", wanted)


def leaf_array(type_: pa.DataType, values: Values, validity: Validity, place: Place) -> pa.Array:
    """Build the Arrow array of a leaf; `place` is where the values lie, for errors.

    Raises CorruptPage for values that are not of the type, LimitExceeded for too many bytes.
    `validity` (values,).
    """
    if validity is not None and len(validity) != values.count:
        found, wanted = f"{values.count} values", f"{len(validity)}, one for each visible entry"
        raise CorruptPage("L.page.leaf.count", place, found, wanted)
    if pa.types.is_null(type_):
        return pa.nulls(values.count)
    if isinstance(values, Fixed):
        return _fixed(type_, values, validity, place)
    if isinstance(values, Variable):
        return _variable(type_, values, validity, place)
    if isinstance(values, FixedSizeList):
        items = values.items
        if not pa.types.is_fixed_size_list(type_):
            raise _wrong_kind(type_, "fixed-size lists", place)
        if type_.list_size != values.dimension:
            raise CorruptPage("L.page.leaf.dimension", place, values.dimension, type_.list_size)
        if isinstance(items, Fixed) and items.bits == 0:
            children = [pa.nulls(items.count, type_.value_type)]
        else:
            children = [leaf_array(type_.value_type, items, values.validity, place)]
    else:
        if not pa.types.is_struct(type_) or type_.num_fields != len(values.fields):
            raise _wrong_kind(type_, f"packed rows of {len(values.fields)} fields", place)
        parts = zip(type_, values.fields, strict=True)
        children = [leaf_array(field.type, part, None, place) for field, part in parts]
    return pa.Array.from_buffers(type_, values.count, [bitmap(validity)], children=children)


def _fixed(type_: pa.DataType, values: Fixed, validity: Validity, place: Place) -> pa.Array:
    data, bits = values.data, values.bits
    if pa.types.is_boolean(type_) and bits == 8:
        data, bits = np.packbits(data[: values.count] != 0, bitorder="little"), 1
    nested = pa.types.is_nested(type_) or pa.types.is_dictionary(type_)
    wanted = None if nested else width_bits(type_)
    if wanted != bits:
        found = f"values of {bits} bits"
        raise CorruptPage("L.page.leaf.width", place, found, f"{wanted} ({type_})")
    buffers = [bitmap(validity), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(type_, values.count, buffers)


def _variable(type_: pa.DataType, values: Variable, validity: Validity, place: Place) -> pa.Array:
    if type_ not in STRINGS:
        raise _wrong_kind(type_, "variable-width values", place)
    offsets = offsets_buffer(type_, values.offsets, "L.page.leaf.kind", place)
    buffers = [bitmap(validity), offsets, pa.py_buffer(np.ascontiguousarray(values.data))]
    array = pa.Array.from_buffers(type_, values.count, buffers)
    if type_ in TEXT and not values.is_ascii:
        check_text(array, "L.page.leaf.utf8", place)
    return array


def _wrong_kind(type_: pa.DataType, found: str, place: Place) -> CorruptPage:
    return CorruptPage("L.page.leaf.kind", place, found, f"values of {type_}")
