"""Arithmetic of decimals: exact integers of the digits, cut to the type that the result has.

A sum or difference has the longer fraction and one digit more than the longer whole; a product all
digits of both; a quotient four digits more behind the point than its dividend; a remainder the
longer fraction and the shorter whole. What is below the last digit is dropped. Of a type that has
too few digits only their number is capped: a value may have more, as long as the bits hold it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.query.casts import Datum

types = pa.types

Digits = NDArray[np.object_]
"""Values of decimals without their point, as integers of Python."""

WORD = 64
"""Bits of the words in which integers are read."""


def decimal_sum(left: Datum, right: Datum) -> Datum:
    """Return left + right. Raises ArrowInvalid where the bits do not hold it."""
    return _aligned(left, right, lambda one, other: one + other)


def decimal_difference(left: Datum, right: Datum) -> Datum:
    """Return left - right. Raises ArrowInvalid where the bits do not hold it."""
    return _aligned(left, right, lambda one, other: one - other)


def decimal_product(left: Datum, right: Datum) -> Datum:
    """Return left * right. Raises ArrowInvalid where the bits do not hold it."""
    digits = left.type.precision + right.type.precision + 1
    result = _capped(left.type, digits, left.type.scale + right.type.scale)
    return _run(left, right, result, lambda one, other: one * other)


def decimal_quotient(left: Datum, right: Datum) -> Datum:
    """Return left / right. Raises ArrowInvalid where it divides by zero."""
    scale = min(left.type.scale + 4, _most(left.type))
    more = scale - left.type.scale + right.type.scale
    result = _capped(left.type, left.type.precision + more, scale)
    return _run(left, right, result, lambda one, other: _divided(one * 10**more, other))


def decimal_remainder(left: Datum, right: Datum) -> Datum:
    """Return the remainder of left / right, with the sign of left. Raises ArrowInvalid."""
    scale = max(left.type.scale, right.type.scale)
    whole = min(one.type.precision - one.type.scale for one in (left, right))
    up, other_up = (10 ** (scale - one.type.scale) for one in (left, right))

    def remainder(one: Digits, other: Digits) -> Digits:
        one, other = one * up, other * other_up
        rest: Digits = one - _divided(one, other) * other
        return rest

    return _run(left, right, _capped(left.type, whole + scale, scale), remainder)


def _aligned(left: Datum, right: Datum, function: Callable[[Digits, Digits], Digits]) -> Datum:
    """Return a function of values that have the same digits behind the point."""
    scale = max(left.type.scale, right.type.scale)
    whole = max(one.type.precision - one.type.scale for one in (left, right))
    up, other_up = (10 ** (scale - one.type.scale) for one in (left, right))
    result = _capped(left.type, whole + scale + 1, scale)
    return _run(left, right, result, lambda one, other: function(one * up, other * other_up))


def _most(type_: pa.DataType) -> int:
    """Return how many digits a type of so many bits can have."""
    return 76 if types.is_decimal256(type_) else 38


def _capped(type_: pa.DataType, digits: int, scale: int) -> pa.DataType:
    make = pa.decimal256 if types.is_decimal256(type_) else pa.decimal128
    try:
        return make(max(1, min(digits, _most(type_))), scale)
    except ValueError as error:
        raise pa.ArrowInvalid(f"{error}") from error


def _divided(left: Digits, right: Digits) -> Digits:
    if (right == 0).any():
        raise pa.ArrowInvalid("Divide by zero error")
    whole = np.abs(left) // np.abs(right)
    return np.where((left < 0) == (right < 0), whole, -whole)


def _run(
    left: Datum, right: Datum, type_: pa.DataType, function: Callable[[Digits, Digits], Digits]
) -> Datum:
    """Return a function of the digits of two decimals of the same width, null where one is."""
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        one, other = (pa.array([side.as_py()], side.type) for side in (left, right))
        return _run(one, other, type_, function)[0]
    rows = len(right if isinstance(left, pa.Scalar) else left)
    sides = [pa.repeat(one, rows) if isinstance(one, pa.Scalar) else one for one in (left, right)]
    there = pc.and_(*(pc.is_valid(one) for one in sides)).to_numpy(zero_copy_only=False)
    found = function(*(_digits(one)[there] for one in sides))
    values = np.zeros(rows, object)
    values[there] = found
    width = type_.bit_width // 8
    try:
        data = b"".join(int(one).to_bytes(width, "little", signed=True) for one in values)
    except OverflowError as error:
        raise pa.ArrowInvalid(f"Arithmetic overflow: the result does not fit {type_}") from error
    mask = None if there.all() else pa.array(there).buffers()[1]
    return pa.Array.from_buffers(type_, rows, [mask, pa.py_buffer(data)])


def _digits(values: pa.Array) -> Digits:
    """Return the integers that the bits of decimals are; any where a value is null."""
    width = values.type.bit_width // WORD
    words = np.frombuffer(values.buffers()[1], np.uint64)
    words = words[values.offset * width : (values.offset + len(values)) * width]
    parts = words.reshape(len(values), width)
    result = parts[:, -1].view(np.int64).astype(object)
    for column in range(width - 2, -1, -1):
        result = (result << WORD) + parts[:, column].astype(object)
    return result
