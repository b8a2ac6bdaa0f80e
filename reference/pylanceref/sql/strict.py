"""Strict conditions: literals beside a column as values of the column's type.

Lance applies the rule to the conditions that a query joins by AND and OR, before DataFusion finds
common types: text never becomes a number there, nor a fraction an integer. `regexp_match`, which
returns what it has found, counts as true where that is not null.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.index.training import is_any

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
    fits = wanted in (pa.uint64(), pa.float32(), pa.float64())
    if held != pa.uint64():
        fits = any(is_any(held, *own) and is_any(wanted, *others) for own, others in _BECOMES)
    if not fits:
        raise _refusal(value, wanted)
    try:
        if types.is_timestamp(held) and types.is_timestamp(wanted) and wanted.tz and not held.tz:
            value = pc.assume_timezone(value, wanted.tz)  # as local time
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
    return is_any(type_, *_TEXT)


_TEXT = ("string", "large_string", "string_view")
_BYTES = ("binary", "large_binary", "binary_view")

_BECOMES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("integer",), ("integer", "floating", "decimal", "time32")),
    (("floating",), ("floating",)),
    (_TEXT, _TEXT),
    (_BYTES, (*_BYTES, "fixed_size_binary")),
    (("decimal",), ("decimal",)),
    (("date", "timestamp"), ("date", "timestamp")),
    (("nested",), ("list", "large_list", "fixed_size_list")),
    (("time",), ("time32",)),
)
"""Types of literals, and the types of columns whose values they are taken for."""


def as_value(literal: pa.Scalar, type_: pa.DataType, strict: bool) -> pa.Scalar | None:
    """Return a literal as a value of a type, None where it is none; strict numbers are rounded."""
    if not literal.is_valid:
        return None
    try:
        is_float = types.is_floating(literal.type)
        if not strict and types.is_integer(type_) and (is_float or types.is_decimal(literal.type)):
            # a large float is as near to other integers; one with a fraction cannot be cast
            return None if is_float and abs(literal.as_py()) >= 2**53 else literal.cast(type_)
        value = coerce(literal, type_)
        if types.is_date(type_) and types.is_timestamp(literal.type):
            told = pa.scalar(literal.value, pa.timestamp(literal.type.unit))
            return value if pc.equal(value.cast(told.type), told).as_py() else None
        if strict or value.type == literal.type or not types.is_floating(type_):
            return value
        same = pc.equal(value.cast(pa.float64()), literal.cast(pa.float64())).as_py()
        return value if same else None
    except (QueryRefused, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


COMPARISONS = words("= != < <= > >=")
"""Operators that compare two values."""

DISTINCT = frozenset(("IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
"""The same for null as a value like others."""

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

    def apply(self, node: Node, *, strict: bool = True, tested: bool = False) -> Expr:
        """Return an expression with strict literals. Raises QueryRefused.

        A condition below a denial or a test is not strict: only its matches become truth values and
        its zeros equal. Below a test matches remain what they are, which DataFusion refuses.
        """
        if node.op in ("AND", "OR"):
            left, right = (self._truth(part, strict, tested) for part in node.parts)
            if left is node.parts[0].expr and right is node.parts[1].expr:
                return node.expr
            return left & right if node.op == "AND" else left | right
        if node.op == "Not" or node.op in TESTS:
            (part,) = node.parts
            inner = self._truth(part, False, tested or node.op in TESTS)
            return node.expr if inner is part.expr else TESTS.get(node.op, operator.invert)(inner)
        if (strict and node.op in ARITHMETIC) or node.op in COMPARISONS | DISTINCT:
            sides = self._sides(*node.parts, strict=strict)
            return node.expr if _unchanged(sides, node.parts) else _joined(node.op, *sides)
        if node.op == "between":
            return self._between(node, strict=strict)
        return self._in(node, strict=strict) if node.op == "in list" else node.expr

    def _truth(self, node: Node, strict: bool, tested: bool) -> Expr:
        if node.op == "regexp_match" and not tested:
            return node.expr.is_not_null()
        return self.apply(node, strict=strict, tested=tested)

    def _sides(
        self, left: Node, right: Node, *, strict: bool, computed: bool = False
    ) -> list[Expr]:
        """Return two operands: a literal as a value of the other one's column; zeros without sign.

        A float less its sign of zero is the sum of it and zero. Literals of what is `computed` from
        columns are such values too.
        """
        nodes, sides = (left, right), [left.expr, right.expr]
        if strict and left.names and (is_literal(right) or (computed and right.op in ARITHMETIC)):
            sides[1] = self._literal(right, left)
        elif strict and right.names and is_plain(left):
            sides[0] = self._literal(left, right)
        for own, other in ((1, 0), (0, 1)):
            zeros = self._zeros(nodes[own], nodes[other])
            if zeros:
                sides[own], sides[other] = zeros[1], sides[other] + zeros[1]
        return sides

    def _between(self, node: Node, *, strict: bool) -> Expr:
        value, *ends = node.parts
        is_strict = strict and bool(value.names)
        typed = [self._type(part) for part in node.parts if not is_literal(part)]
        if any(map(pa.types.is_decimal, typed)):
            low, high = (  # compared as decimals, which have one zero
                self._literal(end, value) if is_strict and is_literal(end) else end.expr
                for end in ends
            )
            return value.expr.between(low, high, node.negated)
        pairs = [self._sides(value, end, strict=is_strict, computed=True) for end in ends]
        if all(_unchanged(pair, (value, end)) for pair, end in zip(pairs, ends, strict=True)):
            return node.expr
        inside = _joined(">=", *pairs[0]) & _joined("<=", *pairs[1])
        return ~inside if node.negated else inside

    def _in(self, node: Node, *, strict: bool) -> Expr:
        from datafusion import functions

        value, *others = node.parts
        is_strict = strict and len(value.names) == 1
        found: list[Expr] = []
        for one in others:
            literal = self._literal(one, value) if is_strict and is_literal(one) else one.expr
            found += self._zeros(one, value) or (literal,)
        unchanged = len(found) == len(others) and _unchanged(found, others)
        return node.expr if unchanged else functions.in_list(value.expr, found, node.negated)

    def _type(self, node: Node) -> pa.DataType:
        found = type_at(self._schema, node.names) if node.names else None
        return self._engine.result(node.expr, self._schema).type if found is None else found

    def _zeros(self, literal: Node, other: Node) -> tuple[Expr, ...]:
        """Return both zeros for a literal zero beside floats, nothing for something else."""
        from datafusion import lit

        found = scalar_of(literal, self._engine)
        if found is None or not (types.is_integer(found.type) or types.is_floating(found.type)):
            return ()
        if found.as_py() != 0:
            return ()
        type_ = self._type(other)
        if pa.types.is_integer(type_):
            type_ = found.type
        if not pa.types.is_floating(type_):
            return ()
        return lit(pa.scalar(-0.0, type_)), lit(pa.scalar(0.0, type_))

    def _literal(self, node: Node, column: Node) -> Expr:
        """Return a literal, or arithmetic of such, as a value of a column's type."""
        from datafusion import lit

        type_ = type_at(self._schema, column.names)
        if type_ is None:
            return node.expr
        if node.op in ARITHMETIC:
            sides = [self._literal(part, column) for part in node.parts]
            return node.expr if _unchanged(sides, node.parts) else _joined(node.op, *sides)
        held = scalar_of(node, self._engine)
        if held is None:
            return node.expr
        value = coerce(held, type_)
        if value.type == held.type or not value.is_valid:
            return node.expr
        return lit(value)


def _unchanged(new: Sequence[Expr], old: Sequence[Node]) -> bool:
    return all(one is node.expr for one, node in zip(new, old, strict=True))


def _joined(op: str, left: Expr, right: Expr) -> Expr:
    """Return an operator of two operands."""
    if op in DISTINCT:
        same = (left == right) | (left.is_null() & right.is_null())
        same = same & (left.is_null() == right.is_null())
        return same if op == "IS NOT DISTINCT FROM" else ~same
    if op not in OPERATORS:
        raise QueryRefused(f"Operator {op} is not supported between literals")
    return OPERATORS[op](left, right)
