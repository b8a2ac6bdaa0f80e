"""Arrow dictionaries, stored: keys and items.

A dictionary array is stored as it came, its keys in their own width. Null items are dropped: what
points at them is null by its level.

Clauses: L.page.dictionary.key-width, L.page.dictionary.index-width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.values import Fixed, Values
from lanceref.core.compute import pc
from lanceref.pages.leafvalues import keys_of, stored_values, validity_of


def join_dictionaries(arrays: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    """Return the arrays as one, with one dictionary.

    With fewer items than values, all dictionaries stand one after the other; otherwise the items
    that are used do, each once, in the order of their dictionaries.
    """
    arrays = [without_null_items(array) for array in arrays]
    count, type_ = sum(map(len, arrays)), arrays[0].type
    num_items = sum(len(array.dictionary) for array in arrays)
    keys = type_.index_type
    fits = num_items <= 1 << keys.bit_width - pa.types.is_signed_integer(keys)
    if num_items < count and fits:
        return _one_after_the_other(arrays)
    items = pa.chunked_array([_used(array) for array in arrays], type_.value_type).unique()
    decoded = pa.concat_arrays([array.dictionary_decode() for array in arrays])
    indices = pc.index_in(decoded, value_set=items, skip_nulls=True).cast(keys)
    return pa.DictionaryArray.from_arrays(_zero_under_null(indices), items)


def _one_after_the_other(arrays: Sequence[pa.DictionaryArray]) -> pa.DictionaryArray:
    first, keys = 0, []
    for array in arrays:
        moved = keys_of(array) + array.type.index_type.to_pandas_dtype()(first)
        valid = validity_of(array.indices)
        keys.append(pa.array(moved, array.type.index_type, mask=None if valid is None else ~valid))
        first += len(array.dictionary)
    items = pa.concat_arrays([array.dictionary for array in arrays])
    return pa.DictionaryArray.from_arrays(pa.concat_arrays(keys), items)


def _used(array: pa.DictionaryArray) -> pa.Array:
    """Return the items that a valid key points at."""
    return array.dictionary.take(array.indices.drop_null().unique().sort())


def _zero_under_null(keys: pa.Array) -> pa.Array:
    """Return the keys with a zero in the buffer wherever they are null."""
    filled = keys.fill_null(0)
    return pa.Array.from_buffers(
        keys.type, len(keys), [pc.is_valid(keys).buffers()[1], filled.buffers()[1]]
    )


def without_null_items(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the array with every null in its keys."""
    if array.dictionary.null_count == 0:
        return array
    keys, items = _moved(array)
    valid = validity_of(array)
    mask = None if valid is None else ~valid
    return pa.DictionaryArray.from_arrays(pa.array(keys, array.type.index_type, mask=mask), items)


def _moved(array: pa.DictionaryArray) -> tuple[NDArray[np.integer], pa.Array]:
    """Return keys and items without the null ones."""
    keys, items = keys_of(array), array.dictionary
    valid = validity_of(items)
    if valid is None:
        return keys, items
    moved = np.where(valid, np.cumsum(valid) - 1, 0).astype(keys.dtype)
    own = validity_of(array.indices)
    return moved[keys if own is None else np.where(own, keys, 0)], items.filter(pa.array(valid))


def dictionary_parts(array: pa.DictionaryArray) -> tuple[Fixed, Values]:
    """Return keys and items, without the items that are null."""
    keys, items = _moved(array)
    width = keys.dtype.itemsize
    stored = Fixed(8 * width, len(keys), np.ascontiguousarray(keys).view(np.uint8))
    return stored, stored_values(items)
