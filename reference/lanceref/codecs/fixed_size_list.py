"""Fixed-size lists of primitives: one leaf, with bitmaps for the validity of inner levels.

Layout in a chunk: for each level with `has_validity`, outermost first, a bitmap over its items;
then the flat items. Layout of one zipped value: the same bitmaps for the items of this value, then
the items. A level whose items are all null has the child `constant {}`: bitmaps, and no items.

Clauses: L.codec.fixed-size-list.bitmap, L.codec.fixed-size-list.all-null,
L.codec.fixed-size-list.size
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import flat
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.values import Fixed, FixedSizeList
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place
from lanceref.proto import encodings_v2_1_pb2 as pb

MAX_DIMENSION = 2**31 - 1
"""Largest number of items, of all levels together: Arrow counts them in int32."""

Validities = list[NDArray[np.bool_] | None]


def levels(encoding: pb.FixedSizeList) -> Iterator[pb.FixedSizeList]:
    """Yield the levels, outermost first."""
    while True:
        yield encoding
        if encoding.values.WhichOneof("compression") != "fixed_size_list":
            return
        encoding = encoding.values.fixed_size_list


def innermost(encoding: pb.FixedSizeList) -> pb.CompressiveEncoding:
    """Return the encoding of the items: `flat`, or `constant` when all of them are null."""
    *_, last = levels(encoding)
    return last.values


def items_per_value(encoding: pb.FixedSizeList) -> int:
    """Return the number of innermost items of one value."""
    total = 1
    for level in levels(encoding):
        total *= level.items_per_value
    return total


def decode_mini(encoding: pb.FixedSizeList, run: ChunkRun) -> FixedSizeList:
    """Decode bitmaps and items of every chunk."""
    validities: Validities = []
    per_value, buffer = 1, 0
    for level in levels(encoding):
        per_value *= level.items_per_value
        if not level.has_validity:
            validities.append(None)
            continue
        counts = run.counts * per_value
        run.want_sizes(buffer, -(-counts // 8), "L.codec.fixed-size-list.bitmap")
        run.own(buffer, "item validity", "bitmap", "L.codec.fixed-size-list.bitmap")
        bits = flat.join_bits(run, buffer, counts)
        total = run.num_values * per_value
        validities.append(np.unpackbits(bits, count=total, bitorder="little").view(np.bool_))
        buffer += 1
    if innermost(encoding).WhichOneof("compression") == "constant":
        raise _not_zipped(run.place())
    items = run.only(buffer).counting(run.counts * per_value)
    values = flat.decode(items, innermost(encoding).flat.bits_per_value, "items")
    return _nest(encoding, run.num_values, values, validities)


def decode_zip(
    encoding: pb.FixedSizeList, rows: NDArray[np.uint8], ctx: Context, place: Place
) -> FixedSizeList:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value)."""
    validities: Validities = []
    per_value, at = 1, 0
    for level in levels(encoding):
        per_value *= level.items_per_value
        if not level.has_validity:
            validities.append(None)
            continue
        size = -(-per_value // 8)
        bits = np.unpackbits(rows[:, at : at + size], axis=1, count=per_value, bitorder="little")
        validities.append(bits.reshape(-1).view(np.bool_))
        at += size
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
    return decode_zip(encoding, rows, run.ctx, run.place())


def value_bits(encoding: pb.FixedSizeList) -> int:
    """Return the bits of one zipped value: a multiple of eight."""
    per_value, total = 1, 0
    for level in levels(encoding):
        per_value *= level.items_per_value
        total += (per_value + 7 & -8) if level.has_validity else 0
    return total + (per_value * innermost(encoding).flat.bits_per_value + 7 & -8)


def _not_zipped(place: Place) -> CorruptPage:
    return CorruptPage(
        "L.codec.fixed-size-list.all-null",
        place,
        found="items that are all null in a chunk",
        wanted="a full-zip page",
    )


def _zip_items(
    encoding: pb.FixedSizeList,
    rows: NDArray[np.uint8],
    per_value: int,
    validities: Validities,
    place: Place,
) -> Fixed:
    items = innermost(encoding)
    if items.WhichOneof("compression") == "constant":
        last = validities[-1]
        if last is None or last.any() or rows.shape[1]:
            raise CorruptPage(
                "L.codec.fixed-size-list.all-null",
                place,
                found="items that are not all null",
                wanted="a bitmap of zeros and no item bytes",
            )
        return Fixed(0, len(rows) * per_value, np.empty(0, np.uint8))
    bits = items.flat.bits_per_value
    if per_value * bits % 8:
        raise CorruptPage(
            "L.codec.fixed-size-list.whole-bytes",
            place,
            found=f"{per_value} items of {bits} bits",
            wanted="items that fill whole bytes",
        )
    if rows.shape[1] * 8 != per_value * bits:
        raise CorruptPage(
            "L.codec.fixed-size-list.size",
            place,
            found=f"{rows.shape[1]} bytes of items in a value",
            wanted=f"{per_value} items of {bits} bits",
        )
    return Fixed(bits, len(rows) * per_value, np.ascontiguousarray(rows).reshape(-1))


def _nest(
    encoding: pb.FixedSizeList, count: int, values: Fixed, validities: Validities
) -> FixedSizeList:
    """Wrap the items level by level, from the innermost outward."""
    dimensions = [level.items_per_value for level in levels(encoding)]
    counts = [count]
    for dimension in dimensions:
        counts.append(counts[-1] * dimension)
    nested: Fixed | FixedSizeList = values
    for level in reversed(range(len(dimensions))):
        nested = FixedSizeList(dimensions[level], counts[level], validities[level], nested)
    assert isinstance(nested, FixedSizeList)
    return nested
