"""Routing: which indices a filter is asked of, and what they are asked.

Conditions joined by AND, OR and NOT become a plan of questions; NOT is moved down to these. Where
an index cannot answer one side of an AND, the other side still narrows the rows down; an OR needs
both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from lanceref.core.errors import QueryRefused
from lanceref.index.full_text.tokenizers import simple
from lanceref.index.geometry import binary_of
from lanceref.index.indices import Index
from lanceref.index.predicate import (
    Among,
    Contains,
    HasLabels,
    HasWords,
    Intersects,
    IsNull,
    Matches,
    Predicate,
    StartsWith,
    Within,
)
from lanceref.query.coercion import is_text
from lanceref.query.expression import Binder
from lanceref.query.json_members import member_of
from lanceref.query.literals import coerce
from lanceref.query.questions import Either, Every, Plan, Question, joined, knows_nulls

ByPath = Mapping[str, Sequence[Index]]
"""Indices of each column."""


def route(tree: exp.Expr, binder: Binder, indices: ByPath) -> Plan | None:
    """Return the plan of a filter, None when no index helps."""
    return _Router(binder, indices).route(tree, negated=False)


class _Router:
    """Makes the plan of one filter."""

    def __init__(self, binder: Binder, indices: ByPath) -> None:
        self._binder = binder
        self._indices = indices

    def route(self, tree: exp.Expr, *, negated: bool) -> Plan | None:
        if isinstance(tree, exp.Paren):
            return self.route(tree.this, negated=negated)
        if isinstance(tree, exp.Not | exp.BitwiseNot):
            return self.route(tree.this, negated=not negated)
        if isinstance(tree, exp.And | exp.Or):
            sides = [self.route(one, negated=negated) for one in (tree.this, tree.expression)]
            parts = tuple(side for side in sides if side is not None)
            if isinstance(tree, exp.Or) == negated:  # by De Morgan an OR that is denied is an AND
                return Every(joined(parts), len(parts) == len(sides)) if parts else None
            return Either(parts) if len(parts) == len(sides) else None
        for kind, method in _CONDITIONS.items():
            if isinstance(tree, kind):
                return method(self, tree, negated)
        return None

    def _ask(
        self, path: str, predicate: Predicate, negated: bool, exact: bool = True
    ) -> Plan | None:
        """Return the question to the index of a column that answers it best."""
        best: Question | None = None
        for index in self._indices.get(path, ()):
            answer = index.answers(predicate)
            if answer is None or (negated and not (answer and exact)):
                continue
            if best is None or (answer and not best.exact):
                is_sure = answer and exact and (not negated or knows_nulls(index))
                best = Question(index, predicate, is_sure, negated, path)
        return best

    def _column(self, tree: exp.Expr) -> tuple[str, pa.DataType] | None:
        """Return path and type of an indexed column, or of a member of its documents."""
        if isinstance(tree, exp.Anonymous):
            member = member_of(tree, self._binder)
            return member if member is not None and member[0] in self._indices else None
        if not isinstance(tree, exp.Column | exp.Dot | exp.Bracket | exp.Paren):
            return None
        bound = self._binder.bind_loosely(tree)
        if not bound.is_column or len(bound.paths) != 1 or min(bound.paths) not in self._indices:
            return None
        return min(bound.paths), bound.type

    def _value(self, tree: exp.Expr, type_: pa.DataType, strict: bool) -> pa.Scalar | None:
        """Return a literal as a value of a column, None when it is null or not such a value."""
        literal = self._binder.bind_loosely(tree).literal
        return None if literal is None else as_value(literal, type_, strict)

    def _compared(self, tree: exp.Binary, negated: bool) -> Plan | None:
        left, right, kind = tree.this, tree.expression, type(tree)
        column = self._column(left)
        if column is None:
            left, right, kind = right, left, _FLIPPED[kind]
            column = self._column(left)
        if column is None:
            return None
        path, type_ = column
        value = self._value(right, type_, self._binder.is_strict(tree))
        if value is None:
            return None
        if kind in (exp.EQ, exp.NEQ):
            return self._among(path, (value,), negated != (kind is exp.NEQ))
        low, high = (value, None) if kind in (exp.GT, exp.GTE) else (None, value)
        closed = kind in (exp.GTE, exp.LTE)
        return self._ask(path, Within(low, high, closed, closed), negated=negated)

    def _between(self, tree: exp.Between, negated: bool) -> Plan | None:
        column = self._column(tree.this)
        if column is None or tree.args.get("symmetric"):
            return None
        path, type_ = column
        strict = self._binder.is_strict(tree)
        low, high = (self._value(tree.args[end], type_, strict) for end in ("low", "high"))
        if low is None or high is None:
            return None
        return self._ask(path, Within(low, high), negated=negated)

    def _in(self, tree: exp.In, negated: bool) -> Plan | None:
        column = self._column(tree.this)
        if column is None or not tree.expressions:
            return None
        path, type_ = column
        strict = self._binder.is_strict(tree) and "." not in path
        values = [self._value(one, type_, strict) for one in tree.expressions]
        given = tuple(value for value in values if value is not None)
        return self._among(path, given, negated) if len(given) == len(values) else None

    def _among(self, path: str, values: tuple[pa.Scalar, ...], negated: bool) -> Plan | None:
        """Ask whether a value is one of some; what is not false is asked as true."""
        if not negated or pa.scalar(False) not in values:
            return self._ask(path, Among(values), negated=negated)
        truth = self._ask(path, Among((pa.scalar(True),)), negated=False)
        if truth is None or pa.scalar(True) not in values:
            return truth
        denied = self._ask(path, Among((pa.scalar(True),)), negated=True)
        return Every((truth,) if denied is None else (denied, truth), denied is not None)

    def _is(self, tree: exp.Is, negated: bool) -> Plan | None:
        column = self._column(tree.this)
        if column is None:
            return None
        negated ^= bool(tree.args.get("negate"))
        if isinstance(tree.expression, exp.Null):
            return self._ask(column[0], IsNull(), negated=negated)
        if negated or not isinstance(tree.expression, exp.Boolean):
            return None
        if not pa.types.is_boolean(column[1]):
            return None
        return self._ask(column[0], Among((pa.scalar(tree.expression.this),)), negated=False)

    def _like(self, tree: exp.Like, negated: bool) -> Plan | None:
        column, pattern = self._column(tree.this), tree.expression
        if column is None or not (isinstance(pattern, exp.Literal) and pattern.is_string):
            return None
        path, type_ = column
        if not is_text(type_) or "\\" in pattern.this:
            return None
        prefix = pattern.this.split("%")[0].split("_")[0]
        negated ^= bool(tree.args.get("negate"))
        if prefix == pattern.this:
            return self._ask(path, Among((pa.scalar(prefix, type_),)), negated=negated)
        if not prefix:
            return None
        whole = pattern.this == f"{prefix}%"
        return self._ask(path, StartsWith(pa.scalar(prefix, type_)), negated=negated, exact=whole)

    def _truth(self, tree: exp.Column, negated: bool) -> Plan | None:
        column = self._column(tree)
        if column is None or not pa.types.is_boolean(column[1]):
            return None
        return self._ask(column[0], Among((pa.scalar(True),)), negated)

    def _call(self, tree: exp.Anonymous, negated: bool) -> Plan | None:
        """Return the plan of a call of a function over a column and a literal."""
        ask = _CALLS.get(str(tree.this).lower())
        if ask is None or len(tree.expressions) != 2:
            return None
        column = self._column(tree.expressions[0])
        literal = self._binder.bind_loosely(tree.expressions[1]).literal
        if column is None or literal is None or not literal.is_valid:
            return None
        predicate = ask(literal, column[1])
        return None if predicate is None else self._ask(column[0], predicate, negated=negated)


def as_value(literal: pa.Scalar, type_: pa.DataType, strict: bool) -> pa.Scalar | None:
    """Return a literal as a value of a type, None when it is none; only a strict one is rounded."""
    if not literal.is_valid:
        return None
    try:
        if not strict and pa.types.is_integer(type_) and _has_fraction(literal.type):
            return _as_integer(literal, type_)
        value = coerce(literal, type_)
        if strict or value.type == literal.type or not pa.types.is_floating(type_):
            return value
        return (
            value
            if pc.equal(value.cast(pa.float64()), literal.cast(pa.float64())).as_py()
            else None
        )
    except (QueryRefused, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _has_fraction(type_: pa.DataType) -> bool:
    return bool(pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _as_integer(literal: pa.Scalar, type_: pa.DataType) -> pa.Scalar | None:
    """Return a number as an integer, None for a large float, which is as near to others.

    Raises ArrowInvalid for one with a fraction, or that does not fit.
    """
    is_large = pa.types.is_floating(literal.type) and abs(literal.as_py()) >= 2**53
    return None if is_large else literal.cast(type_)


def _starts_with(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    if not (is_text(literal.type) and is_text(type_)) or not literal.as_py():
        return None
    return StartsWith(pa.scalar(literal.as_py(), type_))


def _contains(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    return Contains(literal.as_py()) if is_text(literal.type) and is_text(type_) else None


def _has_words(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    """Return a question for words; none at all are no question."""
    if not (is_text(literal.type) and is_text(type_)):
        return None
    words, _ = simple(literal.as_py())
    return HasWords(tuple(dict.fromkeys(words))) if words else None


def _matches(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    return Matches(literal.as_py()) if is_text(literal.type) and is_text(type_) else None


def _intersects(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    """Return a question for geometries that meet one: all of which more is said do."""
    held = literal.as_py()
    return Intersects(binary_of(held) if isinstance(held, str) else held)


def _labels(literal: pa.Scalar, type_: pa.DataType, *, every: bool) -> Predicate | None:
    """Return a question for labels of a list; null and none at all are no question."""
    if not (pa.types.is_list(type_) or pa.types.is_large_list(type_)):
        return None
    given = literal.values if pa.types.is_nested(literal.type) else [literal]
    labels = [as_value(one, type_.value_type, strict=False) for one in given]
    if not labels or None in labels:
        return None
    return HasLabels(tuple(one for one in labels if one is not None), every)


def _has_any(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    return _labels(literal, type_, every=False)


def _has_all(literal: pa.Scalar, type_: pa.DataType) -> Predicate | None:
    return _labels(literal, type_, every=True)


MEETING = (
    "st_contains",
    "st_coveredby",
    "st_covers",
    "st_crosses",
    "st_intersects",
    "st_overlaps",
    "st_touches",
    "st_within",
)
"""Functions of geometries that are true only of such as meet."""

_CALLS: dict[str, Callable[[pa.Scalar, pa.DataType], Predicate | None]] = {
    **dict.fromkeys(MEETING, _intersects),
    "starts_with": _starts_with,
    "contains": _contains,
    "contains_tokens": _has_words,
    "regexp_match": _matches,
    "regexp_like": _matches,
    "array_has": _has_any,
    "array_contains": _has_any,
    "list_has": _has_any,
    "list_contains": _has_any,
    "array_has_any": _has_any,
    "list_has_any": _has_any,
    "array_has_all": _has_all,
    "list_has_all": _has_all,
}
"""What a call of a function over a column asks."""

_FLIPPED = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
"""The comparison that is true with its sides exchanged."""

_CONDITIONS: dict[type[exp.Expr], Callable[..., Plan | None]] = {
    **dict.fromkeys(_FLIPPED, _Router._compared),
    exp.Between: _Router._between,
    exp.In: _Router._in,
    exp.Is: _Router._is,
    exp.Like: _Router._like,
    exp.Column: _Router._truth,
    exp.Anonymous: _Router._call,
}
"""How each kind of condition becomes a question."""
