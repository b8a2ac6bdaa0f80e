"""Fixed-size lists of primitives: one leaf, with bitmaps for the validity of inner levels.

Layout in a chunk: for each level with `has_validity`, outermost first, a bitmap over its items;
then the flat items. Layout of one zipped value: the same bitmaps for the items of this value, then
the items. A level whose items are all null has the child `constant {}`: bitmaps, and no items.

Clauses: L.codec.fixed-size-list.bitmap, L.codec.fixed-size-list.all-null,
L.codec.fixed-size-list.size, L.codec.fixed-size-list.whole-bytes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lanceref.codecs import flat
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import (
    Bools,
    Bytes,
    Fixed,
    FixedSizeList,
    Ints,
    MiniBlocks,
    Part,
    flat_encoding,
)
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

_ALL_NULL = "L.codec.fixed-size-list.all-null"

Validities = list[Bools | None]


def levels(encoding: pb.FixedSizeList) -> Iterator[pb.FixedSizeList]:
    """Yield the descriptions of nested fixed-size lists, the outermost first."""
    while True:
        yield encoding
        if encoding.values.WhichOneof("compression") != "fixed_size_list":
            return
        encoding = encoding.values.fixed_size_list


def innermost(encoding: pb.FixedSizeList) -> pb.CompressiveEncoding:
    """Return the encoding of the items: `flat`, or `constant` when all of them are null."""
    *_, last = levels(encoding)
    return last.values


def _validities(encoding: pb.FixedSizeList, cut: Callable[[int], Bools]) -> tuple[Validities, int]:
    """Return the validity of each level, and the items of a value below all of them.

    `cut` gives the next bitmap, by the items that one value has in it.
    """
    validities, per_value = Validities(), 1
    for level in levels(encoding):
        per_value *= level.items_per_value
        validities.append(cut(per_value) if level.has_validity else None)
    return validities, per_value


def decode_mini(encoding: pb.FixedSizeList, run: ChunkRun) -> FixedSizeList:
    """Decode bitmaps and items of every chunk. Raises CorruptPage."""
    buffers = iter(range(len(run.starts)))

    def cut(per_value: int) -> Bools:
        buffer, counts = next(buffers), run.counts * per_value
        run.want_sizes(buffer, -(-counts // 8), "L.codec.fixed-size-list.bitmap")
        run.own(buffer, "item validity", "bitmap", "L.codec.fixed-size-list.bitmap")
        bits = flat.join_bits(run, buffer, counts)
        return np.unpackbits(bits, count=int(counts.sum()), bitorder="little").view(np.bool_)

    validities, per_value = _validities(encoding, cut)
    if innermost(encoding).WhichOneof("compression") == "constant":
        raise CorruptPage(_ALL_NULL, run.place(), "all items null in a chunk", "a full-zip page")
    items = run.only(next(buffers)).counting(run.counts * per_value)
    values = flat.decode(items, innermost(encoding).flat.bits_per_value, "items")
    return _nest(encoding, run.num_values, values, validities)


def decode_zip(encoding: pb.FixedSizeList, rows: Bytes, place: Place) -> FixedSizeList:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value)."""
    at = 0

    def cut(per_value: int) -> Bools:
        nonlocal at
        cells, at = rows[:, at : at - per_value // -8], at - per_value // -8
        bits = np.unpackbits(cells, axis=1, count=per_value, bitorder="little")
        return bits.reshape(-1).view(np.bool_)

    validities, per_value = _validities(encoding, cut)
    values = _zip_items(encoding, rows[:, at:], per_value, validities, place)
    return _nest(encoding, len(rows), values, validities)


def decode_block(encoding: pb.FixedSizeList, run: ChunkRun) -> FixedSizeList:
    """Decode buffer 0 of every chunk: values in their zipped form."""
    size = value_bits(encoding) // 8
    wanted = run.counts * size
    if innermost(encoding).HasField("constant"):  # D.codec.null-list-dictionary
        wanted = np.where(run.sizes[0] == 2 * wanted, 2 * wanted, wanted)
    run.want_sizes(0, wanted, "L.codec.fixed-size-list.size")
    run.own(0, "values", "fixed-size lists", "L.codec.fixed-size-list.size")
    rows = run.gather(0)[: run.num_values * size].reshape(run.num_values, size)
    return decode_zip(encoding, rows, run.place())


def value_bits(encoding: pb.FixedSizeList) -> int:
    """Return the bits of one zipped value: a multiple of eight."""
    per_value, total = 1, 0
    for level in levels(encoding):
        per_value *= level.items_per_value
        total += (per_value + 7 & -8) if level.has_validity else 0
    return total + (per_value * innermost(encoding).flat.bits_per_value + 7 & -8)


def _zip_items(
    encoding: pb.FixedSizeList, rows: Bytes, per_value: int, validities: Validities, place: Place
) -> Fixed:
    items = innermost(encoding)
    if items.WhichOneof("compression") == "constant":
        last = validities[-1]
        if last is None or last.any() or rows.shape[1]:
            raise CorruptPage(_ALL_NULL, place, "valid items", "a bitmap of zeros")
        return Fixed(0, len(rows) * per_value, np.empty(0, np.uint8))
    bits = items.flat.bits_per_value
    found, wanted = f"{rows.shape[1]} bytes", f"{per_value} items of {bits} bits"
    if per_value * bits % 8:
        raise CorruptPage("L.codec.fixed-size-list.whole-bytes", place, wanted, "whole bytes")
    if rows.shape[1] * 8 != per_value * bits:
        raise CorruptPage("L.codec.fixed-size-list.size", place, found, wanted)
    return Fixed(bits, len(rows) * per_value, np.ascontiguousarray(rows).reshape(-1))


def _nest(
    encoding: pb.FixedSizeList, count: int, values: Fixed, validities: Validities
) -> FixedSizeList:
    """Wrap the items level by level, from the innermost outward."""
    shapes = []
    for level, validity in zip(levels(encoding), validities, strict=True):
        shapes.append((level.items_per_value, count, validity))
        count *= level.items_per_value
    nested: Fixed | FixedSizeList = values
    for shape in reversed(shapes):
        nested = FixedSizeList(*shape, nested)
    assert isinstance(nested, FixedSizeList)
    return nested


def layers(values: FixedSizeList) -> tuple[list[tuple[FixedSizeList, int]], Fixed]:
    """Return the list layers, outermost first, each with the items of one value; and the items."""
    found, items, inner = list[tuple[FixedSizeList, int]](), 1, values
    while True:
        items *= inner.dimension
        found.append((inner, items))
        if isinstance(inner.items, Fixed):
            return found, inner.items
        inner = inner.items


def list_encoding(values: FixedSizeList, *, keeps_null_items: bool) -> CompressiveEncoding:
    """Return the description; lists of nothing but nulls have no items unless these are kept."""
    if is_empty(values) and not keeps_null_items:
        items = CompressiveEncoding(constant=pb.Constant())
    elif isinstance(values.items, FixedSizeList):
        items = list_encoding(values.items, keeps_null_items=keeps_null_items)
    else:
        items = flat_encoding(values.items.bits)
    has_validity = values.validity is not None
    lists = pb.FixedSizeList(
        items_per_value=values.dimension, has_validity=has_validity, values=items
    )
    return CompressiveEncoding(fixed_size_list=lists)


def is_empty(values: FixedSizeList) -> bool:
    """Whether every item of the lists is null."""
    return values.validity is not None and not values.validity.any()


def bytes_per_word(values: FixedSizeList) -> tuple[int, int]:
    """Return the bytes that a word of values takes, and the values of a word (1, or 8 of bits)."""
    lists, inner = layers(values)
    bitmap_bytes = sum(-(-n // 8) for layer, n in lists if layer.validity is not None)
    bits = inner.bits * lists[-1][1]
    return (bitmap_bytes * 8 + bits, 8) if bits % 8 else (bitmap_bytes + bits // 8, 1)


def encode_mini(values: FixedSizeList, counts: Ints) -> MiniBlocks:
    """Encode chunks of `counts` lists: one bitmap for each layer with nulls, then the items.

    `counts` (chunks,).
    """
    buffers, (lists, inner) = list[Part](), layers(values)
    for layer, items in lists:
        if layer.validity is not None:
            buffers.append(_bits_of_chunks(layer.validity.view(np.uint8), counts * items))
    if inner.bits % 8:
        flags = np.unpackbits(inner.data, count=inner.count, bitorder="little")
        buffers.append(_bits_of_chunks(flags, counts * lists[-1][1]))
    else:
        buffers.append((inner.data, counts * lists[-1][1] * inner.bits // 8))
    return MiniBlocks(list_encoding(values, keeps_null_items=True), counts, tuple(buffers))


def _bits_of_chunks(flags: Bytes, counts: Ints) -> Part:
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
    cells, (lists, inner) = list[Bytes](), layers(values)
    for layer, items in lists:
        if layer.validity is not None:
            cells.append(_bits_of_values(layer.validity.view(np.uint8), values.count, items))
        if is_empty(layer):
            break
    else:
        bits = inner.bits * lists[-1][1]
        if bits % 8:
            raise ValueError("fixed-size lists of bits that do not fill whole bytes")
        cells.append(inner.data[: values.count * bits // 8].reshape(values.count, bits // 8))
    rows = np.concatenate(cells, axis=1)
    encoding = list_encoding(values, keeps_null_items=False)
    return encoding, Fixed(8 * rows.shape[1], values.count, rows.reshape(-1))


def _bits_of_values(flags: Bytes, count: int, items: int) -> Bytes:
    """Return the bitmap of each value, uint8 (count, bytes).

    Bits after the items of a value mean nothing. As in the oracle's files they are those of the
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
