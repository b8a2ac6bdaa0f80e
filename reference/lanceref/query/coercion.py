"""Coercion: the type in which two values of different types meet.

A comparison widens: integers to the wider of the two, unsigned 64-bit ones and signed ones to a
decimal, numbers and fractions to the fraction's type, text to whatever it meets, days and moments
to moments. What has no such type cannot be compared.
"""

from __future__ import annotations

import pyarrow as pa

types = pa.types

DIGITS = {1: 3, 2: 5, 4: 10, 8: 20}
"""Decimal digits of an integer by its width in bytes."""

UNITS = ("s", "ms", "us", "ns")
"""Units of time, coarse to fine."""


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type in which two values are compared, None when they cannot be."""
    if left.equals(right) or types.is_null(right):
        return left
    if types.is_null(left):
        return right
    if is_number(left) and is_number(right):
        return _number(left, right)
    for one, other in ((left, right), (right, left)):
        found = _met(one, other)
        if found is not None:
            return found
    return None


def is_text(type_: pa.DataType) -> bool:
    """Whether values are text."""
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )


def is_bytes(type_: pa.DataType) -> bool:
    """Whether values are bytes of any length."""
    return bool(
        types.is_binary(type_) or types.is_large_binary(type_) or types.is_binary_view(type_)
    )


def is_number(type_: pa.DataType) -> bool:
    """Whether values are integers, floats or decimals."""
    return bool(types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_))


def _met(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type in which a value meets one of another kind; None to try it the other way."""
    if is_text(one):
        if is_text(other):
            return pa.large_utf8()
        if is_bytes(other):
            return pa.large_binary()
        if is_number(other) or types.is_temporal(other):
            return None if types.is_duration(other) or types.is_interval(other) else other
    if is_bytes(one):
        if is_bytes(other):
            return pa.large_binary()
        if types.is_fixed_size_binary(other) and types.is_binary(one):
            return one
    if types.is_timestamp(one) and types.is_date(other):
        return one
    if types.is_timestamp(one) and types.is_timestamp(other):
        return _moment(one, other)
    if types.is_date32(one) and types.is_date64(other):
        return one
    if types.is_date(one) and other in (pa.int32(), pa.int64()):
        return one
    if types.is_list(one) and (types.is_list(other) or types.is_fixed_size_list(other)):
        inner = common_type(one.value_type, other.value_type)
        return None if inner is None else pa.list_(inner)
    return None


def _moment(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    unit = UNITS[max(UNITS.index(left.unit), UNITS.index(right.unit))]
    return pa.timestamp(unit, left.tz or right.tz)


def _number(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if types.is_decimal(left) or types.is_decimal(right):
        return _decimal(left, right)
    for one in (pa.float64(), pa.float32(), pa.float16()):
        if one in (left, right):
            return one
    signed = [types.is_signed_integer(one) for one in (left, right)]
    width = max(left.bit_width, right.bit_width)
    if signed[0] == signed[1]:
        return left if left.bit_width == width else right
    unsigned = right.bit_width if signed[0] else left.bit_width
    if unsigned == 64:
        return pa.decimal128(20, 0)
    wanted = width * 2 if unsigned == width else width
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[wanted]


def _decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    shapes = [_shape(left), _shape(right)]
    if None in shapes:
        return None
    known = [shape for shape in shapes if shape is not None]
    scale = max(shape[1] for shape in known)
    digits = max(precision - below for precision, below in known)
    if digits + scale > 38 or types.is_decimal256(left) or types.is_decimal256(right):
        return pa.decimal256(min(76, digits + scale), scale)
    return pa.decimal128(digits + scale, scale)


def decimal_of(type_: pa.DataType) -> pa.DataType | None:
    """Return the decimal type that holds the values of a number's type, None without one."""
    shape = _shape(type_)
    if shape is None or types.is_decimal(type_):
        return type_ if shape else None
    return pa.decimal128(*shape)


def _shape(type_: pa.DataType) -> tuple[int, int] | None:
    """Return digits in all and below the point of a number as a decimal."""
    if types.is_decimal(type_):
        return type_.precision, type_.scale
    if types.is_integer(type_):
        return DIGITS[type_.bit_width // 8], 0
    return {pa.float32(): (14, 7), pa.float64(): (30, 15)}.get(type_)
