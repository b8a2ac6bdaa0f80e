"""Equality of arrays: which rows of two Arrow arrays hold different values.

Validity is compared first; values of nulls are ignored. Floats are compared by their bits, except
that all NaNs are equal. Nested values are compared structurally, independent of their offsets.
String, binary and list types of any offset width are comparable; dictionaries and run-ends are
decoded.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lanceref.core.arrow_buffers import whole

Mask = npt.NDArray[np.bool_]

_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def difference_mask(expected: pa.Array, found: pa.Array) -> Mask:
    """Return the mask of rows that differ, of two arrays of equal length and comparable types."""
    expected, found = decoded(expected), decoded(found)
    if pa.types.is_null(expected.type) or pa.types.is_null(found.type):
        null_differs: Mask = _nulls(expected) != _nulls(found)
        return null_differs
    ours, theirs = ~_nulls(expected), ~_nulls(found)
    differs: Mask = ours != theirs
    rows = np.flatnonzero(ours & theirs)
    if len(rows):
        chosen = pa.array(rows)
        differs[rows] = _values_differ(whole(expected).take(chosen), whole(found).take(chosen))
    return differs


def decoded(array: pa.Array) -> pa.Array:
    """Return the array without extension type, dictionary, run-ends or view layout."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if _is_text(array.type):
        return array.cast(pa.large_string()).cast(pa.large_binary())
    if _is_binary(array.type):
        return array.cast(pa.large_binary())
    return array


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    )


def _nulls(array: pa.Array) -> Mask:
    mask: Mask = array.is_null().to_numpy(zero_copy_only=False)
    return mask


def _values_differ(expected: pa.Array, found: pa.Array) -> Mask:
    """Compare arrays without top-level nulls and with offset 0."""
    kind = expected.type
    if pa.types.is_struct(kind):
        differs = np.zeros(len(expected), dtype=bool)
        for index in range(kind.num_fields):
            differs |= difference_mask(expected.field(index), found.field(index))
        return differs
    if pa.types.is_map(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _lists_differ(expected, found)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return _lists_differ(expected, found)
    if pa.types.is_fixed_size_list(kind):
        return _items_differ(expected, found, np.full(len(expected), kind.list_size))
    if pa.types.is_floating(kind):
        return _floats_differ(expected, found)
    if pa.types.is_boolean(kind) or pa.types.is_large_binary(kind):
        equal: Mask = pc.equal(expected, found).to_numpy(zero_copy_only=False)
        return ~equal
    unequal: Mask = np.any(_cells(expected) != _cells(found), axis=1)
    return unequal


def _lists_differ(expected: pa.Array, found: pa.Array) -> Mask:
    sizes, others = _sizes(expected), _sizes(found)
    differs: Mask = sizes != others
    rows = np.flatnonzero(~differs)
    if len(rows):
        chosen = pa.array(rows)
        ours, theirs = whole(expected).take(chosen), whole(found).take(chosen)
        differs[rows] = _items_differ(ours, theirs, sizes[rows])
    return differs


def _items_differ(expected: pa.Array, found: pa.Array, sizes: npt.NDArray[np.int64]) -> Mask:
    differs = np.zeros(len(expected), dtype=bool)
    owners = np.repeat(np.arange(len(expected)), sizes)
    for ours, theirs in zip(_items(expected), _items(found), strict=True):
        differs[owners[difference_mask(ours, theirs)]] = True
    return differs


def _sizes(array: pa.Array) -> npt.NDArray[np.int64]:
    if pa.types.is_map(array.type):
        lengths = np.diff(array.offsets.to_numpy())
    else:
        lengths = pc.list_value_length(array).to_numpy()
    sizes: npt.NDArray[np.int64] = lengths.astype(np.int64)
    return sizes


def _items(array: pa.Array) -> list[pa.Array]:
    """Return the children with exactly the items of the rows of `array`."""
    if not pa.types.is_map(array.type):
        return [array.flatten()]
    offsets = array.offsets.to_numpy()
    start, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    return [array.keys.slice(start, size), array.items.slice(start, size)]


def _floats_differ(expected: pa.Array, found: pa.Array) -> Mask:
    ours, theirs = expected.to_numpy(), found.to_numpy()
    bits = _BITS[ours.dtype.itemsize]
    same: Mask = ours.view(bits) == theirs.view(bits)
    same |= np.isnan(ours) & np.isnan(theirs)
    return ~same


def _cells(array: pa.Array) -> npt.NDArray[np.uint8]:
    """Return the bytes of fixed-width values [n, width]."""
    width = array.type.bit_width // 8
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return data[array.offset * width :][: len(array) * width].reshape(len(array), width)
