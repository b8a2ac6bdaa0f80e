"""Sums of product codes for few rows: all columns are looked up at once.

A look-up of few rows, as in a walk over a graph, costs its calls alone. The specification is
`kernels.product_quantizer.look_up`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels import product_quantizer
from lanceref.kernels.product_quantizer import Bytes, Sums

FEW = 256
"""Rows whose columns are looked up at once."""


@product_quantizer.look_up.replaced_by
def look_up(table: NDArray[Sums], columns: Bytes) -> NDArray[Sums]:
    """Return the sums [n] of the entries in a table [w, 256] for columns [w, n]."""
    if not 1 < columns.shape[1] <= FEW:  # of one row NumPy adds in another order
        return product_quantizer.look_up.plain(table, columns)
    firsts = np.arange(len(table))[:, None] * table.shape[1]
    entries = table.ravel().take(firsts + columns)
    sums: NDArray[Sums] = np.add.reduce(entries, axis=0, dtype=table.dtype)
    return sums
