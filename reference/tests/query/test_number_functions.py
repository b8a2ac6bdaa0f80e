"""Functions of numbers, by hand."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from lanceref.query.number_functions import NUMBER_FUNCTIONS, as_floats


@pytest.mark.parametrize(
    ("name", "values", "type_", "wanted"),
    [
        ("round", (pa.scalar(25, pa.int32()), pa.scalar(-1)), pa.float64(), 30.0),
        ("round", (pa.scalar(2.5),), pa.float64(), 3.0),
        ("round", (pa.scalar(Decimal("2.25")), pa.scalar(1)), pa.decimal128(3, 1), Decimal("2.3")),
        ("trunc", (pa.scalar(-1.59), pa.scalar(1)), pa.float64(), -1.5),
        ("signum", (pa.scalar(-7),), pa.float64(), -1.0),
        ("power", (pa.scalar(2), pa.scalar(-1)), pa.float64(), 0.5),
        ("cbrt", (pa.scalar(-8.0),), pa.float64(), -2.0),
        ("ceil", (pa.scalar(1.2, pa.float32()),), pa.float32(), 2.0),
        ("log", (pa.scalar(2), pa.scalar(8)), pa.float64(), 3.0),
        ("log", (pa.scalar(100),), pa.float64(), 2.0),
        ("degrees", (pa.scalar(0.0),), pa.float64(), 0.0),
        ("cosh", (pa.scalar(0.0),), pa.float64(), 1.0),
    ],
)
def test_values(name, values, type_, wanted):
    """Integers become floats, decimals keep their kind."""
    found = NUMBER_FUNCTIONS[name](*values)

    assert (type_, wanted) == (found.type, found.as_py())


def test_nulls_stay():
    """In what numpy computes too."""
    assert [None, 0.0] == NUMBER_FUNCTIONS["sinh"](pa.array([None, 0.0])).to_pylist()
    assert [None, 2.0] == NUMBER_FUNCTIONS["cbrt"](pa.array([None, 8])).to_pylist()


def test_floats_of_few_bits_have_32():
    """All other numbers 64."""
    assert pa.float32() == as_floats(pa.array([1.0], pa.float16())).type
    assert pa.float64() == as_floats(pa.array([1])).type
