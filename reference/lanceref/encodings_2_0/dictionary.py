"""Dictionary: keys into distinct items.

Two conventions share one message; the schema's type tells them apart. A string field may be stored
so by the writer's own choice: keys are one byte, 0 is null, k stands for item k - 1. A field of
Arrow's dictionary type keeps its declared key type and counts from 0; its nulls point to an item
that is null.

Layout: indices (flat keys), then the buffers of the items.

Clauses: L.array.dictionary.num-items, L.array.dictionary.key-range, L.array.dictionary.key-width
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, OutOfRange
from lanceref.encodings_2_0.flat import FlatValues, bare_flat, open_flat, slot_bits
from lanceref.encodings_2_0.page import Page, PageArray, read
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.proto import encodings_v2_0_pb2 as pb

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
