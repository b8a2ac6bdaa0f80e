"""Look-up: sums of table entries that the bytes of rows choose.

    sum of a row = T[0][byte 0] + T[1][byte 1] + ..

One look-up costs the same for a byte as for two, so for many rows tables are put together in pairs:
the entry of two bytes b and c is T[0][b] + T[1][c], at b + 256 c.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Sums = TypeVar("Sums", np.float32, np.int32)
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


def looked_up(table: NDArray[Sums], columns: Bytes | Pairs) -> NDArray[Sums]:
    """Return the sums [n] of a table [w, 256] for columns [w, n], or for pairs of them."""
    if columns.dtype == np.uint16:
        table = (table[1::2, :, None] + table[0::2, None, :]).reshape(-1, 1 << 16)
    sums: NDArray[Sums] = np.empty(columns.shape[1], table.dtype)
    more = np.empty(min(len(sums), BLOCK_ROWS), table.dtype)
    for start in range(0, len(sums), BLOCK_ROWS):
        block = sums[start : start + BLOCK_ROWS]
        part = columns[:, start : start + BLOCK_ROWS]
        np.take(table[0], part[0], out=block, mode="clip")
        for row, column in zip(table[1:], part[1:], strict=True):
            np.take(row, column, out=more[: len(block)], mode="clip")
            block += more[: len(block)]
    return sums
