"""Expressions bound to a schema."""

import pyarrow as pa
import pytest
from lanceref.errors import QueryFailed, QueryRefused
from lanceref.query.dialect import parse_expression
from lanceref.query.expression import Binder
from lanceref.query.filter import bind_filter

from tests.query.expressions import BY_ADDRESS, FOUND, REFUSED, TABLE

BATCH = TABLE.combine_chunks().to_batches()[0]


def _rows(text):
    mask = bind_filter(text, TABLE.schema).mask(BATCH)
    return [row for row, found in enumerate(mask.tolist(), 1) if found]


@pytest.mark.parametrize("text", FOUND)
def test_rows_are_found(text):
    """Three-valued logic, literals in the type of their column, NaN above all numbers."""
    assert FOUND[text] == _rows(text)


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_is_refused(text):
    """Unknown syntax, names, functions; a literal that the column cannot hold; values that fail."""
    with pytest.raises((QueryRefused, QueryFailed)) as caught:
        _rows(text)

    assert isinstance(caught.value, ValueError)


def _value(text):
    bound = Binder(TABLE.schema).bind(parse_expression(text))
    return bound.evaluate(BATCH).to_pylist()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("i + 1", [2, 3, None, -2, 1, 6]),
        ("i * 2 - 1", [1, 3, None, -7, -1, 9]),
        ("st.x", [1, 2, None, None, 5, 1]),
        ("upper(s)", ["A", "BC", None, "", "A%B", "XAY"]),
        ("7", [7] * 6),
        ("'x' || s", ["xa", "xBc", None, "x", "xa%b", "xxay"]),
        ("cast(i as string)", ["1", "2", None, "-3", "0", "5"]),
        ("dict", ["p", "q", None, "p", "r", "q"]),
        ("li[1]", [1, None, None, 3, 2, 9]),
    ],
)
def test_values_are_computed(text, values):
    """Null where an argument is; a literal is repeated."""
    assert values == _value(text)


def test_the_columns_that_are_read_are_known():
    """Only those, and nested ones by their top."""
    bound = Binder(TABLE.schema).bind(parse_expression("i > 1 and st.x = 2 or `my col` in (1)"))

    assert {"i", "st", "my col"} == bound.columns
    assert pa.bool_() == bound.type


@pytest.mark.oracle
def test_the_oracle_finds_the_same(tmp_path):
    """Every expression of the table, and those on addresses; it refuses what we refuse."""
    import lance
    import lanceref

    theirs = lance.write_dataset(TABLE, tmp_path, max_rows_per_file=4, data_storage_version="2.1")
    ours = lanceref.dataset(tmp_path)
    for text, rows in {**FOUND, **BY_ADDRESS}.items():
        for found in (theirs, ours):
            assert rows == found.to_table(["my col"], filter=text)["my col"].to_pylist(), text
    for text in REFUSED:
        for found in (theirs, ours):
            with pytest.raises(ValueError):
                found.to_table(["my col"], filter=text)
