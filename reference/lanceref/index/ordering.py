"""Order of values: what a sorted index and bounds of values go by.

Null comes first, then values in their order: numbers and moments by size, text and bytes by bytes,
false before true, floats in the IEEE total order from -NaN to NaN.
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.comparison import total_order
from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed
from lanceref.file.schema import Field
from lanceref.index.training import leaf

POOL_VARIABLE = "LANCE_MEM_POOL_SIZE"
"""Variable of the environment that says how many bytes a sort may hold."""

BYPASS_VARIABLE = "LANCE_BYPASS_SPILLING"
"""Variable of the environment that lets a sort hold as many as it needs."""


def sort_keys(values: pa.Array) -> pa.Array:
    """Return values that Arrow orders as these are ordered."""
    return total_order(values) if pa.types.is_floating(values.type) else values


def sorted_order(values: pa.Array) -> NDArray[np.int64]:
    """Return the places of values in ascending order, nulls first; equal ones stay in order."""
    keys = sort_keys(values)
    order = pc.array_sort_indices(keys, order="ascending", null_placement="at_start")
    return np.asarray(order.to_numpy(), np.int64)


def check_memory(size_bytes: int) -> None:
    """Raise EditFailed for more bytes than the environment lets a sort hold.

    All of it is done in memory: nothing is said where spilling is to be bypassed.
    """
    limit = os.environ.get(POOL_VARIABLE, "")
    if not limit.isdecimal() or os.environ.get(BYPASS_VARIABLE):
        return
    if size_bytes > int(limit):
        raise EditFailed(
            f"Resources exhausted: a sort of {size_bytes} bytes in a pool of {limit} bytes"
        )


def run_starts(values: pa.Array) -> NDArray[np.int64]:
    """Return where each run of equal neighbours begins; null equals null."""
    if not len(values):
        return np.empty(0, np.int64)
    keys = sort_keys(values)
    same = pc.equal(keys.slice(1), keys.slice(0, len(keys) - 1))
    nulls = pc.and_(pc.is_null(keys.slice(1)), pc.is_null(keys.slice(0, len(keys) - 1)))
    joined = pc.or_(pc.fill_null(same, False), nulls).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(~joined.astype(np.bool_)) + 1])


def has_order(field: Field) -> bool:
    """Return whether the values of a column can be compared."""
    type_ = leaf(field).arrow.type
    if isinstance(type_, pa.BaseExtensionType):
        type_ = type_.storage_type
    checks = pa.types
    return bool(
        checks.is_integer(type_)
        or checks.is_floating(type_)
        or checks.is_boolean(type_)
        or checks.is_string(type_)
        or checks.is_large_string(type_)
        or checks.is_binary(type_)
        or checks.is_large_binary(type_)
        or checks.is_fixed_size_binary(type_)
        or checks.is_temporal(type_)
        or checks.is_decimal(type_)
    )
