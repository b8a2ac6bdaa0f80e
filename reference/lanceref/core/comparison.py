"""Comparison with three-valued logic: where a side is null, the result is null.

Floating-point values have a total order: -NaN, -inf ... -0.0, 0.0 ... inf, NaN. Only a zero that is
written in the query counts as both zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused

Datum: TypeAlias = pa.Array | pa.Scalar

Compare = Callable[[Datum, Datum], Datum]


def equal(left: Datum, right: Datum) -> Datum:
    """Return whether two values are the same: bool."""
    if _is_zero(left) or _is_zero(right):
        return pc.equal(left.cast(pa.float64()), right.cast(pa.float64()))
    return pc.equal(_as_keys(left), _as_keys(right))


def less(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is the smaller one: bool. Raises QueryRefused for lists."""
    if pa.types.is_nested(left.type):
        raise QueryRefused(f"values of {left.type} have no order")
    if _is_zero(left):
        left = pa.scalar(0.0)
    if _is_zero(right):
        right = pa.scalar(-0.0)
    return pc.less(_as_keys(left), _as_keys(right))


def less_equal(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is not the greater one: bool."""
    return pc.invert(less(right, left))


def greater_equal(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is not the smaller one: bool."""
    return pc.invert(less(left, right))


def _is_zero(side: Datum) -> bool:
    is_float = isinstance(side, pa.Scalar) and pa.types.is_floating(side.type)
    return bool(is_float and side.is_valid and side.as_py() == 0)


def _as_keys(side: Datum) -> Datum:
    """Return values that Arrow compares as these: of floats integers, of nested values text."""
    types = pa.types
    if isinstance(side, pa.Scalar) and (types.is_nested(side.type) or types.is_floating(side.type)):
        return _as_keys(pa.repeat(side, 1))[0]
    if pa.types.is_floating(side.type):
        return total_order(side)
    if pa.types.is_nested(side.type):
        held = [None if one is None else repr(one) for one in side.to_pylist()]
        return pa.array(held, pa.utf8())
    return side


def total_order(values: pa.Array) -> pa.Array:
    """Return integers in the total order of floats, null where these are: int64."""
    floats = np.asarray(pc.fill_null(values, 0).to_numpy(zero_copy_only=False), np.float64)
    bits = floats.view(np.int64)
    keys = np.where(bits < 0, bits ^ np.int64((1 << 63) - 1), bits)
    return pa.array(keys, mask=values.is_null().to_numpy(zero_copy_only=False))


def sort_order(keys: Sequence[pa.Array], orders: Sequence[tuple[bool, bool]]) -> NDArray[np.int64]:
    """Return the row numbers (rows,) in the order of the keys, the first of which goes first.

    `orders` say of each key whether it is ascending, and whether nulls come first.
    """
    found = np.arange(len(keys[0]) if keys else 0)
    for key, (ascending, nulls_first) in reversed(list(zip(keys, orders, strict=True))):
        values = key.storage if isinstance(key, pa.ExtensionArray) else key
        if isinstance(values, pa.DictionaryArray):
            values = values.dictionary_decode()
        values = total_order(values) if pa.types.is_floating(values.type) else values
        values = values.take(pa.array(found))
        null = values.is_null().to_numpy(zero_copy_only=False)
        valid, missing = np.flatnonzero(~null), np.flatnonzero(null)
        table = pa.table({"key": values.take(pa.array(valid))})
        direction = "ascending" if ascending else "descending"
        ranked = valid[pc.sort_indices(table, sort_keys=[("key", direction)]).to_numpy()]
        found = found[np.concatenate((missing, ranked) if nulls_first else (ranked, missing))]
    return found
