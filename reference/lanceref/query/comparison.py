"""Comparison with three-valued logic: where a side is null, the result is null.

Floating-point values have a total order but for the sign of zero: NaN equals NaN and is greater
than every other value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Datum: TypeAlias = pa.Array | pa.Scalar

Compare = Callable[[Datum, Datum], Datum]


def equal(left: Datum, right: Datum) -> Datum:
    """Return whether two values are the same: bool."""
    left, right = _alike(left, right)
    if not _floating(left, right):
        return pc.equal(left, right)
    return pc.or_kleene(pc.equal(left, right), pc.and_kleene(pc.is_nan(left), pc.is_nan(right)))


def less(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is the smaller one: bool."""
    left, right = _alike(left, right)
    if not _floating(left, right):
        return pc.less(left, right)
    above = pc.and_kleene(pc.invert(pc.is_nan(left)), pc.is_nan(right))
    return pc.or_kleene(pc.less(left, right), above)


def not_equal(left: Datum, right: Datum) -> Datum:
    """Return whether two values differ: bool."""
    return pc.invert(equal(left, right))


def greater(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is the greater one: bool."""
    return less(right, left)


def less_equal(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is not the greater one: bool."""
    return pc.invert(less(right, left))


def greater_equal(left: Datum, right: Datum) -> Datum:
    """Return whether the first value is not the smaller one: bool."""
    return pc.invert(less(left, right))


def distinct(left: Datum, right: Datum) -> Datum:
    """Return whether two values differ, null being a value like others: bool without nulls."""
    both = pc.and_(pc.is_null(left), pc.is_null(right))
    same = pc.fill_null(equal(left, right), False)
    return pc.invert(pc.or_(both, same))


def _floating(left: Datum, right: Datum) -> bool:
    return bool(pa.types.is_floating(left.type) and pa.types.is_floating(right.type))


def _alike(left: Datum, right: Datum) -> tuple[Datum, Datum]:
    """Return both sides in types that Arrow compares: lists and structs only within one type."""
    if left.type == right.type and not pa.types.is_nested(left.type):
        return left, right
    if pa.types.is_nested(left.type):
        return _as_keys(left), _as_keys(right.cast(left.type) if left.type != right.type else right)
    if pa.types.is_integer(left.type) and pa.types.is_floating(right.type):
        left = left.cast(pa.float64(), safe=False)
    if pa.types.is_integer(right.type) and pa.types.is_floating(left.type):
        right = right.cast(pa.float64(), safe=False)
    return _widened(left), _widened(right)


def _widened(side: Datum) -> Datum:
    """Return half floats as wider ones: Arrow compares them with nothing else."""
    return side.cast(pa.float32()) if side.type == pa.float16() else side


def _as_keys(side: Datum) -> Datum:
    """Return nested values as text that is equal where they are; Arrow compares no others."""
    if isinstance(side, pa.Scalar):
        return pa.scalar(repr(side.as_py()) if side.is_valid else None, pa.utf8())
    held = [None if one is None else repr(one) for one in side.to_pylist()]
    return pa.array(held, pa.utf8())
