"""Strict conditions: literals beside a column as values of the column's type.

Lance applies the rule to the conditions that a query joins by AND and OR, before DataFusion finds
common types: text never becomes a number there, nor a fraction an integer. `regexp_match`, which
returns what it has found, counts as true where that is not null.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused

from pylanceref.sql.engine import Engine
from pylanceref.sql.rewriting import field_at, words
from pylanceref.sql.trees import Node

if TYPE_CHECKING:
    from datafusion import Expr


types = pa.types

ARITHMETIC = words("+ - * / % << >>")
"""Operators that may lie between literals."""


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
    """Whether values of an Arrow type are text."""
    tests = types.is_string, types.is_large_string, types.is_string_view
    return any(test(type_) for test in tests)


def is_bytes(type_: pa.DataType) -> bool:
    """Whether values are bytes of any length."""
    tests = types.is_binary, types.is_large_binary, types.is_binary_view
    return any(test(type_) for test in tests)


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


COMPARISONS = words("= != < <= > >=")
"""Operators that compare two values."""

DISTINCT = frozenset(("IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
"""The same for null as a value like others."""

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
FLIPPED |= dict(zip(DISTINCT, DISTINCT, strict=True))
"""The comparison that is true with its sides exchanged."""

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}
"""Operators of two operands that DataFusion's expressions have."""

TESTS: dict[str, Callable[[Expr], Expr]] = {
    "IsTrue": lambda one: one.is_not_null() & one,
    "IsNotTrue": lambda one: one.is_null() | ~one,
    "IsFalse": lambda one: one.is_not_null() & ~one,
    "IsNotFalse": lambda one: one.is_null() | one,
    "IsNull": lambda one: one.is_null(),
    "IsNotNull": lambda one: one.is_not_null(),
}
"""Operators that say whether a condition is true, false or neither."""


def type_at(schema: pa.Schema, names: tuple[str, ...]) -> pa.DataType | None:
    """Return the type of the column at a path, None when there is none."""
    field = field_at(schema, names)
    return None if field is None else field.type


class StrictRule:
    """Applies the rule to the conditions of one expression."""

    def __init__(self, schema: pa.Schema, engine: Engine) -> None:
        self._schema, self._engine = schema, engine

    def apply(self, node: Node, *, strict: bool = True) -> Expr:
        """Return an expression with strict literals. Raises QueryRefused.

        A condition below a denial or a test is not strict: only its matches become truth values and
        its zeros equal.
        """
        if node.op in ("AND", "OR"):
            left, right = (self._truth(part, strict) for part in node.parts)
            if left is node.parts[0].expr and right is node.parts[1].expr:
                return node.expr
            return left & right if node.op == "AND" else left | right
        if node.op == "Not" or node.op in TESTS:
            (part,) = node.parts
            if node.op in TESTS and part.op == "regexp_match":
                return node.expr
            inner = self._truth(part, False)
            return node.expr if inner is part.expr else TESTS.get(node.op, operator.invert)(inner)
        if strict and node.op in ARITHMETIC:
            return self._computed(node)
        if node.op in COMPARISONS | DISTINCT:
            return self._compared(node, strict=strict)
        if node.op == "between":
            return self._between(node, strict=strict)
        return self._in(node, strict=strict) if node.op == "in list" else node.expr

    def _truth(self, node: Node, strict: bool) -> Expr:
        is_match = node.op == "regexp_match"
        return node.expr.is_not_null() if is_match else self.apply(node, strict=strict)

    def _computed(self, node: Node) -> Expr:
        """Return arithmetic of a column and a literal as one in the column's type."""
        left, right = node.parts
        if left.names and is_literal(right):
            value = self._literal(right, left)
            return node.expr if value is right.expr else _joined(node.op, left.expr, value)
        if right.names and is_plain(left):
            value = self._literal(left, right)
            return node.expr if value is left.expr else _joined(node.op, value, right.expr)
        return node.expr

    def _compared(self, node: Node, *, strict: bool) -> Expr:
        left, right = node.parts
        sides = [left.expr, right.expr]
        if strict and left.names and is_literal(right):
            sides[1] = self._literal(right, left)
        elif strict and right.names and not left.names and is_plain(left):
            sides[0] = self._literal(left, right)
        for literal, other, op in ((right, left, node.op), (left, right, FLIPPED.get(node.op))):
            zeros = self._zeros(literal, other)
            if zeros is not None and op is not None:
                return _with_zero(op, sides[0 if literal is right else 1], *zeros)
        if sides[0] is left.expr and sides[1] is right.expr:
            return node.expr
        return _joined(node.op, sides[0], sides[1])

    def _between(self, node: Node, *, strict: bool) -> Expr:
        value, low, high = node.parts
        sides = [one for one in (low, high) if not one.constant] if value.constant else []
        if zeros := next(filter(None, (self._zeros(value, one) for one in sides)), None):
            inside = _with_zero("<=", low.expr, *zeros) & _with_zero(">=", high.expr, *zeros)
            return ~inside if node.negated else inside
        is_strict = strict and bool(value.names)
        ends = [
            self._literal(one, value)
            if is_strict and (is_literal(one) or one.op in ARITHMETIC)
            else one.expr
            for one in (low, high)
        ]
        for number, one in enumerate((low, high)):
            zeros = self._zeros(one, value)
            ends[number] = ends[number] if zeros is None else zeros[number]
        if ends[0] is low.expr and ends[1] is high.expr:
            return node.expr
        return value.expr.between(ends[0], ends[1], node.negated)

    def _in(self, node: Node, *, strict: bool) -> Expr:
        from datafusion import functions

        value, *others = node.parts
        if not others:
            raise QueryRefused("Expected: an expression, found: )")
        is_strict = strict and len(value.names) == 1
        found: list[Expr] = []
        for one in others:
            literal = self._literal(one, value) if is_strict and is_literal(one) else one.expr
            found += self._zeros(one, value) or (literal,)
        if len(found) == len(others) and all(
            new is old.expr for new, old in zip(found, others, strict=True)
        ):
            return node.expr
        return functions.in_list(value.expr, found, node.negated)

    def _zeros(self, literal: Node, other: Node) -> tuple[Expr, Expr] | None:
        """Return both zeros for a literal zero beside floats, None for something else."""
        from datafusion import lit

        found = scalar_of(literal, self._engine)
        if found is None or not (types.is_integer(found.type) or types.is_floating(found.type)):
            return None
        if found.as_py() != 0:
            return None
        type_ = type_at(self._schema, other.names) if other.names else None
        if type_ is None:
            type_ = self._engine.result(other.expr, self._schema).type
        if pa.types.is_integer(type_) and pa.types.is_floating(found.type):
            type_ = found.type
        if not pa.types.is_floating(type_):
            return None
        return lit(pa.scalar(-0.0, type_)), lit(pa.scalar(0.0, type_))

    def _literal(self, node: Node, column: Node) -> Expr:
        """Return a literal, or arithmetic of such, as a value of a column's type."""
        from datafusion import lit

        type_ = type_at(self._schema, column.names)
        if type_ is None:
            return node.expr
        if node.op in ARITHMETIC:
            sides = [self._literal(part, column) for part in node.parts]
            if all(new is old.expr for new, old in zip(sides, node.parts, strict=True)):
                return node.expr
            return _joined(node.op, *sides)
        held = scalar_of(node, self._engine)
        if held is None:
            return node.expr
        value = coerce(held, type_)
        if value.type == held.type or not value.is_valid:
            return node.expr
        return lit(value)


def _joined(op: str, left: Expr, right: Expr) -> Expr:
    """Return an operator of two operands."""
    if op in DISTINCT:
        same = (left == right) | (left.is_null() & right.is_null())
        same = same & (left.is_null() == right.is_null())
        return same if op == "IS NOT DISTINCT FROM" else ~same
    if op not in OPERATORS:
        raise QueryRefused(f"Operator {op} is not supported between literals")
    return OPERATORS[op](left, right)


def _with_zero(op: str, other: Expr, below: Expr, above: Expr) -> Expr:
    """Return a comparison with zero, which has both signs."""
    if op in ("=", "!="):
        same = (other == below) | (other == above)
        return same if op == "=" else ~same
    if op in DISTINCT:
        same = other.is_not_null() & ((other == below) | (other == above))
        return ~same if op == "IS DISTINCT FROM" else same
    return _joined(op, other, below if op in ("<", ">=") else above)
