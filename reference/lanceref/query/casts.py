"""Casts: values of one type as values of another.

A fraction loses what is below the point on its way to an integer and is rounded on its way to a
decimal; what then does not fit is an error. Text is read as numbers, truth values, days and
moments are written.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import pyarrow as pa

from lanceref.compute import pc
from lanceref.query.coercion import is_text

types = pa.types

Datum: TypeAlias = pa.Array | pa.Scalar

TRUE = ("true", "t", "yes", "y", "on", "1")
"""Words for true, in any case."""

FALSE = ("false", "f", "no", "n", "off", "0")
"""Words for false, in any case."""


def cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type. Raises ArrowInvalid, ArrowNotImplementedError."""
    if isinstance(value, pa.Scalar):
        return (
            _cast(pa.array([value.as_py()], value.type), type_)[0]
            if value.is_valid
            else (pa.scalar(None, type_))
        )
    return value if value.type.equals(type_) else _cast(value, type_)


def try_cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type, null where one has none."""
    if isinstance(value, pa.Scalar):
        return _tried(value, type_)
    try:
        return cast(value, type_)
    except pa.ArrowInvalid:
        return pa.array([_tried(one, type_).as_py() for one in value], type_)


def _tried(value: pa.Scalar, type_: pa.DataType) -> pa.Scalar:
    try:
        return cast(value, type_)
    except pa.ArrowInvalid:
        return pa.scalar(None, type_)


def _cast(array: pa.Array, type_: pa.DataType) -> pa.Array:
    held = array.type
    if is_text(held):
        return _from_text(array, type_)
    if is_text(type_):
        return _to_text(array).cast(type_)
    if types.is_floating(held) and types.is_integer(type_):
        return _to_integer(array, type_)
    if types.is_floating(held) and types.is_decimal(type_):
        wide = array.cast(pa.float64())
        return pc.round(wide, type_.scale, "half_towards_infinity").cast(type_, safe=False)
    if types.is_decimal(held) and types.is_integer(type_):
        return pc.trunc(array).cast(type_)
    if types.is_decimal(held) and types.is_decimal(type_) and type_.scale < held.scale:
        return pc.round(array, type_.scale, "half_towards_infinity").cast(type_)
    if types.is_date32(type_) and types.is_integer(held):
        return array.cast(pa.int32()).cast(type_)
    if types.is_date64(type_) and held == pa.int32():  # days here too
        return array.cast(pa.date32()).cast(type_)
    if types.is_time(type_) and types.is_integer(held):
        return array.cast(pa.int32() if types.is_time32(type_) else pa.int64()).cast(type_)
    if types.is_date32(held) and types.is_integer(type_):
        return array.cast(pa.int32()).cast(type_)
    if types.is_timestamp(held) and types.is_timestamp(type_) and not held.tz and type_.tz:
        return pc.assume_timezone(array, type_.tz).cast(type_)
    exact = types.is_integer(held) and types.is_integer(type_)
    return array.cast(type_, safe=exact or types.is_decimal(type_))


def _to_integer(array: pa.Array, type_: pa.DataType) -> pa.Array:
    whole = pc.trunc(array.cast(pa.float64()))
    bits = type_.bit_width - types.is_signed_integer(type_)
    least = -(2.0**bits) if types.is_signed_integer(type_) else 0.0
    fits = pc.and_(pc.greater_equal(whole, least), pc.less(whole, 2.0**bits))
    if pc.all(fits).as_py() is False:
        raise pa.ArrowInvalid(f"a value of {array.type} does not fit {type_}")
    return whole.cast(type_, safe=False)


def _from_text(array: pa.Array, type_: pa.DataType) -> pa.Array:
    if types.is_boolean(type_):
        words = pc.utf8_lower(array)
        truths = pc.is_in(words, pa.array(TRUE, words.type))
        known = pc.or_(truths, pc.is_in(words, pa.array(FALSE, words.type)))
        if not pc.all(pc.or_(known, pc.is_null(array)), min_count=0).as_py():
            raise pa.ArrowInvalid("a text is no truth value")
        return pc.if_else(pc.is_valid(array), truths, pa.scalar(None, pa.bool_()))
    if types.is_date(type_) and not types.is_date64(type_):
        return pc.replace_substring_regex(array, r"-(\d)\b", r"-0\1").cast(type_)
    if types.is_time(type_):
        return _time_of_text(array, type_)
    if types.is_timestamp(type_):
        try:
            return array.cast(type_)
        except pa.ArrowInvalid:
            return array.cast(pa.timestamp(type_.unit, "UTC")).cast(type_)
    return array.cast(type_)


def _time_of_text(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Read a time of day, or its number of units."""
    numbers = pc.match_substring_regex(array, r"^\d+$")
    if pc.all(numbers, min_count=0).as_py():
        return _cast(array.cast(pa.int64()), type_)
    moments = pc.binary_join_element_wise("1970-01-01", array.cast(pa.utf8()), " ")
    return moments.cast(pa.timestamp("ns")).cast(pa.timestamp(type_.unit), safe=False).cast(type_)


def _to_text(array: pa.Array) -> pa.Array:
    held = array.type
    if types.is_floating(held):
        texts = [None if one is None else _float_text(one) for one in array.to_pylist()]
        return pa.array(texts, pa.utf8())
    text = array.cast(pa.utf8())
    if types.is_timestamp(held):
        text = pc.replace_substring(text, " ", "T")
        text = pc.replace_substring_regex(text, r"(\.\d*?)(000)+(Z?)$", r"\1\3")
        return pc.replace_substring_regex(text, r"\.(Z?)$", r"\1")
    return text


def _float_text(value: float) -> str:
    return "NaN" if math.isnan(value) else repr(float(value))
