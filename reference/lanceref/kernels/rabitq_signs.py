"""Signs of RabitQ: one bit for each component of a rotated residual.

A bit is 1 where the component is not negative; -0 is. Component i is bit i % 8 of byte i // 8. The
bytes of a partition of n rows are stored one row behind the other, or packed: full blocks of 32
rows, in each of these for every byte of a row 32 bytes of halves of it, so that one shuffle looks
up 16 rows.

    byte j,      j < 16   low half of rows ORDER[j] and ORDER[j] + 16 in the low and high half
    byte j + 16, j < 16   high halves of the same rows

The n % 32 rows behind the blocks are transposed. Here bytes of rows are columns, [d / 8, n].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats

Bytes = NDArray[np.uint8]

BLOCK = 32
"""Rows of a block."""

ORDER = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])
"""Rows of a block in whose order their halves lie."""

FOUR = np.uint8(4)
LOW = np.uint8(15)


def sign_columns(rotated: Floats) -> Bytes:
    """Return the signs of rotated residuals [n, d] as columns, d a multiple of 8."""
    return np.packbits(~np.signbit(rotated.T), axis=0, bitorder="little")


def signs_in(columns: Bytes) -> NDArray[np.bool_]:
    """Return which components are not negative, [n, d]."""
    bits = np.unpackbits(columns, axis=0, bitorder="little")
    return np.ascontiguousarray(bits.T).view(np.bool_)


def columns_of(stored: Bytes, *, packed: bool) -> Bytes:
    """Return the columns [w, n] of a partition whose rows are stored as [n, w]."""
    if not packed:
        return np.ascontiguousarray(stored.T)
    num_rows, width = stored.shape
    full = num_rows - num_rows % BLOCK
    groups = stored[:full].reshape(-1, width, 2, len(ORDER))
    blocks = np.empty((len(groups), width, BLOCK), np.uint8)
    blocks[:, :, ORDER] = groups[:, :, 0] & LOW | groups[:, :, 1] << FOUR
    blocks[:, :, ORDER + 16] = groups[:, :, 0] >> FOUR | groups[:, :, 1] & ~LOW
    columns = np.empty((width, num_rows), np.uint8)
    columns[:, :full] = blocks.transpose(1, 0, 2).reshape(width, full)
    columns[:, full:] = stored[full:].reshape(width, num_rows - full)
    return columns


def stored_from(columns: Bytes, *, packed: bool) -> Bytes:
    """Return what is stored for the rows [n, w] of a partition with these columns."""
    if not packed:
        return np.ascontiguousarray(columns.T)
    width, num_rows = columns.shape
    full = num_rows - num_rows % BLOCK
    blocks = columns[:, :full].reshape(width, -1, BLOCK).transpose(1, 0, 2)
    first, second = blocks[:, :, ORDER], blocks[:, :, ORDER + 16]
    groups = np.stack([first & LOW | second << FOUR, first >> FOUR | second & ~LOW], axis=2)
    stored = np.empty((num_rows, width), np.uint8)
    stored[:full] = groups.reshape(full, width)
    stored[full:] = columns[:, full:].reshape(num_rows - full, width)
    return stored
