"""Casts, by hand."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from lanceref.query.casts import cast, try_cast

US = pa.timestamp("us")


@pytest.mark.parametrize(
    ("held", "type_", "wanted"),
    [
        (pa.array([1.7, -1.7, None]), pa.int32(), [1, -1, None]),
        (pa.array([2.5, -2.5]), pa.decimal128(10, 0), [Decimal(3), Decimal(-3)]),
        (pa.array([Decimal("1.99")]), pa.int64(), [1]),
        (pa.array([Decimal("1.25")]), pa.decimal128(5, 1), [Decimal("1.3")]),
        (pa.array([1 << 60]), pa.float64(), [float(1 << 60)]),
        (pa.array(["T", "no", None, "1"]), pa.bool_(), [True, False, None, True]),
        (pa.array(["1970-1-2"]).cast(pa.large_utf8()), pa.date32(), [1]),
        (pa.array(["1970-01-01T00:00:01Z"]), US, [1_000_000]),
        (pa.array(["1970-01-01 02:00:00+02:00"]), US, [0]),
        (pa.array(["00:00:07"]), pa.time32("s"), [7]),
        (pa.array(["7"]), pa.time64("us"), [7]),
        (pa.array([5]), pa.date32(), [5]),
        (pa.array([5], pa.int32()), pa.date64(), [5 * 86_400_000]),
    ],
)
def test_values_of_one_type_are_values_of_another(held, type_, wanted):
    """Fractions are cut or rounded, text is read."""
    found = cast(held, type_)
    if not pa.types.is_decimal(type_) and pa.types.is_temporal(type_):
        found = found.cast(pa.int32() if type_.bit_width == 32 else pa.int64())

    assert wanted == found.to_pylist()


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.array([1.0, float("nan"), -0.5]), ["1.0", "NaN", "-0.5"]),
        (pa.array([True, None]), ["true", None]),
        (pa.array([1], pa.date32()), ["1970-01-02"]),
        (pa.array([1], US), ["1970-01-01T00:00:00.000001"]),
        (pa.array([1_000_000, 1_500_000], US), ["1970-01-01T00:00:01", "1970-01-01T00:00:01.500"]),
        (pa.array([1], pa.timestamp("ms", "UTC")), ["1970-01-01T00:00:00.001Z"]),
    ],
)
def test_values_are_written_as_text(held, wanted):
    """Moments with T, and with as many digits as needed."""
    assert wanted == cast(held, pa.utf8()).to_pylist()


@pytest.mark.parametrize("text", ["x", "1.5", "", "300"])
def test_what_does_not_fit_is_an_error_or_null(text):
    """As `CAST` and as `TRY_CAST`."""
    with pytest.raises(pa.ArrowInvalid):
        cast(pa.array([text]), pa.int8())

    assert [None, 7] == try_cast(pa.array([text, "7"]), pa.int8()).to_pylist()
    assert not try_cast(pa.scalar(text), pa.int8()).is_valid


@pytest.mark.parametrize("value", [3e9, float("nan"), -3e9])
def test_fractions_beyond_an_integer_are_errors(value):
    """Not some other number."""
    with pytest.raises(pa.ArrowInvalid):
        cast(pa.array([value]), pa.int32())


def test_scalars_are_cast_like_arrays():
    """Null too."""
    assert 1 == cast(pa.scalar(1.9), pa.int8()).as_py()
    assert not cast(pa.scalar(None, pa.utf8()), pa.int8()).is_valid


def test_a_literal_may_be_a_time_of_32_bits():
    """A column of 64 bits may not, nor a number that does not fit."""
    assert cast(pa.scalar(7), pa.time32("s")) == pa.scalar(7, pa.time32("s"))
    with pytest.raises(pa.ArrowNotImplementedError):
        cast(pa.array([7]), pa.time32("s"))
    with pytest.raises(pa.ArrowInvalid):
        cast(pa.scalar(2**40), pa.time32("s"))
