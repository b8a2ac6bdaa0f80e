"""Values: what a compressive encoding decodes to.

The stored form does not know the Arrow type; it knows fixed-width bits, variable-width bytes, fixed
size lists, and rows of packed structs. `pages` turns these into Arrow arrays of the leaf's type. A
null slot owns a value here too (its content means nothing). Encoders give the same to the layouts.
Pieces of the bytes of values are joined here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified

MAX_BITS = 2**31
"""Widest value, lists included: `values of a page * bits` stays inside an int64."""

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
"""Arrays, of one dimension unless a shape is given."""

Validity = NDArray[np.bool_] | None
"""Which values are valid; None when all are."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """`count` values of `bits` bits: `data` uint8 (ceil(count * bits / 8),), little-endian.

    One-bit values are packed, least significant first; zero bits mean values that are all null.
    """

    bits: int
    count: int
    data: Bytes


@dataclass(frozen=True, slots=True)
class Variable:
    """`count` byte strings: value i is `data[offsets[i]:offsets[i + 1]]`.

    `offsets` int64 (count + 1,), first 0, non-decreasing, last <= len(data); `data` uint8.
    """

    offsets: Ints
    data: Bytes

    @property
    def count(self) -> int:
        """Number of values, one fewer than there are offsets."""
        return len(self.offsets) - 1

    @property
    def is_ascii(self) -> bool:
        """Whether no byte is above 127: then every value is UTF-8, wherever it is cut."""
        return int(self.data.max(initial=0)) < 0x80


@dataclass(frozen=True, slots=True)
class FixedSizeList:
    """`count` lists of `dimension` items each, which may be such lists themselves.

    `validity` says which of the items are valid: bool (items,), None: all.
    """

    count: int
    dimension: int
    validity: Validity
    items: Fixed | FixedSizeList

    @property
    def bits(self) -> int:
        """Bits of the items of one value, without bitmaps."""
        return self.dimension * self.items.bits

    @property
    def innermost(self) -> Fixed:
        """The items below all levels: those that are no lists themselves."""
        return self.items if isinstance(self.items, Fixed) else self.items.innermost

    def levels(self) -> Iterator[tuple[int, Validity]]:
        """Yield of each level, the outermost first, the items of one value and their validity.

        The validity is (items of all values,).
        """
        yield self.dimension, self.validity
        if isinstance(self.items, FixedSizeList):
            for items, validity in self.items.levels():
                yield self.dimension * items, validity


@dataclass(frozen=True, slots=True)
class Rows:
    """`count` packed structs: one values object per field, in field order."""

    count: int
    fields: tuple[Values, ...]


Values = Fixed | Variable | FixedSizeList | Rows
"""What a page's values decode to."""


@specified
def join_pieces(data: Bytes, starts: Ints, ends: Ints) -> Bytes:
    """Return the byte ranges `starts`..`ends` of `data`, inside it, joined.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    pieces = [data[:0]]
    for start, end in zip(starts.tolist(), ends.tolist()):
        pieces.append(data[start:end])
    return np.concatenate(pieces)


def join_ranges(values: NDArray[np.generic], starts: Ints, ends: Ints) -> NDArray[np.generic]:
    """Return the ranges `starts`..`ends` (ascending) of `values`, joined; a view if they touch.

    `starts` and `ends` (n,).
    """
    cuts = np.flatnonzero(starts[1:] != ends[:-1])
    if not len(starts):
        return values[:0]
    first, last = np.append(starts[0], starts[cuts + 1]), np.append(ends[cuts], ends[-1])
    if not len(cuts):
        return values[int(first[0]) : int(last[0])]
    size = values.dtype.itemsize
    return join_pieces(values.view(np.uint8), first * size, last * size).view(values.dtype)
