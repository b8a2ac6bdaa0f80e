"""Functions that make lists, or tell of their values: the answers are the oracle's."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.expression import bind as bind_sql

BATCH = pa.record_batch(
    {
        "l": pa.array([[1, 2, 3], [], None, [3, None, 1], [2, 2, 1]], pa.list_(pa.int64())),
        "t": [["a", "b"], [], None, ["x", None], ["a", "a"]],
        "s": ["a,b", "", None, "c", ","],
        "n": pa.array([1, 0, None, 2, -1], pa.int32()),
    }
)


def call(text):
    """Return the values of an expression."""
    return bind_sql(text, BATCH.schema).evaluate(BATCH)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("flatten(l)", [[1, 2, 3], [], None, [3, None, 1], [2, 2, 1]]),
        ("flatten(make_array(l, l))", [[1, 2, 3] * 2, [], [], [3, None, 1] * 2, [2, 2, 1] * 2]),
        ("array_append(l, 5)", [[1, 2, 3, 5], [5], [5], [3, None, 1, 5], [2, 2, 1, 5]]),
        ("array_append(l, n)", [[1, 2, 3, 1], [0], [None], [3, None, 1, 2], [2, 2, 1, -1]]),
        ("array_prepend(n, l)", [[1, 1, 2, 3], [0], [None], [2, 3, None, 1], [-1, 2, 2, 1]]),
        ("array_concat(l, [7])", [[1, 2, 3, 7], [7], [7], [3, None, 1, 7], [2, 2, 1, 7]]),
        ("array_concat(l, l)[4]", [1, None, None, 3, 2]),
        ("array_distinct(l)", [[1, 2, 3], [], None, [3, None, 1], [2, 1]]),
        ("array_sort(l)", [[1, 2, 3], [], None, [None, 1, 3], [1, 2, 2]]),
        ("list_sort(l, 'DESC')", [[3, 2, 1], [], None, [None, 3, 1], [2, 2, 1]]),
        ("array_sort(l, 'ASC', 'NULLS LAST')", [[1, 2, 3], [], None, [1, 3, None], [1, 2, 2]]),
        ("array_reverse(t)", [["b", "a"], [], None, [None, "x"], ["a", "a"]]),
        ("array_remove(l, 2)", [[1, 3], [], None, [3, None, 1], [2, 1]]),
        ("array_remove_n(l, 2, 2)", [[1, 3], [], None, [3, None, 1], [1]]),
        ("array_remove_all(l, 2)", [[1, 3], [], None, [3, None, 1], [1]]),
        ("array_remove(l, null)", [None] * 5),
        ("array_replace(l, 2, 9)", [[1, 9, 3], [], None, [3, None, 1], [9, 2, 1]]),
        ("array_replace_all(l, 2, 9)", [[1, 9, 3], [], None, [3, None, 1], [9, 9, 1]]),
        ("array_replace_n(l, 2, 9, 1)", [[1, 9, 3], [], None, [3, None, 1], [9, 2, 1]]),
        ("array_replace(l, null, 9)", [[1, 2, 3], [], None, [3, 9, 1], [2, 2, 1]]),
        ("array_intersect(l, [null, 3])", [[3], [], None, [3, None], []]),
        ("array_union(l, [1, 9])", [[1, 2, 3, 9], [1, 9], None, [3, None, 1, 9], [2, 1, 9]]),
        ("array_except(l, [1])", [[2, 3], [], None, [3, None], [2]]),
        ("array_max(l)", [3, None, None, 3, 2]),
        ("array_min(t)", ["a", None, None, "x", "a"]),
        ("array_any_value(array_reverse(t))", ["b", None, None, "x", "a"]),
        ("array_pop_back(l)", [[1, 2], [], None, [3, None], [2, 2]]),
        ("array_pop_front(l)", [[2, 3], [], None, [None, 1], [2, 1]]),
        ("array_position(l, 1)", [1, None, None, 3, 3]),
        ("array_position(l, null)", [None, None, None, 2, None]),
        ("array_positions(l, 2)", [[2], [], None, [], [1, 2]]),
        ("array_to_string(l, '-')", ["1-2-3", "", None, "3-1", "2-2-1"]),
        ("array_to_string(t, '', 'N')", ["ab", "", None, "xN", "aa"]),
        ("array_to_string(make_array(n / 2.0), '')", ["0.5", "0", "", "1", "-0.5"]),
        ("array_slice(l, 2, 3)", [[2, 3], [], None, [None, 1], [2, 1]]),
        ("array_slice(l, -2, -1)", [[2, 3], [], None, [None, 1], [2, 1]]),
        ("array_slice(l, 0, 1)", [[1], [], None, [3], [2]]),
        ("array_slice(l, 1, 3, 2)", [[1, 3], [], None, [3, 1], [2, 1]]),
        ("array_slice(l, 2, 1)", [[], [], None, [], []]),
        ("array_resize(l, 2, 0)", [[1, 2], [0, 0], None, [3, None], [2, 2]]),
        ("array_repeat(n, 2)", [[1, 1], [0, 0], [None, None], [2, 2], [-1, -1]]),
        ("array_dims(l)", [[3], None, None, [3], [3]]),
        ("range(n)", [[0], [], None, [0, 1], []]),
        ("generate_series(0, n)", [[0, 1], [0], None, [0, 1, 2], []]),
        ("string_to_array(s, ',')", [["a", "b"], [], None, ["c"], ["", ""]]),
        ("string_to_array(s, null, ',')", [["a", None, "b"], [], None, ["c"], [None]]),
    ],
)
def test_answers(text, wanted):
    """Row by row, null for null but where values are put to a list."""
    assert wanted == call(text).to_pylist()


def test_values_meet_in_a_type_that_holds_both():
    """A fraction makes a list of integers one of fractions; places are unsigned."""
    assert call("array_append(l, 1.5)").type == pa.list_(pa.float64())
    assert call("array_append(l, n)").type == pa.list_(pa.int64())
    assert call("array_position(l, 1)").type == pa.uint64()


def test_literals_are_folded():
    """Without a column there is one value."""
    assert call("array_to_string([1, 2], '+')").to_pylist() == ["1+2"] * 5


@pytest.mark.parametrize("text", ["array_sort(s)", "array_append(l, t)", "range(s)"])
def test_other_types_are_refused(text):
    """When the expression is bound."""
    with pytest.raises(QueryRefused):
        call(text)


@pytest.mark.parametrize(
    "text",
    ["array_position(l, 1, 9)", "array_resize(l, -1)", "array_slice(l, 1, 2, 0)", "range(1, 2, 0)"],
)
def test_values_without_a_meaning_fail(text):
    """A start after the list, a size below 0, no step."""
    with pytest.raises((QueryFailed, QueryRefused)):
        call(text)
