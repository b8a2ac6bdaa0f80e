"""Predicates: what an index may be asked about one column.

A predicate is true or not for a value; for null it is neither, but for `IsNull`. What a filter
denies an index is never asked: who asks takes the rows of the predicate, and those that are null,
out of all rows.

Scalars as plans, statistics and errors show them.

Times are counts, bytes hexadecimal digits, numbers stand in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.comparison import equal, greater_equal, less, less_equal
from lanceref.core.compute import pc

SHOWN_BYTES = 10
"""Bytes that are shown of more."""


def shown(value: pa.Scalar) -> str:
    """Return the text of a value."""
    types, type_ = pa.types, value.type
    if not value.is_valid:
        return "NULL"
    if types.is_floating(type_):
        return _number(value)
    if types.is_boolean(type_):
        return str(value.as_py()).lower()
    if types.is_decimal(type_):
        digits = int(value.as_py().scaleb(type_.scale))
        return f"Some({digits}),{type_.precision},{type_.scale}"
    if types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_):
        held: bytes = value.as_py()
        return held[:SHOWN_BYTES].hex() + ("..." if len(held) > SHOWN_BYTES else "")
    if types.is_temporal(type_) and not types.is_date(type_):
        return str(value.value)
    return str(value)


def _number(value: pa.Scalar) -> str:
    """Return a float in the fewest digits that tell it apart, without an exponent."""
    number = value.type.to_pandas_dtype()(value.as_py())
    if not np.isfinite(number):
        return {"nan": "NaN"}.get(str(number), str(number))
    return np.format_float_positional(number, trim="-")


Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class IsNull:
    """The value is null."""

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f"{column} IS NULL"


@dataclass(frozen=True, slots=True)
class Among:
    """The value is one of some, none of them null: an array of the column's type."""

    values: tuple[pa.Scalar, ...]

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        if len(self.values) == 1:
            return f"{column} = {shown(self.values[0])}"
        return f"{column} IN [{','.join(map(shown, self.values))}]"


@dataclass(frozen=True, slots=True)
class Within:
    """The value lies between two ends; a missing end is open."""

    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    low_closed: bool = True
    high_closed: bool = True

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        parts = []
        if self.low is not None:
            parts.append(f"{column} {'>=' if self.low_closed else '>'} {shown(self.low)}")
        if self.high is not None:
            parts.append(f"{column} {'<=' if self.high_closed else '<'} {shown(self.high)}")
        return " && ".join(parts)


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The text, or the bytes, begin so."""

    prefix: pa.Scalar

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f"{column} LIKE '{shown(self.prefix)}%'"


@dataclass(frozen=True, slots=True)
class Contains:
    """The text holds another."""

    text: str

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f'contains({column}, Utf8("{self.text}"))'


@dataclass(frozen=True, slots=True)
class HasWords:
    """The text holds every one of some words."""

    words: tuple[str, ...]

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f"contains_tokens({column}, {' '.join(self.words)!r})"


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression is found in the text."""

    pattern: str

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f"regexp_match({column}, {self.pattern!r})"


@dataclass(frozen=True, slots=True)
class HasLabels:
    """The list holds some labels, none of them null: any of them, or every one."""

    labels: tuple[pa.Scalar, ...]
    every: bool = False

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        name = "array_has_all" if self.every else "array_has_any"
        return f"{name}({column}, List([{', '.join(map(shown, self.labels))}]))"


@dataclass(frozen=True, slots=True)
class Intersects:
    """The geometry meets another, given as well-known binary."""

    geometry: bytes

    def told(self, column: str) -> str:
        """Return the question about a column, as plans show it."""
        return f"st_intersects({column}, ...)"


OnValues: TypeAlias = IsNull | Among | Within | StartsWith
"""Predicates that an order of the values helps with."""

Predicate: TypeAlias = OnValues | Contains | HasWords | Matches | HasLabels | Intersects


def holds(predicate: OnValues, values: pa.Array) -> Mask:
    """Return for each value whether a predicate is true: bool."""
    if isinstance(predicate, IsNull):
        found = pc.is_null(values)
    elif isinstance(predicate, StartsWith):
        found = pc.starts_with(_as_bytes(values), predicate.prefix.as_buffer().to_pybytes())
    elif isinstance(predicate, Among):
        found = _among(values, predicate.values)
    else:
        found = pc.invert(_none_of(values))
        if predicate.low is not None:
            reaches = less_equal if predicate.low_closed else less
            found = pc.and_(found, reaches(predicate.low, values))
        if predicate.high is not None:
            stays = less_equal if predicate.high_closed else less
            found = pc.and_(found, stays(values, predicate.high))
        found = pc.and_(found, pc.is_valid(values))
    return np.asarray(pc.fill_null(found, False).to_numpy(zero_copy_only=False), np.bool_)


def may_hold(predicate: OnValues, least: pa.Array, greatest: pa.Array) -> Mask:
    """Return for each run of values with these bounds whether the predicate may be true: bool.

    A bound that is null says nothing; whether a run has nulls the caller has to know.
    """
    if isinstance(predicate, IsNull):
        return np.ones(len(least), np.bool_)
    if isinstance(predicate, Among):
        found = np.zeros(len(least), np.bool_)
        for value in predicate.values:
            found |= _overlaps(value, value, least, greatest)
        return found
    if isinstance(predicate, StartsWith):
        return _overlaps(predicate.prefix, prefix_end(predicate.prefix), least, greatest)
    return _overlaps(predicate.low, predicate.high, least, greatest)


def _overlaps(
    low: pa.Scalar | None, high: pa.Scalar | None, least: pa.Array, greatest: pa.Array
) -> Mask:
    """Return for each run of values whether it reaches into low..high, both ends included."""
    found = np.ones(len(least), np.bool_)
    if high is not None:
        found &= _unless_null(less_equal(least, high))
    if low is not None:
        found &= _unless_null(greater_equal(greatest, low))
    return found


def _unless_null(found: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(found, True).to_numpy(zero_copy_only=False), np.bool_)


def _among(values: pa.Array, wanted: Sequence[pa.Scalar]) -> pa.Array:
    """Return for each value whether it is one of those wanted."""
    if not pa.types.is_floating(values.type):
        return pc.is_in(values, pa.array(list(wanted), values.type))
    found = _none_of(values)
    for value in wanted:
        found = pc.or_(found, pc.fill_null(equal(values, value), False))
    return found


def _none_of(values: pa.Array) -> pa.Array:
    return pa.array(np.zeros(len(values), np.bool_))


def _as_bytes(values: pa.Array) -> pa.Array:
    large = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    return values.cast(pa.large_binary() if large else pa.binary())


def prefix_end(prefix: pa.Scalar) -> pa.Scalar | None:
    """Return a value that no value with a prefix is greater than, None when there is no such."""
    held = prefix.as_buffer().to_pybytes().rstrip(b"\xff")
    if not held:
        return None
    after = held[:-1] + bytes([held[-1] + 1])
    if pa.types.is_binary(prefix.type) or pa.types.is_large_binary(prefix.type):
        return pa.scalar(after, prefix.type)
    return _as_text(after, prefix.type)


def _as_text(data: bytes, type_: pa.DataType) -> pa.Scalar:
    """Return bytes as text, though they may not be UTF-8: they are only compared."""
    offsets = np.array([0, len(data)], np.int64 if pa.types.is_large_string(type_) else np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(type_, 1, buffers)[0]
