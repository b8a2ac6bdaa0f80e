"""Codes of a product quantizer as bytes.

A vector has a code for each sub-vector. Codes of 8 bits are a byte each; of those of 4 bits two lie
in a byte, the first in its low half. The rows of a partition lie one behind the other, or
transposed: first the first byte of each, then the second of each.

    rows        row 0: b0 b1 .. | row 1: b0 b1 .. | ..
    transposed  b0 of row 0, 1, .. | b1 of row 0, 1, .. | ..

Here the bytes of rows are [n, w], and columns are [w, n].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def columns_of(stored: Bytes, *, transposed: bool) -> Bytes:
    """Return the columns [w, n] of a partition whose rows are stored as [n, w]."""
    if transposed:
        return stored.reshape(stored.shape[::-1])
    return np.ascontiguousarray(stored.T)


def stored_from(columns: Bytes, *, transposed: bool) -> Bytes:
    """Return what is stored for the rows [n, w] of a partition with these columns."""
    if transposed:
        return np.ascontiguousarray(columns).reshape(columns.shape[::-1])
    return np.ascontiguousarray(columns.T)


def codes_in(columns: Bytes, num_bits: int) -> Bytes:
    """Return the codes [m, n] in columns: themselves, or the halves of each, 4 bits."""
    if num_bits == 8:
        return columns
    halves = np.stack([columns & 15, columns >> 4], axis=1)
    return halves.reshape(2 * len(columns), -1)


def columns_from(codes: Bytes, num_bits: int) -> Bytes:
    """Return the columns that hold codes [m, n]; m is even for 4 bits."""
    return codes if num_bits == 8 else codes[0::2] | codes[1::2] << np.uint8(4)
