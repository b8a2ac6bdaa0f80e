"""Validity: which values of an Arrow array are not null.

An array says it with a bitmap, the null type with nothing at all, a dictionary array with the
bitmaps of its keys and of its items.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Validity = NDArray[np.bool_] | None
"""Which slots are valid; None when all are."""


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
