"""Arrow dictionaries, encoded: keys of their own width, and items with a null for null rows.

Layout: see `dictionary`.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.arrays.binary_write import encode_binary
from lanceref.arrays.encode import PageBuffers, encode_nullable, no_nulls
from lanceref.errors import DataRefused
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding


def encode_dictionary(arrays: Sequence[pa.DictionaryArray], page: PageBuffers) -> ArrayEncoding:
    """Encode dictionary arrays of one page; their dictionaries stand one after the other.

    Raises DataRefused when the items, with one for null rows, are more than the keys can tell.
    """
    key = arrays[0].type.index_type
    items = pa.concat_arrays([array.dictionary for array in arrays])
    firsts = np.cumsum([0, *(len(array.dictionary) for array in arrays)])
    keys = np.concatenate([_keys(a) + first for a, first in zip(arrays, firsts[:-1], strict=True)])
    nulls = np.concatenate([np.asarray(array.indices.is_null()) for array in arrays])
    if nulls.all():
        items = items[:0]
    if nulls.any() or not len(keys):
        items, null_item = _with_null(items)
        keys[nulls] = null_item
    if len(items) > 1 << int(key.bit_width) - pa.types.is_signed_integer(key):
        raise DataRefused(f"{len(items)} dictionary items are more than keys of {key} can tell")
    stored = keys.astype(key.to_pandas_dtype()).view(np.uint8)
    encoding = ArrayEncoding()
    encoding.dictionary.indices.CopyFrom(no_nulls(page.flat(stored, int(key.bit_width))))
    encoding.dictionary.items.CopyFrom(_items(items, page))
    encoding.dictionary.num_dictionary_items = len(items)
    return encoding


def _keys(array: pa.DictionaryArray) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = array.indices.fill_null(0).to_numpy().astype(np.int64)
    return keys


def _with_null(items: pa.Array) -> tuple[pa.Array, int]:
    """Return the items and the number of one that is null; it is added when there is none."""
    null = np.flatnonzero(np.asarray(items.is_null()))
    if len(null):
        return items, int(null[0])
    return pa.concat_arrays([items, pa.nulls(1, items.type)]), len(items)


def _items(items: pa.Array, page: PageBuffers) -> ArrayEncoding:
    if is_variable(items.type):
        return encode_binary(items, page)
    return encode_nullable(items, page)


def is_variable(type_: pa.DataType) -> bool:
    """Whether values of the type are stored with end offsets."""
    types = pa.types
    return any(
        is_type(type_) for is_type in (types.is_string, types.is_large_string, types.is_binary)
    ) or bool(types.is_large_binary(type_))
