"""Operators, by hand."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from lanceref.query import comparison
from lanceref.query.bound import Bound, constant
from lanceref.query.operators import among, compared, computed, element, like
from sqlglot import exp

BATCH = pa.record_batch(
    {
        "i": pa.array([7, -7, None, 127], pa.int8()),
        "u": pa.array([1, 2, 3, 255], pa.uint8()),
        "f": [1.0, -0.0, None, float("nan")],
        "s": ["a%", "ab", None, "A"],
        "k": [[1, 2], [], None, [3]],
    }
)


def column(name):
    """Return a column of the batch."""
    own = frozenset({name})
    return Bound(BATCH[name].type, lambda batch: batch[name], own, own, is_column=True)


def lit(value):
    """Return a literal."""
    return constant(pa.scalar(value))


def rows(bound):
    """Return the values of an expression."""
    return bound.evaluate(BATCH).to_pylist()


def test_sides_of_different_types_meet():
    """A number and a fraction, a signed and an unsigned one."""
    assert [True, False, None, False] == rows(compared(comparison.equal, column("i"), lit(7.0)))
    assert [False, True, None, True] == rows(compared(comparison.less, column("i"), column("u")))
    with pytest.raises(QueryRefused, match="common argument type"):
        compared(comparison.equal, column("i"), lit(True))


@pytest.mark.parametrize(
    ("kind", "right", "wanted"),
    [
        (exp.Add, pa.scalar(1, pa.int8()), [8, -6, None, -128]),
        (exp.Add, pa.scalar(1), [8, -6, None, 128]),
        (exp.Div, pa.scalar(2), [3, -3, None, 63]),
        (exp.Mod, pa.scalar(4), [3, -3, None, 3]),
        (exp.Mul, pa.scalar(0.5), [3.5, -3.5, None, 63.5]),
        (exp.BitwiseLeftShift, pa.scalar(1), [14, -14, None, 254]),
    ],
)
def test_arithmetic(kind, right, wanted):
    """Sums wrap around in the common type, quotients lose their rest."""
    assert wanted == rows(computed(kind, column("i"), constant(right)))


def test_division_by_zero():
    """Of integers it fails, of floats it is infinite."""
    with pytest.raises(QueryFailed):
        rows(computed(exp.Div, column("i"), lit(0)))
    assert float("inf") == rows(computed(exp.Div, column("f"), lit(0)))[0]
    with pytest.raises(QueryRefused, match="arithmetic"):
        computed(exp.Add, column("s"), column("k"))


def test_days_and_numbers():
    """A day and a number make a day, two days a number."""
    day = constant(pa.scalar(3, pa.int32()).cast(pa.date32()))

    assert pa.date32() == computed(exp.Add, day, lit(1)).type
    assert 0 == computed(exp.Sub, day, day).literal.as_py()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([7, 1], [True, False, None, False]),
        ([7, None], [True, None, None, None]),
        ([7.5], [False, False, None, False]),
    ],
)
def test_values_among_others(values, wanted):
    """With a null among them what is not found is unknown."""
    assert wanted == rows(among(column("i"), [lit(value) for value in values]))


def test_both_zeros_are_among_a_zero():
    """And a NaN is among NaNs."""
    assert [False, True, None, False] == rows(among(column("f"), [lit(0.0)]))
    assert [False, False, None, True] == rows(among(column("f"), [lit(float("nan"))]))
    assert [True, True, None, True] == rows(among(column("f"), [column("f")]))


@pytest.mark.parametrize(
    ("pattern", "ignore_case", "wanted"),
    [
        ("a%", False, [True, True, None, False]),
        ("a%", True, [True, True, None, True]),
        ("a\\%", False, [True, False, None, False]),
        ("_", False, [False, False, None, True]),
        ("A\\", False, [False, False, None, False]),
    ],
)
def test_patterns(pattern, ignore_case, wanted):
    """A backslash makes a sign a letter."""
    for negate in (False, True):
        found = rows(like(column("s"), lit(pattern), ignore_case=ignore_case, negate=negate))
        assert [None if one is None else one is not negate for one in wanted] == found


def test_patterns_of_each_row():
    """Text is like itself; null is like nothing known."""
    assert [True, True, None, True] == rows(
        like(column("s"), column("s"), ignore_case=False, negate=False)
    )
    assert not like(lit("a"), lit(None), ignore_case=False, negate=True).literal.is_valid
    with pytest.raises(QueryRefused):
        like(column("i"), lit("a"), ignore_case=False, negate=False)


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        (1, [1, None, None, 3]),
        (2, [2, None, None, None]),
        (-1, [2, None, None, 3]),
        (0, [None] * 4),
    ],
)
def test_elements(at, wanted):
    """Counted from 1, or from the end; there is no element 0."""
    assert wanted == rows(element(column("k"), lit(at)))
    with pytest.raises(QueryRefused):
        element(column("i"), lit(at))


def test_shifts_and_products_exist_for_columns():
    """The table of operators names functions of Arrow."""
    assert [49, 49, None, 16129] == rows(computed(exp.Mul, column("i"), _wide(column("i"))))


def _wide(bound):
    return Bound(
        pa.int64(),
        lambda batch: pc.cast(bound.run(batch), pa.int64()),
        bound.paths,
        bound.columns,
    )
