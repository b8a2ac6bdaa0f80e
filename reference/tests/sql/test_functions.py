"""Functions, by hand."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.sql.expression import bind as bind_sql

BATCH = pa.record_batch(
    {
        "s": ["Ab", "", None],
        "f": [-1.5, math.nan, None],
        "k": [[1, None, 1], [], None],
        "t": pa.array([0, 86_400_000_000 * 40, None], pa.timestamp("us")),
        "n": [4, 9, None],
    }
)


def call(text):
    """Return the values of an expression."""
    return bind_sql(text, BATCH.schema).evaluate(BATCH).to_pylist()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("lower(s)", ["ab", "", None]),
        ("upper(s)", ["AB", "", None]),
        ("length(s)", [2, 0, None]),
        ("octet_length(s)", [2, 0, None]),
        ("bit_length(s)", [16, 0, None]),
        ("ascii(s)", [65, 0, None]),
        ("reverse(s)", ["bA", "", None]),
        ("repeat(s, 2)", ["AbAb", "", None]),
        ("left(s, 1)", ["A", "", None]),
        ("right(s, 1)", ["b", "", None]),
        ("right(s, 0)", ["", "", None]),
        ("lpad(s, 3, '-')", ["-Ab", "---", None]),
        ("rpad(s, 3)", ["Ab ", "   ", None]),
        ("replace(s, 'b', 'c')", ["Ac", "", None]),
        ("split_part(s, 'b', 1)", ["A", "", None]),
        ("split_part(s, 'x', 2)", ["", "", None]),
        ("strpos(s, 'b')", [2, 0, None]),
        ("array_has_any(k, [2, null])", [True, False, None]),
        ("array_has_any(k, null)", [None, None, None]),
        ("array_has_all(k, [1, null])", [True, False, None]),
        ("array_has_all(k, [2, null])", [False, False, None]),
        ("starts_with(s, 'A')", [True, False, None]),
        ("ends_with(s, 'b')", [True, False, None]),
        ("contains(s, 'b')", [True, False, None]),
        ("regexp_like(s, '^a', 'i')", [True, False, None]),
        ("concat(s, 'x', null)", ["Abx", "x", "x"]),
        ("coalesce(s, 'z')", ["Ab", "", "z"]),
        ("nullif(s, '')", ["Ab", None, None]),
        ("isnan(f)", [False, True, None]),
        ("abs(n)", [4, 9, None]),
        ("sqrt(n)", [2.0, 3.0, None]),
        ("power(n, 2)", [16.0, 81.0, None]),
        ("greatest(n, 5)", [5, 9, 5]),
        ("least(n, 5)", [4, 5, 5]),
        ("round(f)", [-2.0, math.nan, None]),
        ("array_length(k)", [3, 0, None]),
        ("empty(k)", [False, True, None]),
        ("array_has(k, 1)", [True, False, None]),
        ("array_contains(k, 2)", [False, False, None]),
        ("array_has_any(k, [1, 5])", [True, False, None]),
        ("array_has_all(k, [1, 5])", [False, False, None]),
        ("array_has_all(k, [])", [True, True, True]),
        ("array_element(k, 1)", [1, None, None]),
        ("date_part('month', t)", [1, 2, None]),
        ("date_part('dow', t)", [4, 2, None]),
        ("make_array(1, 2)", [[1, 2]] * 3),
    ],
)
def test_values(text, wanted):
    """Null where an argument is null, unless the function says otherwise."""
    assert repr(wanted) == repr(call(text))


@pytest.mark.parametrize("text", ["nope(n)", "sum(n)"])
def test_what_is_not_there_is_refused(text):
    """Arguments that have to be literals, and unknown parts of a date."""
    with pytest.raises(QueryRefused):
        call(text)


def test_now_is_one_moment():
    """For all rows."""
    assert 1 == len(set(call("now()")))
    assert 1 == len(set(call("current_date")))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("arrow_typeof(s)", ["Utf8"] * 3),
        ("arrow_typeof(t)", ["Timestamp(µs)"] * 3),
        ("arrow_typeof(make_array(n, n))", ["List(Int64)"] * 3),
        ("row(n, s)", [{"c0": 4, "c1": "Ab"}, {"c0": 9, "c1": ""}, {"c0": None, "c1": None}]),
        ("regexp_count(s, 'B', 1, 'i')", [1, 0, 0]),
        ("regexp_instr(s, 'b')", [2, 0, None]),
        ("regexp_instr('abab', 'b', 1, 2) + n", [8, 13, None]),
        ("substring_index(concat(s, '.x.y'), '.', 2)", ["Ab.x", ".x", ".x"]),
        ("substring_index(concat(s, '.x.y'), '.', -1)", ["y", "y", "y"]),
        ("find_in_set('Ab', concat('x,', s))", [2, 0, 0]),
        ("gcd(n, 6)", [2, 3, None]),
        ("lcm(n, 6)", [12, 18, None]),
        ("iszero(n - 4)", [True, False, None]),
        ("nanvl(f, 2)", [-1.5, 2.0, None]),
        ("arrays_overlap(k, [1])", [True, False, None]),
    ],
)
def test_more_answers(text, wanted):
    """The answers are the oracle's."""
    assert wanted == call(text)
