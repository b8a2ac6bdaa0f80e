"""Values: what a compressive encoding decodes to, and what encoders give to the page layouts.

The stored form does not know the Arrow type; it knows fixed-width bits, variable-width bytes, fixed
size lists, and rows of packed structs. `pages` turns these into Arrow arrays of the leaf's type. A
null slot owns a value here too (its content means nothing).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, Flat

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
"""Arrays, of one dimension unless a shape is given."""


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
    """`count` lists of `dimension` items; `validity` bool (count * dimension,), None: all valid."""

    dimension: int
    count: int
    validity: Bools | None
    items: Fixed | FixedSizeList


@dataclass(frozen=True, slots=True)
class Rows:
    """`count` packed structs: one values object per field, in field order."""

    count: int
    fields: tuple[Values, ...]


Values = Fixed | Variable | FixedSizeList | Rows
"""What a page's values decode to."""


Part = tuple[Bytes, Ints]
"""One buffer of all chunks: their bytes joined, and its size in each chunk."""


@dataclass(frozen=True, slots=True)
class MiniBlocks:
    """Values cut into chunks: `counts` values in each, and the value buffers of all of them.

    All counts but the last are powers of two. The last chunk's word leaves out its count,
    unless `last_says_count`.
    """

    encoding: CompressiveEncoding
    counts: Ints
    buffers: tuple[Part, ...]
    last_says_count: bool = False


def flat_encoding(bits: int) -> CompressiveEncoding:
    """Return the description of values stored one after the other."""
    return CompressiveEncoding(flat=Flat(bits_per_value=bits))


def even_counts(count: int, per_chunk: int) -> Ints:
    """Return the values of each chunk when all but the last have `per_chunk`.

    The result is (chunks,).
    """
    counts = np.full(-(-count // per_chunk), per_chunk, np.int64)
    counts[-1:] = count - per_chunk * (len(counts) - 1)
    return counts
