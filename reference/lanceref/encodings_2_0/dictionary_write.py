"""Arrow dictionaries, encoded: keys of their own width, and items with a null for null rows.

Layout: see `dictionary`.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import DataRefused
from lanceref.encodings_2_0.binary_write import encode_binary
from lanceref.encodings_2_0.encode import PageBuffers, encode_nullable, no_nulls
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding


def encode_dictionary(arrays: Sequence[pa.DictionaryArray], page: PageBuffers) -> ArrayEncoding:
    """Encode dictionary arrays of one page; their dictionaries become one, concatenated or merged.

    Raises DataRefused when the items, with one for null rows, are more than the keys can tell.
    """
    key = arrays[0].type.index_type
    keys, items = _joined(arrays)
    nulls = np.concatenate([np.asarray(array.indices.is_null()) for array in arrays])
    if nulls.all():
        items = items[:0]
    if nulls.any() or not len(keys):
        items, null_item = _with_null(items)
        keys[nulls] = null_item
    if len(items) > _room(key):
        raise DataRefused(f"{len(items)} dictionary items are more than keys of {key} can tell")
    stored = keys.astype(key.to_pandas_dtype()).view(np.uint8)
    encoding = ArrayEncoding()
    encoding.dictionary.indices.CopyFrom(no_nulls(page.flat(stored, int(key.bit_width))))
    encoding.dictionary.items.CopyFrom(_items(items, page))
    encoding.dictionary.num_dictionary_items = len(items)
    return encoding


def _room(key: pa.DataType) -> int:
    """Return how many items keys of a type can tell."""
    bits = int(key.bit_width)
    return 1 << (bits - 1 if pa.types.is_signed_integer(key) else bits)


def _joined(arrays: Sequence[pa.DictionaryArray]) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the keys of all arrays and the items they name.

    Several dictionaries with as many items as there are rows, or with more than the keys can tell,
    are merged: of what rows use, each value is kept once. (The oracle keeps some values twice, as
    the hashes of its run would have it.)
    """
    items = pa.concat_arrays([array.dictionary for array in arrays])
    firsts = np.cumsum([0, *(len(array.dictionary) for array in arrays)])
    keys = np.concatenate([_keys(a) + first for a, first in zip(arrays, firsts[:-1], strict=True)])
    too_many = len(items) >= min(_room(arrays[0].type.index_type), len(keys))
    if len(arrays) == 1 or not too_many or not len(keys):
        return keys, items
    used = np.zeros(len(items), np.bool_)
    used[keys[~np.concatenate([np.asarray(a.indices.is_null()) for a in arrays])]] = True
    merged = items.take(pa.array(np.flatnonzero(used))).dictionary_encode("encode")
    numbers = np.zeros(len(items), np.int64)
    numbers[used] = merged.indices.to_numpy()
    return numbers[keys], merged.dictionary


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
