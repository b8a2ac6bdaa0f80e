"""Operators: comparison, arithmetic, patterns and elements over bound expressions.

Both sides become one type first (`coercion`). Sums and products of integers wrap around; a division
of integers drops the rest and fails on 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from lanceref.core.errors import QueryRefused
from lanceref.core.slices import whole
from lanceref.query import comparison
from lanceref.query.bound import Bound, apply, as_type, constant, negated
from lanceref.query.casts import Datum
from lanceref.query.coercion import common_type, decimal_of, is_bytes, is_number, is_text
from lanceref.query.decimals import (
    decimal_difference,
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
)

types = pa.types

COMPARISONS: dict[type[exp.Expr], comparison.Compare] = {
    exp.EQ: comparison.equal,
    exp.NEQ: comparison.not_equal,
    exp.GT: comparison.greater,
    exp.GTE: comparison.greater_equal,
    exp.LT: comparison.less,
    exp.LTE: comparison.less_equal,
    exp.NullSafeNEQ: comparison.distinct,
    exp.NullSafeEQ: lambda left, right: pc.invert(comparison.distinct(left, right)),
}


def compared(compare: comparison.Compare, left: Bound, right: Bound) -> Bound:
    """Return the comparison of two expressions. Raises QueryRefused."""
    type_ = common_type(left.type, right.type)
    if type_ is None:
        raise QueryRefused(
            f"Cannot infer common argument type for comparison of {left.type} and {right.type}"
        )
    type_ = pa.bool_() if types.is_null(type_) else type_
    return apply(compare, as_type(left, type_), as_type(right, type_), type_=pa.bool_())


def among(value: Bound, others: list[Bound]) -> Bound:
    """Return whether a value is one of others; null where only a null could be it."""
    if all(one.literal is not None for one in others):
        return _among_literals(value, others)
    result = compared(comparison.equal, value, others[0])
    for other in others[1:]:
        result = apply(pc.or_kleene, result, compared(comparison.equal, value, other))
    return result


def _among_literals(value: Bound, others: list[Bound]) -> Bound:
    type_: pa.DataType | None = value.type
    for other in others:
        type_ = None if type_ is None else common_type(type_, other.type)
    if type_ is None or types.is_nested(type_):
        found = [compared(comparison.equal, value, other) for other in others]
        return apply(lambda *masks: _any(masks), *found, type_=pa.bool_())
    literals = [as_type(other, type_).literal for other in others]
    known = [one for one in literals if one is not None and one.is_valid]
    wanted = pa.array(known, type_)
    has_null = len(known) < len(literals)
    return apply(
        lambda held: _is_in(held, wanted, has_null), as_type(value, type_), type_=pa.bool_()
    )


def _any(masks: tuple[Datum, ...]) -> Datum:
    result = masks[0]
    for mask in masks[1:]:
        result = pc.or_kleene(result, mask)
    return result


def _is_in(held: Datum, wanted: pa.Array, has_null: bool) -> Datum:
    array = pa.repeat(held, 1) if isinstance(held, pa.Scalar) else held
    if types.is_floating(array.type):  # the sign of zero does not count
        wide = array.cast(pa.float64())
        found = pc.is_in(pc.add(wide, 0.0), pc.add(wanted.cast(pa.float64()), 0.0))
    else:
        found = pc.is_in(array, wanted)
    unknown = pc.is_null(array)
    if has_null:
        unknown = pc.or_(unknown, pc.invert(found))
    result = pc.if_else(unknown, pa.scalar(None, pa.bool_()), found)
    return result[0] if isinstance(held, pa.Scalar) else result


def _divided(left: Datum, right: Datum) -> Datum:
    if types.is_floating(left.type):
        return pc.divide(left, right)
    return pc.divide_checked(left, right)


def _remainder(left: Datum, right: Datum) -> Datum:
    """Return the remainder, with the sign of the first value."""
    if types.is_floating(left.type):
        return _by_numpy(np.fmod, left, right)
    return pc.subtract(left, pc.multiply(pc.divide_checked(left, right), right))


def _shifted(shift: np.ufunc) -> Callable[[Datum, Datum], Datum]:
    """Return a shift whose count wraps around at the bits of the value."""

    def run(left: Datum, right: Datum) -> Datum:
        last = pa.scalar(left.type.bit_width - 1, left.type)
        return _by_numpy(shift, left, pc.bit_wise_and(right, last))

    return run


def _by_numpy(function: np.ufunc, left: Datum, right: Datum) -> Datum:
    """Return a function of numbers of one type, null where one is null."""
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        return _by_numpy(function, pa.array([left.as_py()], left.type), right)[0]
    null = pc.or_(pc.is_null(left), pc.is_null(right)).to_numpy(zero_copy_only=False)
    sides = []
    for one in (left, right):
        held = pc.fill_null(one, 1)
        sides.append(held.as_py() if isinstance(held, pa.Scalar) else held.to_numpy())
    type_ = left.type.to_pandas_dtype()
    with np.errstate(all="ignore"):
        return pa.array(function(*(np.asarray(one, type_) for one in sides)), mask=null)


ARITHMETIC: dict[type[exp.Expr], Callable[[Datum, Datum], Datum]] = {
    exp.Add: pc.add,
    exp.Sub: pc.subtract,
    exp.Mul: pc.multiply,
    exp.Div: _divided,
    exp.Mod: _remainder,
    exp.BitwiseLeftShift: _shifted(np.left_shift),
    exp.BitwiseRightShift: _shifted(np.right_shift),
}


DECIMAL_ARITHMETIC: dict[type[exp.Expr], Callable[[Datum, Datum], Datum]] = {
    exp.Add: decimal_sum,
    exp.Sub: decimal_difference,
    exp.Mul: decimal_product,
    exp.Div: decimal_quotient,
    exp.Mod: decimal_remainder,
}


def computed(kind: type[exp.Expr], left: Bound, right: Bound) -> Bound:
    """Return a sum, difference, product, quotient or remainder. Raises QueryRefused."""
    if types.is_date32(left.type) and types.is_integer(right.type) and kind in (exp.Add, exp.Sub):
        days = computed(kind, as_type(left, pa.int32()), as_type(right, pa.int32()))
        return as_type(days, pa.date32())
    if types.is_date32(left.type) and types.is_date32(right.type) and kind is exp.Sub:
        return computed(kind, as_type(left, pa.int64()), as_type(right, pa.int64()))
    type_ = _numbers_met(left.type, right.type)
    if type_ is not None and types.is_timestamp(type_) and kind is exp.Sub:
        return apply(pc.subtract, as_type(left, type_), as_type(right, type_))
    if type_ is not None and types.is_decimal(type_):
        return _computed_decimal(kind, left, right, type_)
    if type_ is None or not (is_number(type_) or types.is_null(type_)):
        raise QueryRefused(f"Cannot coerce arithmetic expression {left.type} and {right.type}")
    return apply(ARITHMETIC[kind], as_type(left, type_), as_type(right, type_))


def _numbers_met(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type in which arithmetic meets: beside a float, a decimal is one too."""
    sides = left, right
    floating = [one for one in sides if types.is_floating(one)]
    if len(floating) == 1 and any(types.is_decimal(one) for one in sides):
        return floating[0]
    return common_type(left, right)


def _computed_decimal(kind: type[exp.Expr], left: Bound, right: Bound, met: pa.DataType) -> Bound:
    """Return arithmetic of numbers that meet in a decimal.

    Each keeps its own digits beside a decimal of the same width.
    """
    if kind not in DECIMAL_ARITHMETIC:
        raise QueryRefused(f"Cannot coerce arithmetic expression {left.type} and {right.type}")
    declared = {one.type.bit_width for one in (left, right) if types.is_decimal(one.type)}
    sides = []
    for one in (left, right):
        type_ = (decimal_of(one.type) if len(declared) == 1 else None) or met
        if types.is_decimal256(met):
            type_ = pa.decimal256(type_.precision, type_.scale)
        sides.append(as_type(one, type_))
    return apply(DECIMAL_ARITHMETIC[kind], *sides)


def like(text: Bound, pattern: Bound, *, ignore_case: bool, negate: bool) -> Bound:
    """Return whether text has the form of a pattern: % any text, _ one letter, \\ as it stands."""
    if types.is_null(text.type) or types.is_null(pattern.type):
        return constant(pa.scalar(None, pa.bool_()))
    for one in (text, pattern):
        if not (is_text(one.type) or is_bytes(one.type)):
            raise QueryRefused(f"There isn't a common type to coerce {one.type} and text")

    def match(held: Datum, wanted: Datum) -> Datum:
        if isinstance(wanted, pa.Scalar):
            return _matched(held, wanted.as_py(), ignore_case)
        texts = held if isinstance(held, pa.Array) else pa.repeat(held, len(wanted))
        pairs = zip(texts, wanted.to_pylist(), strict=True)
        return pa.array(
            [_matched(one, form, ignore_case).as_py() for one, form in pairs], pa.bool_()
        )

    result = apply(match, as_type(text, pa.utf8()), as_type(pattern, pa.utf8()), type_=pa.bool_())
    return negated(result) if negate else result


def _matched(held: Datum, form: str | None, ignore_case: bool) -> Datum:
    if form is None:
        return pc.and_(pc.is_null(held), pa.scalar(None, pa.bool_()))
    if (len(form) - len(form.rstrip("\\"))) % 2:  # a last backslash stands for itself
        form += "\\"
    return pc.match_like(held, form, ignore_case=ignore_case)


def element(lists: Bound, index: Bound) -> Bound:
    """Return one element of each list, counted from 1, or from its end when below 0."""
    held = lists.type
    if not (types.is_list(held) or types.is_large_list(held) or types.is_fixed_size_list(held)):
        raise QueryRefused(f"{held} has no elements")
    if index.literal is None or not types.is_integer(index.type):
        raise QueryRefused("the number of an element must be a literal")
    at = index.literal.as_py()
    return apply(lambda one: _element(one, at), lists, type_=held.value_type)


def _element(lists: Datum, at: int) -> pa.Array:
    if isinstance(lists, pa.Scalar):
        return _element(pa.repeat(lists, 1), at)[0]
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    wide = lists.cast(pa.large_list(lists.type.value_type))
    starts = wide.offsets.to_numpy()[:-1]
    place = starts + (at - 1 if at > 0 else sizes + at)
    there = (at != 0) & (sizes >= abs(at))
    chosen = pa.array(np.where(there, place, 0).astype(np.int64), mask=~there)
    return whole(wide.values).take(chosen)
