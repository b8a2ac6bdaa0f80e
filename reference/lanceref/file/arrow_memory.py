"""Arrow memory: what an array counts against the cache of a writer.

Pages begin where the queued arrays exceed a number of bytes, and these bytes are those of the
oracle's arrays in memory: their buffers from the first value on, also the part before a slice, and
a fixed size for each array object.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

PRIMITIVE_BYTES, BOOLEAN_BYTES, BINARY_BYTES = 96, 88, 120
"""Size of the array object of fixed-width values, of booleans, of values with offsets."""

NULL_BYTES = 8
"""Size of the array object of the null type."""

FIXED_BINARY_BYTES, FIXED_LIST_BYTES, DICTIONARY_BYTES, STRUCT_BYTES = 112, 104, 48, 104
"""Size of the array object of fixed-size binary, fixed-size lists, dictionaries, structs."""


def memory_bytes(array: pa.Array, *, with_validity: bool = True) -> int:
    """Return the bytes of a leaf array; without the bitmap of its own nulls if that was cut off."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    size = _own_bytes(array)
    if with_validity and array.null_count and not pa.types.is_null(array.type):
        size += -(-(array.offset + len(array)) // 8)
    return size


def _own_bytes(array: pa.Array) -> int:
    """Return the bytes of an array and what it holds, without its own bitmap."""
    types, type_, end = pa.types, array.type, int(array.offset) + len(array)
    if types.is_dictionary(type_):
        return DICTIONARY_BYTES + _own_bytes(array.indices) + memory_bytes(array.dictionary)
    if types.is_fixed_size_list(type_):
        return FIXED_LIST_BYTES + memory_bytes(array.values)
    if types.is_struct(type_):
        children = (memory_bytes(array.field(i)) for i in range(type_.num_fields))
        return STRUCT_BYTES + sum(children)
    if types.is_null(type_):
        return NULL_BYTES
    if types.is_boolean(type_):
        return BOOLEAN_BYTES - (-end // 8)
    if types.is_fixed_size_binary(type_) and not types.is_decimal(type_):
        return FIXED_BINARY_BYTES + end * int(type_.byte_width)
    if types.is_primitive(type_) or types.is_decimal(type_):
        return PRIMITIVE_BYTES + end * int(type_.bit_width) // 8
    return BINARY_BYTES + _variable_bytes(array, end)


def _variable_bytes(array: pa.Array, end: int) -> int:
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    dtype = np.dtype(np.int64 if wide else np.int32)
    offsets = array.buffers()[1]
    if offsets is None or not len(offsets):
        return 0
    return (end + 1) * dtype.itemsize + int(np.frombuffer(offsets, dtype)[end])
