"""Leaf values: decoded values as the Arrow array of the leaf's type.

The stored form does not know the Arrow type; the schema decides at read time. Here the two meet:
width against width, and the values' bytes become the buffers of an Arrow array, mostly without a
copy.

Layout: bool 1 bit; integers, floats, temporal types and decimals their raw little-endian bytes;
fixed-size binary 8 n bits; utf8 and binary variable values; fixed-size lists of these; a packed
struct rows of its children.

Clauses: L.page.leaf.width, L.page.leaf.kind, L.page.leaf.utf8, L.page.leaf.dimension,
L.page.leaf.count, L.page.leaf.offset-width,
L.page.dictionary.key-width
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.description_checks import value_bits
from lanceref.codecs.values import Fixed, FixedSizeList, Indexed, Rows, Values, Variable
from lanceref.core.errors import CorruptPage, LimitExceeded, Place
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

Validity = NDArray[np.bool_] | None
"""Which values are valid; None when all are."""

_OFFSETS = {pa.string(): "<i4", pa.binary(): "<i4", pa.large_string(): "<i8"}
_OFFSETS[pa.large_binary()] = "<i8"

MAX_OFFSET_32 = 2**31 - 1
"""Bytes that an Arrow array with 32-bit offsets can hold."""


def is_variable(type_: pa.DataType) -> bool:
    """Whether values of the type have no fixed width."""
    return type_ in _OFFSETS


def width_bits(type_: pa.DataType) -> int | None:
    """Return the bits of a value of fixed width; None for other types."""
    if pa.types.is_primitive(type_):
        return int(type_.bit_width)
    if pa.types.is_fixed_size_list(type_):
        item = width_bits(type_.value_type)
        return None if item is None else item * type_.list_size
    if pa.types.is_struct(type_):
        widths = [width_bits(field.type) for field in type_]
        return None if None in widths else sum(width for width in widths if width is not None)
    if is_variable(type_) or pa.types.is_dictionary(type_) or pa.types.is_null(type_):
        return None
    return int(type_.bit_width)


def check_leaf_encoding(type_: pa.DataType, encoding: CompressiveEncoding, place: Place) -> None:
    """The gate of a leaf: variable values go with variable types, and offsets have their width."""
    arm = encoding.WhichOneof("compression")
    while arm in ("fsst", "general"):
        encoding = getattr(encoding, arm).values
        arm = encoding.WhichOneof("compression")
    if (arm == "variable") != is_variable(type_):
        raise _wrong_kind(type_, f"an encoding {arm}", place)
    if arm == "variable":
        check_offset_width(type_, value_bits(encoding.variable.offsets) or 0, place)


def check_offset_width(type_: pa.DataType, bits: int, place: Place) -> None:
    """Refuse offsets that are not as wide as the Arrow type's."""
    wanted = 64 if _OFFSETS.get(type_) == "<i8" else 32
    if bits != wanted:
        raise CorruptPage(
            "L.page.leaf.offset-width", place, found=f"offsets of {bits} bits", wanted=wanted
        )


def bitmap(validity: Validity) -> pa.Buffer | None:
    """Return an Arrow validity bitmap; None when all are valid."""
    if validity is None:
        return None
    return pa.py_buffer(np.packbits(validity, bitorder="little"))


def leaf_array(type_: pa.DataType, values: Values, validity: Validity, place: Place) -> pa.Array:
    """Build the Arrow array of a leaf; `place` is where the values lie, for errors."""
    if validity is not None and len(validity) != values.count:
        raise CorruptPage(
            "L.page.leaf.count",
            place,
            found=f"{values.count} values",
            wanted=f"{len(validity)}, one for each visible entry",
        )
    if pa.types.is_null(type_):
        return pa.nulls(values.count)
    if isinstance(values, Fixed):
        return _fixed(type_, values, validity, place)
    if isinstance(values, Indexed):
        items = leaf_array(value_type(type_), values.items, None, place)
        return indexed_array(type_, values.indices, items, validity, place)
    if isinstance(values, Variable):
        return _variable(type_, values, validity, place)
    if isinstance(values, FixedSizeList):
        return _fixed_size_list(type_, values, validity, place)
    return _rows(type_, values, validity, place)


def value_type(type_: pa.DataType) -> pa.DataType:
    """Return what the items of a page's dictionary are."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def indexed_array(
    type_: pa.DataType,
    indices: NDArray[np.unsignedinteger],
    items: pa.Array,
    validity: Validity,
    place: Place,
) -> pa.Array:
    """Build the array of indices (already < len(items)) into a dictionary of `items`."""
    if not pa.types.is_dictionary(type_):
        return items.take(_primitive(pa.from_numpy_dtype(indices.dtype), indices, validity))
    keys = type_.index_type
    if keys.bit_width != indices.dtype.itemsize * 8:
        raise CorruptPage(
            "L.page.dictionary.key-width",
            place,
            found=f"indices of {indices.dtype.itemsize * 8} bits",
            wanted=f"{keys.bit_width}, the width of {keys}",
        )
    return pa.DictionaryArray.from_arrays(
        _primitive(keys, indices, validity), items, ordered=type_.ordered, safe=False
    )


def _primitive(type_: pa.DataType, data: NDArray[np.generic], validity: Validity) -> pa.Array:
    buffers = [bitmap(validity), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(type_, len(data), buffers)


def _fixed(type_: pa.DataType, values: Fixed, validity: Validity, place: Place) -> pa.Array:
    data, bits = values.data, values.bits
    if pa.types.is_boolean(type_) and bits == 8:
        data, bits = np.packbits(data[: values.count] != 0, bitorder="little"), 1
    nested = pa.types.is_nested(type_) or pa.types.is_dictionary(type_)
    wanted = None if nested else width_bits(type_)
    if wanted != bits:
        raise CorruptPage(
            "L.page.leaf.width", place, found=f"values of {bits} bits", wanted=f"{wanted} ({type_})"
        )
    buffers = [bitmap(validity), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(type_, values.count, buffers)


def _variable(type_: pa.DataType, values: Variable, validity: Validity, place: Place) -> pa.Array:
    if not is_variable(type_):
        raise _wrong_kind(type_, "variable-width values", place)
    dtype = _OFFSETS[type_]
    if dtype == "<i4" and int(values.offsets[-1]) > MAX_OFFSET_32:
        raise LimitExceeded(
            "L.page.leaf.kind",
            place,
            found=f"{int(values.offsets[-1])} bytes in one array of {type_}",
            wanted=f"at most {MAX_OFFSET_32}",
        )
    array = pa.Array.from_buffers(
        type_,
        values.count,
        [
            bitmap(validity),
            pa.py_buffer(values.offsets.astype(dtype)),
            pa.py_buffer(np.ascontiguousarray(values.data)),
        ],
    )
    is_text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    if is_text and not values.is_ascii:
        check_utf8(array, place)
    return array


def check_utf8(array: pa.Array, place: Place) -> None:
    """Refuse strings that are not UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptPage(
            "L.page.leaf.utf8", place, found=str(error)[:200], wanted="strings in UTF-8"
        ) from error


def _fixed_size_list(
    type_: pa.DataType, values: FixedSizeList, validity: Validity, place: Place
) -> pa.Array:
    if not pa.types.is_fixed_size_list(type_):
        raise _wrong_kind(type_, "fixed-size lists", place)
    if type_.list_size != values.dimension:
        raise CorruptPage(
            "L.page.leaf.dimension", place, found=values.dimension, wanted=type_.list_size
        )
    if isinstance(values.items, Fixed) and values.items.bits == 0:
        items = pa.nulls(values.items.count, type_.value_type)
    else:
        items = leaf_array(type_.value_type, values.items, values.validity, place)
    return pa.Array.from_buffers(type_, values.count, [bitmap(validity)], children=[items])


def _rows(type_: pa.DataType, values: Rows, validity: Validity, place: Place) -> pa.Array:
    if not pa.types.is_struct(type_) or type_.num_fields != len(values.fields):
        raise _wrong_kind(type_, f"packed rows of {len(values.fields)} fields", place)
    children = [
        leaf_array(field.type, part, None, place)
        for field, part in zip(type_, values.fields, strict=True)
    ]
    return pa.Array.from_buffers(type_, values.count, [bitmap(validity)], children=children)


def _wrong_kind(type_: pa.DataType, found: str, place: Place) -> CorruptPage:
    return CorruptPage("L.page.leaf.kind", place, found=found, wanted=f"values of {type_}")
