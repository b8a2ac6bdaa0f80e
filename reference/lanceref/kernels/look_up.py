"""Look-up: sums of table entries that the bytes of rows choose.

    sum of a row = T[0][byte 0] + T[1][byte 1] + ..

One look-up costs the same for a byte as for two, so for many rows tables are put together in pairs:
the entry of two bytes b and c is T[0][b] + T[1][c], at b + 256 c.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Sums = TypeVar("Sums", np.float32, np.int32, np.uint16)
Bytes = NDArray[np.uint8]
Pairs = NDArray[np.uint16]

BLOCK_ROWS = 2**14
"""Rows that are looked up together, so that the sums stay in the cache."""

WORTH_PAIRS = 2**16
"""Rows from which on tables are put together: fewer take less time than that."""


def prepared(columns: Bytes) -> Bytes | Pairs:
    """Return columns of bytes [w, n] as they are looked up fastest, w even for pairs."""
    if columns.shape[1] < WORTH_PAIRS or len(columns) % 2:
        return columns
    return columns[0::2] | columns[1::2].astype(np.uint16) << np.uint16(8)


def looked_up(
    table: NDArray[Sums], columns: Bytes | Pairs, before: NDArray[Sums] | None = None
) -> NDArray[Sums]:
    """Return the sums [n] of a table [w, 256] for columns [w, n], or for pairs of them.

    They go on from what is `before` [n], by default from zero.
    """
    count = columns.shape[1]
    sums: NDArray[Sums] = np.zeros(count, table.dtype) if before is None else before.copy()
    if columns.dtype != np.uint16:
        for row, column in zip(table, columns, strict=True):
            _add(sums, row, column)
        return sums
    for low, high, column in zip(table[0::2], table[1::2], columns, strict=True):
        if count < WORTH_PAIRS:
            sums += high[column >> np.uint16(8)] + low[column & np.uint16(0xFF)]
        else:  # one table at a time: it stays in the cache
            _add(sums, (high[:, None] + low).ravel(), column)
    return sums


def looked_up_in(table: NDArray[Sums], columns: Bytes) -> NDArray[Sums]:
    """Return the same for few rows, whose columns are no pairs."""
    firsts = np.arange(len(table))[:, None] * table.shape[1]
    sums: NDArray[Sums] = np.add.reduce(table.ravel().take(firsts + columns), axis=0)
    return sums


def _add(sums: NDArray[Sums], row: NDArray[Sums], column: Bytes | Pairs) -> None:
    """Add to sums [n] what a column [n] chooses in a row of a table."""
    more = np.empty(min(BLOCK_ROWS, len(sums)), row.dtype)
    for start in range(0, len(sums), BLOCK_ROWS):
        own = sums[start : start + BLOCK_ROWS]
        row.take(column[start : start + BLOCK_ROWS], out=more[: len(own)], mode="clip")
        own += more[: len(own)]
