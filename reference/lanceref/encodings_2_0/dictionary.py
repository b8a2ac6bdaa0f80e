"""Dictionary: keys into distinct items.

Two conventions share one message; the schema's type tells them apart. A string field may be stored
so by the writer's own choice: keys are one byte, 0 is null, k stands for item k - 1. A field of
Arrow's dictionary type keeps its declared key type and counts from 0; its nulls point to an item
that is null.

Layout: indices (flat keys), then the buffers of the items.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width

Arrow dictionaries, encoded: keys of their own width, and items with a null for null rows.

Layout: see `dictionary`.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, DataRefused, OutOfRange
from lanceref.encodings_2_0.binary import encode_binary
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, open_flat, slot_bits
from lanceref.encodings_2_0.nullable import PageBuffers, encode_nullable, no_nulls
from lanceref.encodings_2_0.page import Page, PageArray, RowRanges, read
from lanceref.proto import encodings_v2_0_pb2 as pb
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

ItemsOpener = Callable[[pb.ArrayEncoding, pa.DataType, int], PageArray]
"""Opens an encoding as the given number of items of a type."""


class DictionaryArray:
    """Keys and items of a page; the items are read once, when first needed."""

    def __init__(
        self,
        page: Page,
        keys: FlatValues,
        extent: Extent,
        items: PageArray,
        num_items: int,
        type_: pa.DataType,
    ) -> None:
        self._page = page
        self._keys = keys
        self._extent = extent
        self._items = items
        self._num_items = num_items
        self._type = type_
        self._decoded: pa.Array | None = None

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the keys."""
        return self._keys.plan(rows)

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Resolve the keys: to strings, or to an Arrow dictionary array."""
        data = self._keys.data(rows, parts)
        if self._decoded is None:
            self._decoded = read(self._items, self._page, RowRanges.single(0, self._num_items))
        if pa.types.is_dictionary(self._type):
            return self._arrow_dictionary(data, self._decoded)
        return self._strings(data, self._decoded)

    def _strings(self, keys: NDArray[np.uint8], items: pa.Array) -> pa.Array:
        self._check_range(keys, self._num_items + 1)
        indices = pa.array(keys.astype(np.int16) - 1, mask=keys == 0)
        return items.take(indices)

    def _arrow_dictionary(self, data: NDArray[np.uint8], items: pa.Array) -> pa.Array:
        keys = data.view(self._type.index_type.to_pandas_dtype())
        self._check_range(keys, self._num_items)
        if not items.null_count:
            return pa.DictionaryArray.from_arrays(pa.array(keys), items)
        valid = np.asarray(pc.is_valid(items))
        renumbered = (np.cumsum(valid) - valid).astype(keys.dtype)[keys]
        return pa.DictionaryArray.from_arrays(
            pa.array(renumbered, mask=~valid[keys]), items.drop_null()
        )

    def _check_range(self, keys: NDArray[np.integer], end: int) -> None:
        if len(keys) and (int(keys.min()) < 0 or int(keys.max()) >= end):
            raise OutOfRange(  # L.array.dictionary.key-range
                "L.array.dictionary.key-range",
                self._page.at(self._extent),
                found=f"keys from {keys.min()} to {keys.max()}",
                wanted=f"keys from 0 to {end - 1}",
            )


def open_dictionary(
    encoding: pb.Dictionary, type_: pa.DataType, num_rows: int, page: Page, opener: ItemsOpener
) -> DictionaryArray:
    """Open the keys and items of a page by the convention of the schema's type."""
    arrow = pa.types.is_dictionary(type_)
    flat = bare_flat(encoding.indices, page, "dictionary keys")
    bits = slot_bits(type_.index_type) if arrow else 8
    if flat.bits_per_value != bits:  # L.array.dictionary.key-width
        raise CorruptPage(
            "L.array.dictionary.key-width",
            page.place,
            found=f"keys of {flat.bits_per_value} bits",
            wanted=f"{bits} bits for {type_}",
        )
    keys = open_flat(flat, num_rows, page, "dictionary keys", f"dictionary keys u{bits}[]")
    num_items = encoding.num_dictionary_items  # L.array.dictionary.num-items
    items = opener(encoding.items, type_.value_type if arrow else type_, num_items)
    return DictionaryArray(page, keys, page.extent(flat.buffer), items, num_items, type_)


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
