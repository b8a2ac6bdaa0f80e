"""Roaring bitmaps, portable serialization of 32-bit sets.

Values are grouped by their upper 16 bits into containers: sorted arrays of up to 4 096 lower
halves, bitmaps of 8 192 bytes, or runs.

Layout (little-endian): u32 cookie: 12346, then u32 number of containers; or 12347 with the number
of containers minus one in the upper half, then a bitmap of the containers that are runs. Then
for every container u16 key, u16 cardinality minus one; then, unless there are runs and fewer than
four containers, u32 offset of each; then the containers.

Clauses: L.table.roaring.cookie, L.table.roaring.containers, L.table.roaring.order,
L.table.roaring.offsets, L.table.roaring.end, L.table.limits.bitmap
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, FormatError, LimitExceeded, Place

NO_RUNS = 12346
RUNS = 12347
ARRAY_MAX = 4096
BITMAP_BYTES = 8192
OFFSETS_FROM = 4
VALUE_BYTES = 4


def parse_bitmap(cursor: Cursor) -> NDArray[np.uint32]:
    """Parse the bitmap that fills `cursor`: its values, uint32, ascending. Raises LimitExceeded.

    The result is (values,).
    """
    values = read_bitmap(cursor)
    cursor.check_end("L.table.roaring.end", FormatError)
    return values


def parse_set(cursor: Cursor) -> bitmaps.BitMap:
    """Parse the bitmap that fills `cursor`: a set that takes no more memory than its bytes.

    Raises LimitExceeded for as many values as `parse_bitmap` refuses: checking them takes time.
    """
    data = bytes(cursor.data)
    for _ in _containers(cursor):
        pass
    cursor.check_end("L.table.roaring.end", FormatError)
    return bitmaps.BitMap.deserialize(data)


def parse_embedded(data: bytes, ctx: Context, place: Place) -> bitmaps.BitMap:
    """Parse a bitmap in a field of a message, which owns the bytes. Raises as `parse_set`."""
    return parse_set(Cursor(memoryview(data), place.offset, replace(ctx, spans=None)))


def read_bitmap(cursor: Cursor) -> NDArray[np.uint32]:
    """Parse the bitmap that `cursor` begins with, as `parse_bitmap`: (values,)."""
    parts = list(_containers(cursor))
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


def _containers(cursor: Cursor) -> Iterator[NDArray[np.uint32]]:
    """Parse the bitmap that `cursor` begins with: yield the values of each container."""
    ctx, start, clause = cursor.ctx, cursor.offset, "L.table.roaring.containers"
    count, is_run = _parse_head(cursor)
    cursor.require(4 * count, f"{count} containers", clause)
    table = cursor.array("<u2", 2 * count, "keys and cardinalities", clause).tolist()
    keys, sizes = table[0::2], [less + 1 for less in table[1::2]]
    if any(key <= before for before, key in pairwise(keys)):
        raise CorruptPage("L.table.roaring.order", ctx.at(start), "keys", "ascending keys")
    limit, total = ctx.limits.expanded(len(cursor.data)) // VALUE_BYTES, sum(sizes)
    if total > limit:  # a run of 4 bytes holds up to 65 536 values
        place = ctx.at(start, len(cursor.data))
        raise LimitExceeded("L.table.limits.bitmap", place, f"{total} values", f"at most {limit}")
    stored: list[int] = []
    if is_run is None or count >= OFFSETS_FROM:
        stored = cursor.array("<u4", count, "container offsets", "L.table.roaring.offsets").tolist()
    places = []
    for number, (key, size) in enumerate(zip(keys, sizes, strict=True)):
        places.append(cursor.offset - start)
        low = _container(cursor, number, size, is_run is not None and bool(is_run[number]))
        yield low.astype(np.uint32) | np.uint32(key << 16)
    if stored and stored != places:
        ctx.lint("L.table.roaring.offsets", ctx.at(start), f"{stored[:8]}", f"{places[:8]}")


def _parse_head(cursor: Cursor) -> tuple[int, NDArray[np.bool_] | None]:
    """Return the number of containers, and which of them are runs (None: there are none)."""
    start, clause = cursor.offset, "L.table.roaring.containers"
    cookie = cursor.u32("cookie", "L.table.roaring.cookie")
    if cookie == NO_RUNS:
        return cursor.u32("containers", clause), None
    if cookie & 0xFFFF == RUNS:
        count = (cookie >> 16) + 1
        flags = cursor.take(-(-count // 8), "run flags", clause, "bitmap")
        bits = np.unpackbits(np.frombuffer(flags, np.uint8), count=count, bitorder="little")
        return count, bits.view(np.bool_)
    place = cursor.ctx.at(start, 4)
    raise CorruptPage("L.table.roaring.cookie", place, cookie, f"{NO_RUNS} or {RUNS}")


def _container(cursor: Cursor, number: int, size: int, is_run: bool) -> NDArray[np.uint16]:
    """Parse one container: its lower halves, uint16, ascending."""
    clause, name, start = "L.table.roaring.containers", f"container {number}", cursor.offset
    if is_run:
        runs = cursor.u16(f"{name} runs", clause)
        pairs = cursor.array("<u2", 2 * runs, f"{name} (start, length - 1)", clause)
        starts, lengths = pairs[0::2].astype(np.int64), pairs[1::2].astype(np.int64) + 1
        if np.any(starts[1:] < (starts + lengths)[:-1]) or np.any(starts + lengths > 2**16):
            raise _unordered(cursor, start, "runs that overlap", "rising runs")
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        low = (np.repeat(starts, lengths) + within).astype(np.uint16)
    elif size > ARRAY_MAX:
        data = cursor.take(BITMAP_BYTES, name, clause, "bitmap")
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        low = np.flatnonzero(bits).astype(np.uint16)
    else:
        low = cursor.array("<u2", size, name, clause).astype(np.uint16)
        if size > 1 and np.any(low[1:] <= low[:-1]):
            raise _unordered(cursor, start, "values", "ascending values")
    if len(low) != size:
        place = cursor.ctx.at(start, cursor.end - start)
        raise CorruptPage(clause, place, f"{len(low)} values", f"{size} values")
    return low


def _unordered(cursor: Cursor, start: int, found: str, wanted: str) -> CorruptPage:
    """Return the error of a container from `start` on."""
    place = cursor.ctx.at(start, cursor.end - start)
    return CorruptPage("L.table.roaring.order", place, found, wanted)
