"""Literals: a value written in a query becomes one of the type it is compared with.

Only a value that the type can hold exactly does; text never becomes a number, nor a fraction an
integer. What is compared with a column of text, numbers or time has to be written as such.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from lanceref.core.errors import QueryRefused
from lanceref.query.casts import cast
from lanceref.query.coercion import is_bytes, is_text

types = pa.types


def coerce(value: pa.Scalar, wanted: pa.DataType) -> pa.Scalar:
    """Return a literal as a value of the type. Raises QueryRefused where it cannot be one."""
    held = value.type
    if types.is_dictionary(wanted):
        wanted = wanted.value_type
    if held == wanted:
        return value
    if not value.is_valid:
        return pa.scalar(None, wanted)
    if not _may_become(held, wanted):
        raise _refusal(value, wanted)
    try:
        if types.is_timestamp(held) and types.is_timestamp(wanted) and held.tz is None:
            value = pc.cast(value, pa.timestamp(held.unit, wanted.tz))
        if types.is_integer(held) and types.is_decimal(wanted):
            return pa.scalar(Decimal(value.as_py()), wanted)
        if types.is_time32(wanted):
            count = pc.cast(value, pa.int32()) if types.is_integer(held) else value
            return cast(count, wanted)
        found = pc.cast(value, wanted, safe=not types.is_floating(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _refusal(value, wanted) from error
    if types.is_float16(wanted) and math.isinf(found.as_py()) and not math.isinf(value.as_py()):
        raise _refusal(value, wanted)
    return found


def _refusal(value: pa.Scalar, wanted: pa.DataType) -> QueryRefused:
    return QueryRefused(
        f"Received literal {value.type}({value.as_py()!r}) and could not convert to literal of "
        f"type '{wanted}'"
    )


def _may_become(held: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type are taken for values of the other."""
    if types.is_integer(held):
        if held == pa.uint64():
            return wanted in (pa.uint64(), pa.float32(), pa.float64())
        kinds = (types.is_integer, types.is_floating, types.is_decimal, types.is_time32)
        return any(kind(wanted) for kind in kinds)
    if types.is_floating(held):
        return bool(types.is_floating(wanted))
    if is_text(held):
        return is_text(wanted)
    if is_bytes(held):
        return is_bytes(wanted) or bool(types.is_fixed_size_binary(wanted))
    if types.is_decimal(held):
        return bool(types.is_decimal(wanted))
    if types.is_date(held) or types.is_timestamp(held):
        return bool(types.is_date(wanted) or types.is_timestamp(wanted))
    if types.is_nested(held):
        return bool(types.is_nested(wanted) and not types.is_struct(wanted))
    return bool(types.is_time(held) and types.is_time32(wanted))


def bytes_of_digits(digits: str) -> bytes:
    """Return bytes written as hexadecimal digits; an odd one stands for a byte of its own."""
    return bytes.fromhex("0" * (len(digits) % 2) + digits)


def integer(value: int) -> pa.Scalar:
    """Return an integer as 64 bits, signed or else unsigned, or as a float."""
    if value < 1 << 63:
        return pa.scalar(value, pa.int64())
    return pa.scalar(value, pa.uint64()) if value < 1 << 64 else pa.scalar(float(value))
