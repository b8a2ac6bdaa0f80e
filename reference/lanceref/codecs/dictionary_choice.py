"""Choice of dictionaries: when repeated values are stored once.

Clauses: L.page.dictionary.index-width
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.choose import Kind
from lanceref.codecs.encoder_inputs import Params
from lanceref.codecs.values import Fixed, FixedSizeList, Values, Variable
from lanceref.core.file_versions import V2_1, V2_3, FileVersion

INDEX_BYTES = 4
"""Bytes of an index."""

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd number that spreads values over the upper bits of a product."""

HASHED = 16
"""Bytes of a value that are hashed."""

MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""The mask of the first bytes of a word, by their number."""

FEW = 4096
"""Values that must mostly differ before more are looked at."""

HASH_BITS = 21
"""Bits of a hash: its table stays near the cache, and few values share one."""

Indexed = tuple[NDArray[np.uint32], Values]
"""Indices of values, and the distinct values in the order of their first use."""


def choose_dictionary(
    values: Values, params: Params, version: FileVersion, kind: Kind
) -> Indexed | None:
    """Return indices and items when a dictionary is small enough; None when it is not."""
    if not _may_repeat(values, version) or values.count < params.dict_too_small:
        return None
    most = min(values.count // params.dict_divisor, params.dict_max_cardinality)
    cells = _cells(values)
    if _are_many(values, cells, most):
        return None
    found = cells.dictionary_encode()
    if len(found.dictionary) > most:
        return None
    items = _items(values, found.dictionary)
    size, raw = _sizes(values, items, kind)
    if size > params.dict_size_ratio * raw:
        return None
    indices = np.frombuffer(found.indices.buffers()[1], np.int32)[: values.count].view(np.uint32)
    return indices, items


def _are_many(values: Values, cells: pa.Array, most: int) -> bool:
    """Whether the first values alone are seen to have more than `most` distinct ones."""
    sample = most + most // 8
    if isinstance(values, Fixed) and values.bits == 64:
        return _num_slots(values.data.view("<u8")[: 2 * sample] * SPREAD) > most
    few = cells.slice(0, FEW)
    if 2 * len(few.unique()) <= len(few):
        return False
    if isinstance(values, Variable) and _num_slots(_hashes(values, sample)) > most:
        return True
    return len(cells.slice(0, sample).unique()) > most


def _num_slots(hashes: NDArray[np.uint64]) -> int:
    """Return how many slots hashes fall into: at most as many as there are distinct values."""
    seen = np.zeros(1 << HASH_BITS, np.bool_)
    seen[(hashes >> np.uint64(64 - HASH_BITS)).view(np.int64)] = True
    return int(np.count_nonzero(seen))


def _hashes(values: Variable, count: int) -> NDArray[np.uint64]:
    """Return hashes of the first values, by their first HASHED bytes."""
    starts = values.offsets[:-1][:count]
    sizes = values.offsets[1:][:count] - starts
    data = np.append(values.data[: int(starts[-1] + sizes[-1])], np.zeros(8, np.uint8))
    words = np.ndarray((len(data) - 7,), "<u8", data.data, strides=(1,))
    hashes = np.zeros(len(starts), np.uint64)
    for at in range(0, HASHED, 8):
        kept = MASKS.take(sizes - at, mode="clip")
        hashes = (hashes ^ (words[starts + np.minimum(at, sizes)] & kept)) * SPREAD
        hashes ^= hashes >> np.uint64(32)
    return hashes * SPREAD


def _may_repeat(values: Values, version: FileVersion) -> bool:
    if isinstance(values, Fixed):
        return values.bits == 128 or (values.bits == 64 and version > V2_1)
    if isinstance(values, FixedSizeList):
        items = values.items
        plain = values.validity is None and isinstance(items, Fixed) and items.bits % 8 == 0
        return version == V2_3 and plain
    return isinstance(values, Variable)


def _cells(values: Values) -> pa.Array:
    """Return the values as byte strings."""
    if isinstance(values, Variable):
        buffers = [None, pa.py_buffer(values.offsets), pa.py_buffer(values.data)]
        return pa.Array.from_buffers(pa.large_binary(), values.count, buffers)
    data, width = _plain(values)
    return pa.Array.from_buffers(pa.binary(width), values.count, [None, pa.py_buffer(data)])


def _plain(values: Values) -> tuple[NDArray[np.uint8], int]:
    """Return the bytes of values of fixed width, and the bytes of one."""
    if isinstance(values, FixedSizeList):
        assert isinstance(values.items, Fixed)
        return values.items.data, values.items.bits * values.dimension // 8
    assert isinstance(values, Fixed)
    return values.data, values.bits // 8


def _sizes(values: Values, items: Values, kind: Kind) -> tuple[int, int]:
    """Return the bytes of items and indices, and those of the values without a dictionary."""
    width = kind.offset_bits // 8
    sizes = []
    for one in (items, values):
        if isinstance(one, Variable):
            sizes.append(int(one.offsets[-1]) + len(one.offsets) * width)
        else:
            sizes.append(len(_plain(one)[0]))
    return sizes[0] + values.count * INDEX_BYTES, sizes[1]


def _items(values: Values, items: pa.Array) -> Values:
    if isinstance(values, Variable):
        _, offsets, data = items.buffers()
        table = np.frombuffer(offsets, np.int64)[: len(items) + 1]
        stored = np.frombuffer(data if data is not None else b"", np.uint8)[: int(table[-1])]
        return Variable(table, stored)
    data, width = _plain(values)
    stored = np.frombuffer(items.buffers()[1], np.uint8)[: len(items) * width]
    if isinstance(values, FixedSizeList):
        assert isinstance(values.items, Fixed)
        inner = Fixed(values.items.bits, len(items) * values.dimension, stored)
        return FixedSizeList(values.dimension, len(items), None, inner)
    return Fixed(8 * width, len(items), stored)
