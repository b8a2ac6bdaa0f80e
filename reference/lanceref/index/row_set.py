"""Row sets: the rows that an index finds, by row address or row id; RowAddrTreeMap as bytes.

The upper 32 bits of an address are the fragment. A set names single rows, and in some files whole
fragments.

Layout (little-endian): u32 number of fragments; of each, ascending, u32 fragment, u32 size, and so
many bytes of a Roaring bitmap of 32-bit row offsets; size 0: every row of the fragment.

Clauses: L.index.rows.count, L.index.rows.order, L.index.rows.bitmap, L.index.rows.end
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import specified
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.core.integers import is_in, unique
from lanceref.table.roaring import parse_bitmap, read_bitmap

Keys = NDArray[np.uint64]
"""Row addresses or row ids."""

ENTRY_BYTES = 8
SHIFT = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
NO_KEYS = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class RowSet:
    """`keys` are ascending and differ; the rows of `whole` fragments belong to it too."""

    keys: Keys = field(default_factory=lambda: NO_KEYS)
    whole: frozenset[int] = frozenset()

    def among(self, keys: Keys) -> NDArray[np.int64]:
        """Return the places (m,) of those `keys` (n,), in any order, that are in the set."""
        mask = is_in(keys, self.keys)
        for fragment in self.whole:
            mask |= keys >> SHIFT == fragment
        return np.flatnonzero(mask)

    def touches(self, fragments: Keys) -> NDArray[np.bool_]:
        """Return for each fragment (n,), by its id, whether a row of it is in the set."""
        bases = fragments << SHIFT
        some = np.searchsorted(self.keys, bases | LOW, "right") > np.searchsorted(self.keys, bases)
        return some | np.isin(fragments, [*self.whole])

    def offsets(self, fragment_id: int, num_rows: int) -> NDArray[np.int64]:
        """Return row offsets (n,) below `num_rows` of a fragment that are in the set, ascending."""
        if fragment_id in self.whole:
            return np.arange(num_rows)
        base = np.uint64(fragment_id) << SHIFT
        ends = np.array([base, base + np.uint64(num_rows)], np.uint64)
        first, end = np.searchsorted(self.keys, ends)
        return (self.keys[first:end] & LOW).astype(np.int64)

    @staticmethod
    def of(keys: Keys) -> RowSet:
        """Return the set of keys in any order, which may repeat. `keys` (n,)."""
        return RowSet(unique(keys))

    @staticmethod
    def union(sets: Sequence[RowSet]) -> RowSet:
        """Return the rows that are in any of some sets."""
        keys = [one.keys for one in sets]
        whole = frozenset[int]().union(*(one.whole for one in sets))
        return RowSet(unique(np.concatenate([NO_KEYS, *keys])), whole)

    @staticmethod
    def intersection(sets: Sequence[RowSet]) -> RowSet:
        """Return the rows that are in each of some sets, at least one."""
        first, *rest = sets
        for other in rest:
            own = np.isin(first.keys >> SHIFT, sorted(other.whole))
            own[other.among(first.keys)] = True
            foreign = np.isin(other.keys >> SHIFT, sorted(first.whole))
            both = RowSet(first.keys[own], first.whole & other.whole)
            first = RowSet.union([both, RowSet(other.keys[foreign])])
        return first

    @staticmethod
    def parse(cursor: Cursor) -> RowSet:
        """Parse the set that fills `cursor`. Raises FormatError."""
        rows = RowSet.read(cursor)
        cursor.check_end("L.index.rows.end", FormatError)
        return rows

    @staticmethod
    def read(cursor: Cursor) -> RowSet:
        """Parse the set that `cursor` begins with, as `parse`."""
        count = cursor.u32("number of fragments", "L.index.rows.count")
        cursor.require(count * ENTRY_BYTES, f"{count} fragments", "L.index.rows.count")
        keys: list[Keys] = [NO_KEYS]
        whole: set[int] = set()
        for fragment in _entries(cursor, count, "fragment", "L.index.rows.order"):
            size = cursor.u32("size of the bitmap", "L.index.rows.bitmap")
            if size:
                offsets = parse_bitmap(cursor.window(size, "bitmap", "L.index.rows.bitmap"))
                keys.append(offsets.astype(np.uint64) | np.uint64(fragment) << SHIFT)
            else:
                whole.add(fragment)
        return RowSet(np.concatenate(keys), frozenset(whole))

    def encode(self) -> bytes:
        """Return the set as bytes, bitmaps without run containers."""
        parts = {}
        starts = np.flatnonzero(np.diff(self.keys >> SHIFT, prepend=np.uint64(1 << 32)))
        for own in np.split(self.keys, starts[1:]) if len(self.keys) else ():
            bitmap = bitmaps.BitMap((own & LOW).astype(np.uint32), optimize=False)
            parts[int(own[0] >> SHIFT)] = bitmap.serialize()
        parts |= dict.fromkeys(self.whole, b"")
        entries = [struct.pack("<II", one, len(data)) + data for one, data in sorted(parts.items())]
        return struct.pack("<I", len(parts)) + b"".join(entries)


def _entries(cursor: Cursor, count: int, name: str, clause: str) -> Iterator[int]:
    """Yield the number that begins each of some entries, which rise. Raises FormatError."""
    last = -1
    for _ in range(count):
        start = cursor.offset
        number = cursor.u32(name, clause)
        if number <= last:
            place = cursor.ctx.at(start, ENTRY_BYTES)
            raise FormatError(clause, place, f"{name} {number} after {last}", "rising ones")
        last = number
        yield number


@specified
def encode_sets(keys: Keys, starts: NDArray[np.int64]) -> pa.Array:
    """Return each of the sets that begin at `starts` (sets,) of `keys` (n,) as bytes.

    Keys of a set may be in any order, and repeat.
    """
    parts = np.split(keys, starts[1:])[: len(starts)]
    return pa.array([RowSet.of(part).encode() for part in parts], pa.binary())


def parse_treemap(cursor: Cursor) -> Keys:
    """Parse a RoaringTreemap that fills `cursor`: its keys, ascending. Raises FormatError.

    Layout: u64 number of upper halves; of each, ascending, u32 upper half and a Roaring bitmap.
    The result is (keys,).
    """
    keys = read_treemap(cursor)
    cursor.check_end("L.index.treemap.end", FormatError)
    return keys


def read_treemap(cursor: Cursor) -> Keys:
    """Parse the treemap that `cursor` begins with, as `parse_treemap`: (keys,)."""
    count = cursor.u64("number of bitmaps", "L.index.treemap.count")
    cursor.require(count * ENTRY_BYTES, f"{count} bitmaps", "L.index.treemap.count")
    keys: list[Keys] = [NO_KEYS]
    for high in _entries(cursor, count, "upper half", "L.index.treemap.order"):
        keys.append(read_bitmap(cursor).astype(np.uint64) | np.uint64(high) << SHIFT)
    return np.concatenate(keys)


def encode_treemap(keys: Keys, *, runs: bool) -> bytes:
    """Return ascending keys (n,) as a RoaringTreemap, with runs where they are smaller."""
    return bitmaps.BitMap64(keys, optimize=runs).serialize()
