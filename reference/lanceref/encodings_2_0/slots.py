"""Slots: rows of one width in raw buffers, each read from where it lies.

Random access to flat values needs no ranges and nothing to be picked from what was decoded: where
a row lies follows from its number.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import gather_rows
from lanceref.core.cursor import MERGE_GAP_BYTES, FileBytes
from lanceref.encodings_2_0.fixed_size_list import FixedSizeListArray
from lanceref.encodings_2_0.flat import FlatArray, RawFlat
from lanceref.encodings_2_0.page import PageArray


def slots_of(array: PageArray) -> tuple[int, int] | None:
    """Return at which byte the rows of a page begin, and the bits of each.

    None where rows do not lie one after another as they are.
    """
    if isinstance(array, FixedSizeListArray):
        found = slots_of(array.items)
        return found and (found[0], found[1] * int(array.type.list_size))
    if isinstance(array, FlatArray) and isinstance(array.values, RawFlat):
        return array.values.extent.offset, array.values.bits
    return None


def has_slots(bits: int) -> bool:
    """Whether rows of so many bits can be read one by one: single bits, or whole bytes."""
    return bits == 1 or (bits > 0 and bits % 8 == 0)


def take_slots(
    file: FileBytes,
    origins: NDArray[np.int64],
    rows: NDArray[np.int64],
    bits: int,
    type_: pa.DataType,
    clause: str,
    gap: int = MERGE_GAP_BYTES,
) -> pa.Array:
    """Return one value of `type_` for each of `rows` (n,), of `bits` bits each.

    Row i is that of the buffer that begins at byte `origins[i]` (n,) of the file. Raises
    OutOfRange for a row outside the file.
    """
    size = max(1, bits // 8)
    starts = origins + rows * bits // 8
    data, at = file.gather(starts, np.full(len(rows), size), "values", clause, gap)
    if bits == 1:
        values = np.packbits(data[at] >> (rows & 7).astype(np.uint8) & 1, bitorder="little")
    else:
        values = gather_rows(data, at, size).reshape(-1)
    return fixed_array(type_, len(rows), values)


def fixed_array(type_: pa.DataType, count: int, values: NDArray[np.uint8]) -> pa.Array:
    """Put packed values without nulls under a fixed-width type, or fixed-size lists of one."""
    if not pa.types.is_fixed_size_list(type_):
        return pa.Array.from_buffers(type_, count, [None, pa.py_buffer(values)])
    items = fixed_array(type_.value_type, count * int(type_.list_size), values)
    return pa.Array.from_buffers(type_, count, [None], children=[items])
