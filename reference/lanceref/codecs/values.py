"""Values: what a compressive encoding decodes to.

The stored form does not know the Arrow type; it knows fixed-width bits, variable-width bytes, fixed
size lists, and rows of packed structs. `pages` turns these into Arrow arrays of the leaf's type. A
null slot owns a value here too (its content means nothing). Encoders give the same to the layouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    def take(self, at: Ints) -> Variable:
        """Return some of the values, copied. `at` (n,)."""
        sizes = self.offsets[at + 1] - self.offsets[at]
        offsets = np.append(0, np.cumsum(sizes))
        moved = np.repeat(self.offsets[at] - offsets[:-1], sizes)
        return Variable(offsets, self.data[moved + np.arange(len(moved))])

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
