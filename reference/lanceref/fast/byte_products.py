"""Products of rows with a vector, block by block, and distances of bytes by such products.

Narrow numbers are widened in one place that stays in the cache. Whole numbers below the precision
of the type have no rounding: of bytes (c - q) ** 2 is c ** 2 - 2 c q + q ** 2 exactly. The
specifications are `kernels.distance.products` and `kernels.scalar_quantizer.l2_distances`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.plain import replaces
from lanceref.kernels import distance, scalar_quantizer
from lanceref.kernels.distance import BLOCK_VALUES, Floats, Number, blocks
from lanceref.kernels.scalar_quantizer import Bounds, Codes


@replaces(distance.products)
def products(rows: NDArray[np.number], vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of rows [n, d] and a vector [d], in its type."""
    if rows.dtype == vector.dtype or rows.size <= BLOCK_VALUES:
        return distance.products.plain(rows, vector)
    result = np.empty(len(rows), vector.dtype)
    wide = np.empty((next(blocks(rows)).stop, rows.shape[1]), vector.dtype)
    for some in blocks(rows):
        numbers = wide[: some.stop - some.start]
        np.copyto(numbers, rows[some])
        np.matmul(numbers, vector, out=result[some])
    return result


@replaces(scalar_quantizer.l2_distances)
def l2_distances(
    query: Codes, codes: Codes, squares: NDArray[np.floating], bounds: Bounds
) -> Floats:
    """Return the squared distances of bytes [n, d], with their `squares`, from a query's [d]."""
    numbers = query.astype(squares.dtype)
    near = products(codes, numbers)
    near *= -2
    near += squares
    near += numbers @ numbers
    return np.asarray(near.astype(np.float32, copy=False) * (bounds.step * bounds.step), np.float32)
