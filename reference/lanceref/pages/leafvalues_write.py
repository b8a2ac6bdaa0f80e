"""Leaf values, stored: the Arrow array of a leaf as values of a codec.

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
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Values, Variable
from lanceref.core.errors import DataRefused
from lanceref.encodings_2_0.flat import cut
from lanceref.pages.leafvalues import is_variable
from lanceref.pages.validity import validity_of


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
        return _variable(array)
    if pa.types.is_fixed_size_list(type_):
        size = type_.list_size
        items = array.values.slice(array.offset * size, len(array) * size)
        inner = stored_values(items)
        assert isinstance(inner, Fixed | FixedSizeList)
        return FixedSizeList(size, len(array), validity_of(items), inner)
    if pa.types.is_struct(type_):
        return Rows(len(array), tuple(_child(array, i) for i in range(type_.num_fields)))
    return _fixed(array)


def _child(array: pa.StructArray, index: int) -> Values:
    child = array.field(index)
    if child.null_count:
        name = array.type.field(index).name
        raise DataRefused(f"a packed struct cannot hold the nulls of its child {name!r}")
    return stored_values(child)


def bytes_of(buffer: pa.Buffer | None) -> NDArray[np.uint8]:
    """Return a buffer as uint8 (size,); no bytes for a missing one."""
    return np.frombuffer(b"" if buffer is None else buffer, np.uint8)


def _fixed(array: pa.Array) -> Fixed:
    count, start = len(array), array.offset
    data = bytes_of(array.buffers()[1])
    if pa.types.is_boolean(array.type):
        return Fixed(1, count, cut(data, start, count))
    width = array.type.bit_width // 8
    return Fixed(8 * width, count, data[start * width : (start + count) * width])


def _variable(array: pa.Array) -> Variable:
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
