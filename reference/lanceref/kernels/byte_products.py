"""Byte products: a vector times rows of bytes, or of other numbers.

What is shorter than the numbers of the vector becomes such block by block, in one place that stays
in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.floating)

BLOCK_BYTES = 2**17
"""Bytes that are multiplied together."""


def blocks(rows: NDArray[np.number]) -> Iterator[slice]:
    """Yield the rows [n, d] that are looked at together."""
    step = max(1, BLOCK_BYTES // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        yield slice(start, min(start + step, len(rows)))


def products(rows: NDArray[np.number], vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of rows [n, d] and a vector [d], in its type."""
    if rows.dtype == vector.dtype or rows.size <= BLOCK_BYTES:
        at_once: NDArray[Number] = rows.astype(vector.dtype, copy=False) @ vector
        return at_once
    result = np.empty(len(rows), vector.dtype)
    wide = np.empty((0, 0), vector.dtype)
    for some in blocks(rows):
        block = rows[some]
        if not len(wide):
            wide = np.empty(block.shape, vector.dtype)
        numbers = wide[: len(block)]
        np.copyto(numbers, block)
        np.matmul(numbers, vector, out=result[some])
    return result
