"""Dictionary of a page: its items, and the values that its indices stand for.

Clauses: L.page.dictionary.key-width, L.page.dictionary.index-width, L.page.dictionary.index-range,
L.page.dictionary.num-items
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import remaining_buffer
from lanceref.codecs.values import Fixed, Validity, Values
from lanceref.core.arrow_buffers import bitmap
from lanceref.core.context import expect
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.leafvalues import leaf_array
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def value_type(type_: pa.DataType) -> pa.DataType:
    """Return what the items of a page's dictionary are."""
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def parse_items(
    encoding: CompressiveEncoding, cursor: Cursor, count: int, type_: pa.DataType
) -> pa.Array:
    """Parse the `count` items that fill the cursor, of a column of `type_`. Raises CorruptPage."""
    place = cursor.ctx.at(cursor.offset, cursor.remaining)
    values = decode_block(encoding, remaining_buffer(cursor), count)
    expect("L.page.dictionary.num-items", values.count, count, place)
    return leaf_array(value_type(type_), values, None, place)


def key_array(
    type_: pa.DataType, values: Values, validity: Validity, num_items: int, place: Place
) -> pa.Array:
    """Build the array of keys into `num_items` items, of a column of `type_`.

    The validity (values,). Raises CorruptPage.
    """
    indices = indices_of(values, num_items, place)
    bits = indices.dtype.itemsize * 8
    keys = pa.from_numpy_dtype(indices.dtype)
    if pa.types.is_dictionary(type_):
        keys = type_.index_type
    if keys.bit_width != bits:
        found, wanted = f"indices of {bits} bits", f"{keys.bit_width}, the width of {keys}"
        raise CorruptPage("L.page.dictionary.key-width", place, found, wanted)
    buffers = [bitmap(validity), pa.py_buffer(np.ascontiguousarray(indices))]
    return pa.Array.from_buffers(keys, len(indices), buffers)


def look_up(type_: pa.DataType, keys: pa.Array, items: pa.Array) -> pa.Array:
    """Return the array of `type_` whose keys (already below `len(items)`) name `items`."""
    if not pa.types.is_dictionary(type_):
        return items.take(keys)
    return pa.DictionaryArray.from_arrays(keys, items, ordered=type_.ordered, safe=False)


def indices_of(values: Values, num_items: int, place: Place) -> NDArray[np.unsignedinteger]:
    """Return decoded values as indices into `num_items` items of a dictionary: (values,).

    Raises CorruptPage.
    """
    if not isinstance(values, Fixed) or values.bits not in (8, 16, 32, 64):
        raise CorruptPage("L.page.dictionary.index-width", place, values, "unsigned integers")
    indices: NDArray[np.unsignedinteger] = values.data.view(f"<u{values.bits // 8}")
    if len(indices) and int(indices.max()) >= num_items:
        clause, found = "L.page.dictionary.index-range", f"an index {int(indices.max())}"
        raise CorruptPage(clause, place, found, f"an index below {num_items}")
    return indices
