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

Validity: which values of an Arrow array are not null.

An array says it with a bitmap, the null type with nothing at all, a dictionary array with the
bitmaps of its keys and of its items.

Leaf values, stored: the Arrow array of a leaf as values of a codec.

The inverse of `leafvalues`: the buffers of the array, cut to its slice and mostly without a copy. A
null slot keeps what its buffer holds.

Layout: see `leafvalues`.

Clauses: L.page.leaf.width, L.page.leaf.kind
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.choose import Kind
from lanceref.codecs.description_checks import value_bits
from lanceref.codecs.values import Fixed, FixedSizeList, Indexed, Rows, Values, Variable
from lanceref.core.errors import CorruptPage, DataRefused, LimitExceeded, Place
from lanceref.encodings_2_0.flat import slice_bits
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


def validity_of(array: pa.Array) -> Validity:
    """Return which values of an array are valid, whatever surrounds it."""
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.bool_)
    if pa.types.is_dictionary(array.type):
        return _dictionary_validity(array)
    if array.null_count == 0:
        return None
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    first, last = array.offset // 8, (array.offset + len(array) + 7) // 8
    flags = np.unpackbits(bits[first:last], bitorder="little").view(np.bool_)
    return flags[array.offset % 8 :][: len(array)]


def both(one: Validity, other: Validity) -> Validity:
    """Return what is valid in both."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def keys_of(array: pa.DictionaryArray) -> NDArray[np.integer]:
    """Return the keys of a dictionary array as stored, whatever stands under a null."""
    keys = array.indices
    data = np.frombuffer(keys.buffers()[1] or b"", keys.type.to_pandas_dtype())
    return data[keys.offset : keys.offset + len(keys)]


def _dictionary_validity(array: pa.DictionaryArray) -> Validity:
    own, items = validity_of(array.indices), validity_of(array.dictionary)
    if items is None:
        return own
    keys = keys_of(array)
    return both(own, items[keys if own is None else np.where(own, keys, 0)])


def stored_values(array: pa.Array) -> Values:
    """Return the values of an array of any leaf type but a dictionary; its nulls are dropped.

    Raises DataRefused for a packed struct with null children.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    type_ = array.type
    if pa.types.is_null(type_):
        return Fixed(0, len(array), np.zeros(0, np.uint8))
    if is_variable(type_):
        return _stored_variable(array)
    if pa.types.is_fixed_size_list(type_):
        size = type_.list_size
        items = array.values.slice(array.offset * size, len(array) * size)
        inner = stored_values(items)
        assert isinstance(inner, Fixed | FixedSizeList)
        return FixedSizeList(size, len(array), validity_of(items), inner)
    if pa.types.is_struct(type_):
        return Rows(len(array), tuple(_child(array, i) for i in range(type_.num_fields)))
    return _stored_fixed(array)


def _child(array: pa.StructArray, index: int) -> Values:
    child = array.field(index)
    if child.null_count:
        name = array.type.field(index).name
        raise DataRefused(f"a packed struct cannot hold the nulls of its child {name!r}")
    return stored_values(child)


def bytes_of(buffer: pa.Buffer | None) -> NDArray[np.uint8]:
    """Return a buffer as uint8 (size,); no bytes for a missing one."""
    return np.frombuffer(b"" if buffer is None else buffer, np.uint8)


def _stored_fixed(array: pa.Array) -> Fixed:
    count, start = len(array), array.offset
    data = bytes_of(array.buffers()[1])
    if pa.types.is_boolean(array.type):
        return Fixed(1, count, slice_bits(data, start, count))
    width = array.type.bit_width // 8
    return Fixed(8 * width, count, data[start * width : (start + count) * width])


def _stored_variable(array: pa.Array) -> Variable:
    wide = has_wide_offsets(array.type)
    _, offsets, data = array.buffers()
    if offsets is None or not len(array):
        return Variable(np.zeros(1, np.int64), np.zeros(0, np.uint8))
    table = np.frombuffer(offsets, np.int64 if wide else np.int32)
    cut = table[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return Variable(cut - cut[0], bytes_of(data)[cut[0] : cut[-1]])


def has_wide_offsets(type_: pa.DataType) -> bool:
    """Whether values of the type are stored with offsets of 64 bits."""
    return bool(pa.types.is_large_string(type_) or pa.types.is_large_binary(type_))


def kind_of(type_: pa.DataType) -> Kind:
    """Return what a type says of its values beside their bytes; of a dictionary its items'."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_struct(type_):
        return Kind(fields=tuple(kind_of(field.type) for field in type_))
    is_text = bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))
    return Kind(has_wide_offsets(type_), is_text)
