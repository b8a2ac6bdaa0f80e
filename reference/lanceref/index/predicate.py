"""Predicates: what an index may be asked about one column.

A predicate is true or false for a value; for null it is neither, but for `IsNull`. An index is
never asked the negation of a predicate: the caller takes the rows of the predicate, and those that
are null, out of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.comparison import equal, greater_equal, less, less_equal
from lanceref.core.compute import pc

SHOWN_BYTES = 10
"""Bytes that are shown of more."""


def scalar_text(value: pa.Scalar) -> str:
    """Return a value as the text that plans and messages show."""
    types, type_ = pa.types, value.type
    if not value.is_valid:
        return "NULL"
    if types.is_floating(type_):
        number = np.promote_types(type_.to_pandas_dtype(), np.float32).type(value.as_py())
        if np.isfinite(number):  # in the fewest digits that tell it apart, without an exponent
            return np.format_float_positional(number, trim="-")
        return {"nan": "NaN"}.get(str(number), str(number))
    if types.is_boolean(type_):
        return str(value.as_py()).lower()
    if types.is_decimal(type_):
        digits = int(value.as_py().scaleb(type_.scale))
        return f"Some({digits}),{type_.precision},{type_.scale}"
    if types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_):
        data: bytes = value.as_py()
        return data[:SHOWN_BYTES].hex() + ("..." if len(data) > SHOWN_BYTES else "")
    if types.is_temporal(type_) and not types.is_date(type_):
        return str(value.value)
    return str(value)


Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class IsNull:
    """True for the rows whose value is null."""


@dataclass(frozen=True, slots=True)
class Among:
    """The value is one of some, none of them null: an array of the column's type."""

    values: tuple[pa.Scalar, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """The value lies between two ends; a missing end is open."""

    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    low_closed: bool = True
    high_closed: bool = True


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text, or the bytes, begin with a prefix."""

    prefix: pa.Scalar


@dataclass(frozen=True, slots=True)
class Contains:
    """True for the rows whose text contains another text."""

    text: str


@dataclass(frozen=True, slots=True)
class HasWords:
    """The text contains every one of some words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression matches somewhere in the text."""

    pattern: str


@dataclass(frozen=True, slots=True)
class HasLabels:
    """The list contains some labels, none of them null: any of them, or every one."""

    labels: tuple[pa.Scalar, ...]
    every: bool = False


@dataclass(frozen=True, slots=True)
class Intersects:
    """The geometry intersects another, given as well-known binary."""

    geometry: bytes


OnValues: TypeAlias = IsNull | Among | Within | StartsWith
"""Predicates that an order of the values helps with."""

Predicate: TypeAlias = OnValues | Contains | HasWords | Matches | HasLabels | Intersects


def holds(predicate: OnValues, values: pa.Array) -> Mask:
    """Return for each value whether a predicate is true: bool (values,)."""
    match predicate:
        case IsNull():
            mask = pc.is_null(values)
        case StartsWith(prefix):
            is_large = values.type in (pa.large_string(), pa.large_binary())
            data = values.cast(pa.large_binary() if is_large else pa.binary())
            mask = pc.starts_with(data, prefix.as_buffer().to_pybytes())
        case Among(wanted) if pa.types.is_floating(values.type):
            mask = pa.array(np.zeros(len(values), np.bool_))
            for value in wanted:
                mask = pc.or_(mask, pc.fill_null(equal(values, value), False))
        case Among((value,)) if value.type == values.type and pa.types.is_primitive(value.type):
            mask = pc.equal(values, value)
        case Among(wanted):
            mask = pc.is_in(values, pa.array(list(wanted), values.type))
        case Within(low, high, low_closed, high_closed):
            mask = pc.is_valid(values)
            if low is not None:
                mask = pc.and_(mask, (less_equal if low_closed else less)(low, values))
            if high is not None:
                mask = pc.and_(mask, (less_equal if high_closed else less)(values, high))
    return _filled(mask, False)


def may_hold(predicate: OnValues, least: pa.Array, greatest: pa.Array) -> Mask:
    """Return for each run of values with these bounds whether the predicate may be true: bool.

    A bound that is null says nothing; whether a run has nulls the caller has to know: (runs,).
    """
    match predicate:
        case IsNull():
            return np.ones(len(least), np.bool_)
        case Among(values):
            mask = np.zeros(len(least), np.bool_)
            for value in values:
                mask |= _overlaps(value, value, least, greatest)
            return mask
        case StartsWith(prefix):
            return _overlaps(prefix, prefix_end(prefix), least, greatest)
        case Within(low, high):
            return _overlaps(low, high, least, greatest)


def _overlaps(
    low: pa.Scalar | None, high: pa.Scalar | None, least: pa.Array, greatest: pa.Array
) -> Mask:
    """Return for each run of values whether it reaches into low..high, both ends included."""
    mask = np.ones(len(least), np.bool_)
    if high is not None:
        mask &= _filled(less_equal(least, high), True)
    if low is not None:
        mask &= _filled(greater_equal(greatest, low), True)
    return mask


def _filled(mask: pa.Array, default: bool) -> Mask:
    return np.asarray(pc.fill_null(mask, default).to_numpy(zero_copy_only=False), np.bool_)


def prefix_end(prefix: pa.Scalar) -> pa.Scalar | None:
    """Return a value that no value with a prefix is greater than, None when there is no such."""
    data = prefix.as_buffer().to_pybytes().rstrip(b"\xff")
    if not data:
        return None
    after = data[:-1] + bytes([data[-1] + 1])
    large = prefix.type in (pa.large_string(), pa.large_binary())
    offsets = np.array([0, len(after)], np.int64 if large else np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(after)]
    return pa.Array.from_buffers(prefix.type, 1, buffers)[0]  # it is only compared: no UTF-8
