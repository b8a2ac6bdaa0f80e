"""Casts: values of one type as values of another.

A fraction loses what is below the point on its way to an integer and is rounded on its way to a
decimal; what then does not fit is an error. Text is read as numbers, truth values, days and
moments are written.
"""

from __future__ import annotations

import decimal
import math
from typing import TypeAlias

import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.query.budget import charge
from lanceref.query.coercion import is_bytes, is_number, is_text
from lanceref.query.float_text import float_text

types = pa.types

Datum: TypeAlias = pa.Array | pa.Scalar

EXACT = decimal.Context(prec=100)
"""Decimals of more digits than any type has."""

ROUND = decimal.ROUND_HALF_UP
"""How digits below the last one are dropped: half of it goes away from zero."""

FRACTION = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Digits of a second by unit."""

UNITS_OF_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many units a second has."""

DAY_AND_TIME = r"^(\d+-\d+-\d+)[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$"
"""Form of a moment, of which the day is taken."""

TRUE = ("true", "t", "yes", "y", "on", "1")
"""Words for true, in any case."""

FALSE = ("false", "f", "no", "n", "off", "0")
"""Words for false, in any case."""


def cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type. Raises ArrowInvalid, ArrowNotImplementedError.

    A literal may be a time of day that 32 bits count; a column of 64 bits may not.
    """
    if types.is_fixed_size_binary(type_) or types.is_fixed_size_list(type_):
        _charge_fixed(value, type_)
    if isinstance(value, pa.Scalar):
        if types.is_time32(type_) and value.type == pa.int64():
            value = value.cast(pa.int32())
        if not value.is_valid:
            return pa.scalar(None, type_)
        return _cast(pa.repeat(value, 1), type_)[0]
    return value if value.type.equals(type_) else _cast(value, type_)


def _charge_fixed(value: Datum, type_: pa.DataType) -> None:
    """Count what values of a type of one size take more than they do. Raises QueryTooLarge."""
    held, size, inner = 0, 1, type_
    if not isinstance(value, pa.Scalar):
        held, size = value.nbytes, len(value)
    while types.is_fixed_size_list(inner):
        size, inner = size * inner.list_size, inner.value_type
    width = inner.byte_width if types.is_fixed_size_binary(inner) else 8
    charge(size * width - held)


def try_cast(value: Datum, type_: pa.DataType) -> Datum:
    """Return values of another type, null where one has none."""
    if isinstance(value, pa.Scalar):
        return _tried(value, type_)
    try:
        return cast(value, type_)
    except pa.ArrowInvalid:
        return pa.array([_tried(one, type_) for one in value], type_)


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
    if is_bytes(held) and not is_bytes(type_) and not types.is_fixed_size_binary(type_):
        raise pa.ArrowNotImplementedError(f"Unsupported CAST from {held} to {type_}")
    if is_bytes(type_) and types.is_integer(held):
        width = pa.binary(held.bit_width // 8)
        return array.view(width).cast(type_)
    if types.is_float16(held) and types.is_decimal(type_):
        raise pa.ArrowNotImplementedError(f"Unsupported CAST from {held} to {type_}")
    if types.is_float16(held) and types.is_boolean(type_):
        return array.cast(pa.float32()).cast(type_)
    if types.is_boolean(held) and types.is_float16(type_):
        return array.cast(pa.float32()).cast(type_)
    if _is_counted(type_) and is_number(held):
        return _counted(array, type_)
    if _is_counted(held) and is_number(type_):
        return _units(array, type_)
    if (
        types.is_timestamp(type_)
        and type_.tz
        and (types.is_date(held) or (types.is_timestamp(held) and not held.tz))
    ):
        return pc.assume_timezone(array.cast(pa.timestamp(type_.unit), safe=False), type_.tz)
    if is_number(held) and is_number(type_):
        return _number(array, type_)
    return array.cast(type_, safe=False)


def _number(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return numbers as numbers of another type."""
    held = array.type
    if types.is_floating(held) and types.is_integer(type_):
        return _to_integer(array, type_)
    if types.is_floating(held) and types.is_decimal(type_):
        return _to_decimal(array, type_)
    if types.is_decimal(held) and types.is_floating(type_):
        return array.cast(pa.utf8()).cast(pa.float64()).cast(type_)  # its own way rounds twice
    if types.is_decimal(held) and types.is_integer(type_):
        return pc.trunc(array).cast(type_)
    if types.is_decimal(held) and types.is_decimal(type_) and type_.scale < held.scale:
        return pc.round(array, type_.scale, "half_towards_infinity").cast(type_)
    if types.is_integer(held) and types.is_decimal(type_):
        return array.cast(pa.decimal256(20, 0)).cast(type_)
    exact = types.is_integer(held) and types.is_integer(type_)
    return array.cast(type_, safe=exact or types.is_decimal(type_))


def _is_counted(type_: pa.DataType) -> bool:
    """Whether values are numbers of units of time: of days, or of parts of a second."""
    return bool(types.is_temporal(type_) and not types.is_interval(type_))


def _counted(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return numbers as so many units of time. Raises ArrowNotImplementedError."""
    held, units = array.type, pa.int32() if type_.bit_width == 32 else pa.int64()
    if types.is_date(type_) and held == pa.int32():
        return array.cast(pa.date32()).cast(type_)
    if types.is_date(type_) and held == pa.int64():
        return _number(array, units).cast(type_)
    free = types.is_timestamp(type_) or types.is_duration(type_)
    if held != units and not free:
        raise pa.ArrowNotImplementedError(f"Unsupported CAST from {held} to {type_}")
    return _number(array, units).cast(type_)


def _units(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return units of time as numbers. Raises ArrowNotImplementedError."""
    held = array.type
    free = types.is_timestamp(held) or types.is_duration(held)
    if not free and type_ not in (pa.int32(), pa.int64()):
        raise pa.ArrowNotImplementedError(f"Unsupported CAST from {held} to {type_}")
    whole = array.cast(pa.int32() if held.bit_width == 32 else pa.int64())
    return whole if whole.type.equals(type_) else _number(whole, type_)


def _to_decimal(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return floats with so many digits behind the point, rounded away from zero."""
    floats = array.cast(pa.float64())
    finite = pc.and_kleene(pc.is_finite(floats), pc.less(pc.abs(floats), 1e76))
    if pc.all(finite, min_count=0).as_py() is False:
        raise pa.ArrowInvalid(f"Cannot cast to {type_}: no number, or one too large")
    places = decimal.Decimal(10) ** -type_.scale
    found = []
    for one in pc.multiply(floats, 10.0**type_.scale).to_pylist():
        whole = None if one is None else int(math.copysign(math.floor(abs(one) + 0.5), one))
        found.append(None if whole is None else EXACT.multiply(decimal.Decimal(whole), places))
    return pa.array(found, type_)


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
        words = pc.utf8_trim_whitespace(pc.utf8_lower(array))
        truths = pc.is_in(words, pa.array(TRUE, words.type))
        known = pc.or_(truths, pc.is_in(words, pa.array(FALSE, words.type)))
        if not pc.all(pc.or_(known, pc.is_null(array)), min_count=0).as_py():
            raise pa.ArrowInvalid("a text is no truth value")
        return pc.if_else(pc.is_valid(array), truths, pa.scalar(None, pa.bool_()))
    if types.is_date(type_):
        days = pc.replace_substring_regex(array, DAY_AND_TIME, r"\1")
        return pc.replace_substring_regex(days, r"-(\d)\b", r"-0\1").cast(pa.date32()).cast(type_)
    if types.is_time(type_):
        return _time_of_text(array, type_)
    if types.is_timestamp(type_):
        return _moments_of_text(array, type_)
    if types.is_decimal(type_):
        return _decimals_of_text(array, type_)
    return array.cast(type_)


def _decimals_of_text(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Read digits, with a point or without, rounded away from zero; no text is zero."""
    texts = pc.utf8_trim_whitespace(array)
    if pc.all(pc.match_substring_regex(texts, r"^[+-]?\d*(\.\d*)?$")).as_py() is False:
        raise pa.ArrowInvalid(f"Cannot cast text to {type_}: it is no number")
    last, found = decimal.Decimal((0, (1,), -type_.scale)), []
    for one in texts.to_pylist():
        digits = None if one is None else decimal.Decimal(one if one.strip("+-.") else "0")
        found.append(None if digits is None else digits.quantize(last, ROUND, EXACT))
    return pa.array(found, type_)


def _moments_of_text(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Read moments, with a zone or without; digits below the unit are dropped."""
    digits = FRACTION[type_.unit]
    short = pc.replace_substring_regex(array, rf"(\.\d{{{digits}}})\d+", r"\1")
    short = pc.replace_substring_regex(short, r"\.(Z|[+-]|$)", r"\1")
    zoned = pc.match_substring_regex(short, r":\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$")
    none = pa.scalar(None, array.type)
    local = pc.if_else(zoned, none, short).cast(pa.timestamp(type_.unit))
    if type_.tz:
        local = pc.assume_timezone(local, type_.tz)
    there = pc.if_else(zoned, short, none).cast(pa.timestamp(type_.unit, "UTC"))
    return pc.coalesce(local, there.cast(type_))


def _time_of_text(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Read a time of day, or its number of units."""
    numbers = pc.match_substring_regex(array, r"^\d+$")
    if pc.all(numbers, min_count=0).as_py():
        return array.cast(pa.int32() if types.is_time32(type_) else pa.int64()).cast(type_)
    moments = pc.binary_join_element_wise("1970-01-01", array.cast(pa.utf8()), " ")
    return moments.cast(pa.timestamp("ns")).cast(pa.timestamp(type_.unit), safe=False).cast(type_)


def _to_text(array: pa.Array) -> pa.Array:
    held = array.type
    if types.is_fixed_size_binary(held):
        raise pa.ArrowNotImplementedError(f"Unsupported CAST from {held} to text")
    if types.is_floating(held):
        bits = held.bit_width
        texts = [None if one is None else float_text(one, bits) for one in array.to_pylist()]
        return pa.array(texts, pa.utf8())
    if types.is_duration(held):
        per = UNITS_OF_SECOND[held.unit]
        counts = array.cast(pa.int64()).to_pylist()
        return pa.array([None if one is None else _span(one, per) for one in counts], pa.utf8())
    if types.is_date64(held):
        array = array.cast(pa.timestamp("ms"))
    text = array.cast(pa.utf8())
    if types.is_timestamp(array.type):
        text = pc.replace_substring(text, " ", "T")
        text = pc.replace_substring_regex(text, r"([+-]\d\d)(\d\d)$", r"\1:\2")
    if types.is_timestamp(array.type) or types.is_time(held):
        text = pc.replace_substring_regex(text, r"(\.\d*?)(000)+(Z|[+-]\d\d:\d\d|$)", r"\1\3")
        return pc.replace_substring_regex(text, r"\.(Z|[+-]|$)", r"\1")
    return text


def _span(count: int, per_second: int) -> str:
    """Return the text of a span of time, of which each part has its own sign."""
    sign, seconds = ("-" if count < 0 else ""), abs(count) // per_second
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    parts = f"{hours // 24} days", f"{hours % 24} hours", f"{minute} mins"
    signed = [f"{sign}{one}" if not one.startswith("0 ") else one for one in parts]
    below = str(abs(count) % per_second).rjust(len(str(per_second)) - 1, "0")
    fraction = f".{below}" if per_second > 1 else ""
    negative = sign if second or int(below or 0) else ""
    return f"{' '.join(signed)} {negative}{second}{fraction} secs"
