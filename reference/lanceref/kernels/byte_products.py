"""Byte products: a vector times rows of bytes.

Bytes become numbers block by block, in one place that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Number = TypeVar("Number", bound=np.floating)

BLOCK_BYTES = 2**17
"""Bytes that are multiplied together."""


def blocks(rows: Bytes) -> Iterator[slice]:
    """Yield the rows of bytes [n, d] that are looked at together."""
    step = max(1, BLOCK_BYTES // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        yield slice(start, min(start + step, len(rows)))


def products(rows: Bytes, vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of bytes [n, d] and a vector [d], in its type."""
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
