"""Arithmetic of decimals, by hand and against exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.query.decimals import (
    decimal_difference,
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
)

LEFT = pa.array([Decimal("1.50"), Decimal("-2.25"), None], pa.decimal128(10, 2))
RIGHT = pa.array([Decimal("0.7"), Decimal("2.2"), Decimal(1)], pa.decimal128(20, 1))


@pytest.mark.parametrize(
    ("function", "type_", "wanted"),
    [
        (decimal_sum, pa.decimal128(22, 2), ["2.20", "-0.05", None]),
        (decimal_difference, pa.decimal128(22, 2), ["0.80", "-4.45", None]),
        (decimal_product, pa.decimal128(31, 3), ["1.050", "-4.950", None]),
        (decimal_quotient, pa.decimal128(15, 6), ["2.142857", "-1.022727", None]),
        (decimal_remainder, pa.decimal128(10, 2), ["0.10", "-0.05", None]),
    ],
)
def test_types_and_digits(function, type_, wanted):
    """The result has the digits that its type says; what is below is dropped."""
    found = function(LEFT, RIGHT)

    assert type_ == found.type
    assert [None if one is None else Decimal(one) for one in wanted] == found.to_pylist()


def test_a_slice_and_a_scalar():
    """Count from where they begin."""
    half = pa.scalar(Decimal("0.5"), pa.decimal128(2, 1))

    assert [Decimal("-1.75"), None] == decimal_sum(LEFT[1:], half).to_pylist()
    assert Decimal("1.0") == decimal_sum(half, half).as_py()


def test_zero_divides_nothing():
    """Not even where the dividend is null, unless the divisor is."""
    with pytest.raises(pa.ArrowInvalid, match="zero"):
        decimal_quotient(LEFT, pa.array([Decimal(0)] * 3, pa.decimal128(3, 0)))


def test_what_the_bits_do_not_hold_is_an_error():
    """Though the type has its digits capped."""
    large = pa.array([Decimal(10**37)], pa.decimal128(38, 0))
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        decimal_product(large, large)


DIGITS = st.integers(-(10**18) + 1, 10**18 - 1)


@given(DIGITS, DIGITS, st.integers(0, 5), st.integers(0, 5))
def test_sums_and_products_are_exact(left, right, scale, other_scale):
    """As fractions are."""
    one, other = Fraction(left, 10**scale), Fraction(right, 10**other_scale)
    sides = [
        pa.array([Decimal(value).scaleb(-below)], pa.decimal128(18, below))
        for value, below in ((left, scale), (right, other_scale))
    ]

    assert one + other == Fraction(decimal_sum(*sides)[0].as_py())
    assert one * other == Fraction(decimal_product(*sides)[0].as_py())
