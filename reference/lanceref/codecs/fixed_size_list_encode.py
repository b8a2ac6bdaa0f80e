"""Fixed-size lists, encoded: validity bitmaps of the items, then the items.

Layout: see `fixed_size_list`.

Clauses: L.codec.fixed-size-list.size
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.encoded import MiniBlocks, Part, flat_encoding
from lanceref.codecs.values import Fixed, FixedSizeList
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def layers(values: FixedSizeList) -> Iterator[tuple[FixedSizeList, int]]:
    """Yield each list layer, outermost first, and the items of one value down to it."""
    items = 1
    inner: Fixed | FixedSizeList = values
    while isinstance(inner, FixedSizeList):
        items *= inner.dimension
        yield inner, items
        inner = inner.items


def innermost(values: FixedSizeList) -> Fixed:
    """Return the items of the innermost lists."""
    inner: Fixed | FixedSizeList = values
    while isinstance(inner, FixedSizeList):
        inner = inner.items
    return inner


def list_encoding(values: FixedSizeList, *, keeps_null_items: bool) -> CompressiveEncoding:
    """Return the description; lists of nothing but nulls have no items unless these are kept."""
    encoding = CompressiveEncoding()
    encoding.fixed_size_list.items_per_value = values.dimension
    encoding.fixed_size_list.has_validity = values.validity is not None
    if is_empty(values) and not keeps_null_items:
        encoding.fixed_size_list.values.constant.SetInParent()
    elif isinstance(values.items, FixedSizeList):
        inner = list_encoding(values.items, keeps_null_items=keeps_null_items)
        encoding.fixed_size_list.values.CopyFrom(inner)
    else:
        encoding.fixed_size_list.values.CopyFrom(flat_encoding(values.items.bits))
    return encoding


def is_empty(values: FixedSizeList) -> bool:
    """Whether every item of the lists is null."""
    return values.validity is not None and not values.validity.any()


def rows_per_chunk_bytes(values: FixedSizeList) -> tuple[int, int]:
    """Return the bytes that a word of values takes, and the values of a word (1, or 8 of bits)."""
    bitmap_bytes = sum(-(-n // 8) for layer, n in layers(values) if layer.validity is not None)
    *_, (_, items) = layers(values)
    bits = innermost(values).bits * items
    if bits % 8:
        return bitmap_bytes * 8 + bits, 8
    return bitmap_bytes + bits // 8, 1


def encode_mini(values: FixedSizeList, counts: NDArray[np.int64]) -> MiniBlocks:
    """Encode chunks of `counts` lists: one bitmap for each layer with nulls, then the items."""
    buffers: list[Part] = []
    for layer, items in layers(values):
        if layer.validity is not None:
            buffers.append(_bits_of_chunks(layer.validity.view(np.uint8), counts * items))
    *_, (_, items) = layers(values)
    inner = innermost(values)
    if inner.bits % 8:
        flags = np.unpackbits(inner.data, count=inner.count, bitorder="little")
        buffers.append(_bits_of_chunks(flags, counts * items))
    else:
        buffers.append((inner.data, counts * items * inner.bits // 8))
    return MiniBlocks(list_encoding(values, keeps_null_items=True), counts, tuple(buffers))


def _bits_of_chunks(flags: NDArray[np.uint8], counts: NDArray[np.int64]) -> Part:
    """Pack the flags of each chunk from a byte of its own on."""
    if not (counts[:-1] % 8).any():
        return np.packbits(flags, bitorder="little"), -(-counts // 8)
    ends = np.cumsum(counts)
    bounds = zip((ends - counts).tolist(), ends.tolist(), strict=True)
    parts = [np.packbits(flags[start:end], bitorder="little") for start, end in bounds]
    return np.concatenate(parts), -(-counts // 8)


def encode_zip(values: FixedSizeList) -> tuple[CompressiveEncoding, Fixed]:
    """Encode each list on its own: the bitmaps of its layers, then its items.

    Raises ValueError when a value does not take whole bytes.
    """
    cells: list[NDArray[np.uint8]] = []
    has_items = True
    for layer, items in layers(values):
        if layer.validity is not None:
            cells.append(_bits_of_values(layer.validity.view(np.uint8), values.count, items))
        if is_empty(layer):
            has_items = False
            break
    if has_items:
        *_, (_, items) = layers(values)
        inner = innermost(values)
        if inner.bits * items % 8:
            raise ValueError("fixed-size lists of bits that do not fill whole bytes")
        width = inner.bits * items // 8
        cells.append(inner.data[: values.count * width].reshape(values.count, width))
    rows = np.concatenate(cells, axis=1)
    encoding = list_encoding(values, keeps_null_items=False)
    return encoding, Fixed(8 * rows.shape[1], values.count, rows.reshape(-1))


def _bits_of_values(flags: NDArray[np.uint8], count: int, items: int) -> NDArray[np.uint8]:
    """Return the bitmap of each value, uint8 (count, bytes).

    Bits behind the items of a value mean nothing. As in the oracle's files they are those of the
    next value when this one begins at a whole byte of the items' own bitmap, and 0 otherwise.
    """
    room = -(-items // 8) * 8
    padded = np.append(flags, np.zeros(room, np.uint8))
    windows = np.lib.stride_tricks.sliding_window_view(padded, room)[: count * items : items]
    cells = np.packbits(windows, axis=1, bitorder="little")
    if items % 8:
        shifted = np.arange(count) * items % 8 != 0
        cells[shifted, -1] &= np.uint8((1 << items % 8) - 1)
    return cells
