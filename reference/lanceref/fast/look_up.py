"""Look-ups in blocks of rows, of pairs of columns in one table for two bytes, of few rows at once.

Sums of pairs are added in another order: those of float32 may differ from the plain ones by a
rounding of each term. The specification is `kernels.product_quantizer.look_up`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import replaces
from lanceref.kernels import product_quantizer
from lanceref.kernels.product_quantizer import Bytes, Pairs, Sums

BLOCK_ROWS, FEW = 2**14, 256
"""Rows whose columns are looked up one by one together; rows whose columns are, all at once."""


@replaces(product_quantizer.look_up)
def look_up(
    table: NDArray[Sums], columns: Bytes | Pairs, before: NDArray[Sums] | None = None
) -> NDArray[Sums]:
    """Return the sums [n] of a table [w, 256] for columns [w, n], or for pairs of them.

    They are added to those `before` [n], by default to zero.
    """
    count = columns.shape[1]
    if before is None and columns.dtype == np.uint8 and 1 < count <= FEW:
        firsts = np.arange(len(table))[:, None] * table.shape[1]
        few: NDArray[Sums] = table.ravel().take(firsts + columns)
        found: NDArray[Sums] = np.add.reduce(few, axis=0, dtype=table.dtype)
        return found
    sums: NDArray[Sums] = np.zeros(count, table.dtype) if before is None else before.copy()
    if columns.dtype != np.uint16:
        for row, column in zip(table, columns, strict=True):
            _add(sums, row, column)
        return sums
    for low, high, column in zip(table[0::2], table[1::2], columns, strict=True):
        if count < product_quantizer.WORTH_PAIRS:
            sums += high[column >> np.uint16(8)] + low[column & np.uint16(0xFF)]
        else:  # one table at a time: it stays in the cache
            _add(sums, (high[:, None] + low).ravel(), column)
    return sums


def _add(sums: NDArray[Sums], row: NDArray[Sums], column: Bytes | Pairs) -> None:
    """Add to sums [n] the entries of a row of a table that a column [n] selects."""
    more = np.empty(min(BLOCK_ROWS, len(sums)), row.dtype)
    for start in range(0, len(sums), BLOCK_ROWS):
        own = sums[start : start + BLOCK_ROWS]
        row.take(column[start : start + BLOCK_ROWS], out=more[: len(own)], mode="clip")
        own += more[: len(own)]
