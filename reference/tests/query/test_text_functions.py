"""Functions of text, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.query.text_functions import TEXT_FUNCTIONS, by_row


def call(name, *values):
    """Return what a function gives for values."""
    found = TEXT_FUNCTIONS[name](*(pa.scalar(value) for value in values))
    return found.as_py()


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("left", ("abc", 2), "ab"),
        ("left", ("abc", -1), "ab"),
        ("right", ("abc", 2), "bc"),
        ("right", ("abc", -1), "bc"),
        ("right", ("abc", 0), ""),
        ("lpad", ("abc", 5, "xy"), "xyabc"),
        ("lpad", ("abc", 2), "ab"),
        ("rpad", ("a", 4, "xy"), "axyx"),
        ("rpad", ("a", -1), ""),
        ("substr", ("abcd", 2, 2), "bc"),
        ("substr", ("abcd", 0, 2), "a"),
        ("substr", ("abcd", -1), "abcd"),
        ("split_part", ("a.b.c", ".", 2), "b"),
        ("split_part", ("a.b.c", ".", -1), "c"),
        ("split_part", ("a", ".", 2), ""),
        ("replace", ("ab", "", "-"), "-a-b-"),
        ("repeat", ("ab", -1), ""),
        ("translate", ("hello", "lo", "0"), "he00"),
        ("initcap", ("heLLo w-orld", ), "Hello W-Orld"),
        ("concat_ws", ("-", "a", None, "b"), "a-b"),
        ("concat_ws", (None, "a"), None),
        ("to_hex", (-2, ), "fffffffffffffffe"),
        ("chr", (65, ), "A"),
        ("levenshtein", ("kitten", "sitting"), 3),
        ("md5", ("", ), "d41d8cd98f00b204e9800998ecf8427e"),
        ("bit_length", ("ü", ), 16),
        ("upper", ("ß", ), "SS"),
        ("ltrim", ("xxa", "x"), "a"),
        ("trim", (None, ), None),
    ],
)  # fmt: skip
def test_values(name, values, wanted):
    """As the oracle gives them."""
    assert wanted == call(name, *values)


def test_columns_and_scalars():
    """A scalar stands for as many values as there are rows, even none."""
    texts = pa.array(["ab", None, "c"])

    assert ["a", None, "c"] == TEXT_FUNCTIONS["left"](texts, pa.scalar(1)).to_pylist()
    assert [] == TEXT_FUNCTIONS["left"](texts[:0], pa.scalar(1)).to_pylist()


def test_what_is_no_text_is_refused():
    """Before any row is looked at."""
    with pytest.raises(QueryRefused, match="requires String"):
        call("left", 1, 1)
    with pytest.raises(QueryRefused, match="requires Int64"):
        call("left", "a", "1")


@pytest.mark.parametrize(
    ("name", "values"),
    [("chr", (0,)), ("substr", ("a", 1, -1)), ("split_part", ("a", "b", 0))],
)
def test_values_that_have_no_result(name, values):
    """Are errors of the query."""
    with pytest.raises(pa.ArrowInvalid):
        call(name, *values)


def test_by_row_gives_the_type():
    """Also of no rows."""
    assert pa.int32() == by_row(len, pa.int32(), "t")(pa.array([], pa.utf8())).type
