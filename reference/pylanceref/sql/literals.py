"""Literals: a value written in a query becomes one of the type of the column beside it.

In the conditions that a query joins by AND and OR a literal is strict: it must be a value of the
column's type. Text never becomes a number there, nor a fraction an integer.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused

from pylanceref.sql.engine import Engine
from pylanceref.sql.trees import Node

types = pa.types

ARITHMETIC = frozenset(["+", "-", "*", "/", "%", "<<", ">>"])
"""Operators that may stand between literals."""


def scalar_of(node: Node, engine: Engine) -> pa.Scalar | None:
    """Return the value of an expression without columns, None for another. Raises QueryRefused."""
    if not node.constant:
        return None
    if node.op == "Literal":
        return node.scalar
    one_row = pa.record_batch([pa.array([0])], names=["#"])
    (found,) = engine.evaluate([node.expr], one_row, QueryRefused)
    return found[0]


def is_plain(node: Node) -> bool:
    """Whether an expression is written as one value, or as a list of such."""
    return node.op == "Literal" or (
        node.op == "make_array" and all(one.op == "Literal" for one in node.parts)
    )


def is_literal(node: Node) -> bool:
    """Whether an expression is written as one value, or as arithmetic of such."""
    if node.op in ARITHMETIC:
        return all(is_literal(one) for one in node.parts)
    return is_plain(node)


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
        if types.is_time32(wanted) and types.is_integer(held):
            value = pc.cast(value, pa.int32())
        if types.is_time(held):
            return pc.cast(value, wanted, safe=False)
        found = pc.cast(value, wanted, safe=not types.is_floating(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _refusal(value, wanted) from error
    if types.is_float16(wanted) and math.isinf(found.as_py()) and not math.isinf(value.as_py()):
        raise _refusal(value, wanted)
    return found


def _refusal(value: pa.Scalar, wanted: pa.DataType) -> QueryRefused:
    return QueryRefused(
        f"Received literal {value.type}({str(value.as_py())[:200]!r}) and could not convert to "
        f"literal of type '{wanted}'"
    )


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


def as_value(literal: pa.Scalar, type_: pa.DataType, strict: bool) -> pa.Scalar | None:
    """Return a literal as a value of a type, None when it is none; only a strict one is rounded."""
    if not literal.is_valid:
        return None
    try:
        if not strict and types.is_integer(type_) and _has_fraction(literal.type):
            return _as_integer(literal, type_)
        value = coerce(literal, type_)
        if strict or value.type == literal.type or not types.is_floating(type_):
            return value
        same = pc.equal(value.cast(pa.float64()), literal.cast(pa.float64())).as_py()
        return value if same else None
    except (QueryRefused, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _has_fraction(type_: pa.DataType) -> bool:
    return bool(types.is_floating(type_) or types.is_decimal(type_))


def _as_integer(literal: pa.Scalar, type_: pa.DataType) -> pa.Scalar | None:
    """Return a number as an integer, None for a large float, which is as near to others.

    Raises ArrowInvalid for one with a fraction, or that does not fit.
    """
    is_large = types.is_floating(literal.type) and abs(literal.as_py()) >= 2**53
    return None if is_large else literal.cast(type_)
