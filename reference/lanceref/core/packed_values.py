"""Packed values: those of fixed width, one after another, single bits from the lowest of a byte on.

A fixed-size list is as wide as all of its items. What the buffers of an Arrow array hold is read
here: values, bytes and offsets.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import bitmap, has_wide_offsets


def fixed_array(type_: pa.DataType, count: int, values: NDArray[np.uint8]) -> pa.Array:
    """Put packed values (bytes,) without nulls under a type of fixed width, or lists of one."""
    if not pa.types.is_fixed_size_list(type_):
        return pa.Array.from_buffers(type_, count, [None, pa.py_buffer(values)])
    items = fixed_array(type_.value_type, count * int(type_.list_size), values)
    return pa.Array.from_buffers(type_, count, [None], children=[items])


def slice_bits(data: NDArray[np.uint8], start: int, count: int) -> NDArray[np.uint8]:
    """Return `count` bits from bit `start` on, packed from bit 0, with zeros after the last.

    Both are bitmaps: (bytes,).
    """
    first, skipped = divmod(start, 8)
    if skipped or count % 8:
        bits = np.unpackbits(data[first:], count=skipped + count, bitorder="little")
        return np.packbits(bits[skipped:], bitorder="little")
    return data[first : first + count // 8]


def concat_bits(
    data: NDArray[np.uint8], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return `counts` (n,) bits from each piece, packed from bit 0.

    `data` holds, one piece after another, the bytes that the bits `starts`..`starts + counts` of
    some bitmap touch.
    """
    skipped = starts % 8
    after = -(skipped + counts) % 8
    runs = np.stack((skipped, counts, after), 1).reshape(-1)
    wanted = np.repeat(np.tile([False, True, False], len(starts)), runs)
    return np.packbits(np.unpackbits(data, bitorder="little")[wanted], bitorder="little")


def value_bytes(array: pa.Array) -> NDArray[np.uint8]:
    """Return the values of fixed width that an array holds, also below nulls: uint8 (bytes,).

    Booleans are packed from bit 0.
    """
    data = bytes_of(array.buffers()[1])
    if pa.types.is_boolean(array.type):
        return slice_bits(data, array.offset, len(array))
    width = int(array.type.bit_width) // 8
    return data[array.offset * width : (array.offset + len(array)) * width]


def null_bitmap(nulls: NDArray[np.bool_]) -> pa.Buffer | None:
    """Return the bitmap of rows of which some are null (n,); None when none is."""
    return bitmap(~nulls) if nulls.any() else None


def bytes_of(buffer: pa.Buffer | None) -> NDArray[np.uint8]:
    """Return a buffer as uint8 (size,); no bytes for a missing one."""
    return np.frombuffer(b"" if buffer is None else buffer, np.uint8)


def offsets_of(array: pa.Array) -> NDArray[np.int64]:
    """Return the offsets of strings or lists as they are: (rows + 1,)."""
    dtype = np.dtype(np.int64 if has_wide_offsets(array.type) else np.int32)
    first, end = (dtype.itemsize * (array.offset + rows) for rows in (0, len(array) + 1))
    cut = bytes_of(array.buffers()[1])[first:end].view(dtype)  # arrays of nulls may have more bytes
    return cut.astype(np.int64) if len(cut) else np.zeros(1, np.int64)
