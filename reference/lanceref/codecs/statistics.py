"""Statistics: what an encoder looks at before it chooses.

All are exact and cost one pass; those that only the oracle's choice needs are computed as it does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import BLOCK, Unsigned
from lanceref.codecs.rle_encode import MAX_RUN, starts_of
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Values, Variable

ENTROPY_SAMPLE = 64
"""Values whose bytes the entropy is taken of."""

SLAB = 1 << 15
"""Values compared at a time: what says whether they differ stays in the cache."""


def unsigned(values: Fixed) -> Unsigned:
    """Return values of 8, 16, 32 or 64 bits as integers."""
    return np.ascontiguousarray(values.data).view(f"<u{values.bits // 8}")


def max_value_bytes(values: Values) -> int:
    """Return the bytes of the longest value, without bitmaps of items."""
    if isinstance(values, Fixed):
        return values.bits // 8
    if isinstance(values, Variable):
        return int(np.diff(values.offsets).max(initial=0))
    if isinstance(values, FixedSizeList):
        items, bits = values.dimension, values.items
        while isinstance(bits, FixedSizeList):
            items, bits = items * bits.dimension, bits.items
        return items * bits.bits // 8 if isinstance(bits, Fixed) else 0
    return sum(map(max_value_bytes, values.fields)) if isinstance(values, Rows) else 0


def run_bytes(values: Unsigned, too_many: int) -> tuple[int, int]:
    """Return the number of runs, and the bytes that values and lengths of cut runs take.

    From `too_many` bytes on the runs are taken uncut: the bytes are fewer, but still too many.
    """
    runs, pair_bytes = num_runs(values), values.dtype.itemsize + 1
    if runs * pair_bytes >= too_many:
        return runs, runs * pair_bytes
    lengths = np.diff(np.append(starts_of(values), len(values)))
    return runs, int((-(-lengths // MAX_RUN)).sum()) * pair_bytes


def num_runs(values: Unsigned) -> int:
    """Return the number of runs."""
    later, changes = values[1:], min(1, len(values))
    for at in range(0, len(later), SLAB):
        part = later[at : at + SLAB]
        changes += int(np.count_nonzero(part != values[at : at + len(part)]))
    return changes


def packed_bytes(values: Unsigned, widths: NDArray[np.int64]) -> int:
    """Return the bytes that inline bitpacking of blocks of the given `widths` takes."""
    return int((values.dtype.itemsize + widths * BLOCK // 8).sum())


def byte_entropy(values: Fixed) -> float:
    """Return the mean entropy, in bits, of the bytes at each position of the first values."""
    cells = values.data.reshape(values.count, values.bits // 8)[:ENTROPY_SAMPLE]
    found = []
    for column in cells.T:
        counts = np.bincount(column)
        share = counts[counts > 0] / len(cells)
        found.append(int(-(share * np.log2(share)).sum() * 1000))
    return sum(found) / len(found) / 1000 if found else 0.0
