"""Values: what a compressive encoding decodes to.

The stored form does not know the Arrow type; it knows fixed-width bits, variable-width bytes, fixed
size lists, rows of packed structs, and indices into a dictionary. `pages` turns these into Arrow
arrays of the leaf's type. A null slot owns a value here too (its content means nothing).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Fixed:
    """`count` values of `bits` bits: `data` uint8 (ceil(count * bits / 8),), little-endian.

    One-bit values are packed, least significant first; zero bits mean values that are all null.
    """

    bits: int
    count: int
    data: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Variable:
    """`count` byte strings: value i is `data[offsets[i]:offsets[i + 1]]`.

    `offsets` int64 (count + 1,), first 0, non-decreasing, last <= len(data); `data` uint8.
    `known_ascii`: the codec can tell that no byte is above 127.
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    known_ascii: bool = False

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.offsets) - 1

    def take(self, at: NDArray[np.int64]) -> Variable:
        """Return some of the values, copied."""
        sizes = self.offsets[at + 1] - self.offsets[at]
        offsets = np.append(0, np.cumsum(sizes))
        moved = np.repeat(self.offsets[at] - offsets[:-1], sizes)
        return Variable(offsets, self.data[moved + np.arange(len(moved))])

    @property
    def is_ascii(self) -> bool:
        """Whether no byte is above 127: then every value is UTF-8, wherever it is cut."""
        return self.known_ascii or len(self.data) == 0 or int(self.data.max()) < 0x80


@dataclass(frozen=True, slots=True)
class FixedSizeList:
    """`count` lists of `dimension` items; `validity` bool (count * dimension,), None: all valid."""

    dimension: int
    count: int
    validity: NDArray[np.bool_] | None
    items: Fixed | FixedSizeList


@dataclass(frozen=True, slots=True)
class Rows:
    """`count` packed structs: one values object per field, in field order."""

    count: int
    fields: tuple[Values, ...]


@dataclass(frozen=True, slots=True)
class Indexed:
    """`indices` into the `items` of a dictionary: unsigned (count,), every one < items.count."""

    indices: NDArray[np.unsignedinteger]
    items: Values

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.indices)


Values = Fixed | Variable | FixedSizeList | Rows | Indexed
"""What a page's values decode to."""
