"""Joined values: the many things an index holds of a row, as one value that can be compared.

What a row has none of is empty; no index knows such a row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.index.row_set import Keys

JOINED = pa.large_binary()
"""Type of such values."""


def joined(numbers: NDArray[np.uint32], rows: NDArray[np.int64], num_rows: int) -> pa.Array:
    """Return of each of `num_rows` rows the bytes of its different numbers, ascending.

    `rows` says whose each number is.
    """
    order = np.lexsort((numbers, rows))
    numbers, rows = numbers[order], rows[order]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
    data = numbers[fresh].astype("<u4")
    counts = np.bincount(rows[fresh], minlength=num_rows)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64) * data.itemsize
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(JOINED, num_rows, buffers)


def joined_by_key(numbers: NDArray[np.uint32], keys: Keys) -> tuple[pa.Array, Keys]:
    """Return the numbers of each key as one value, and the keys."""
    own, rows = np.unique(keys, return_inverse=True)
    return joined(numbers, rows.astype(np.int64), len(own)), own


def may_be_missing(values: pa.Array) -> NDArray[np.bool_]:
    """Return which rows need not be known: those whose joined value is empty."""
    if values.type != JOINED:
        return np.zeros(len(values), np.bool_)
    empty = pc.equal(pc.binary_length(values), 0)
    return np.asarray(empty.to_numpy(zero_copy_only=False), np.bool_)
