"""Bound expressions of SQL, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.columns import bind_filter
from pylanceref.sql.expression import bind as bind_sql

from .expressions import BY_ADDRESS, FOUND, REFUSED, TABLE

BATCH = pa.record_batch(
    {
        "i": pa.array([1, None, 3], pa.int32()),
        "Name": ["x", "y", None],
        "st": [{"a": 1, "b": {"c": "u"}}, None, {"a": None, "b": None}],
        "bo": [True, False, None],
        "d": pa.array(["p", None, "q"]).dictionary_encode(),
        "a.b": [1, 2, 3],
    }
)


def bind(text):
    """Bind text to the schema of the batch."""
    return bind_sql(text, BATCH.schema)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("i = 1", [True, None, False]),
        ("not i = 1", [False, None, True]),
        ("i = 1 or bo", [True, None, None]),
        ("i = 1 and bo", [True, False, False]),
        ("(i = 1) is true", [True, False, False]),
        ("bo is not false", [True, False, True]),
        ("i is null", [False, True, False]),
        ("i between 0 and 2", [True, None, False]),
        ("i not between 0 and 2", [False, None, True]),
        ("i in (3, null)", [None, None, True]),
        ("name = 'x'", [True, False, None]),
        ("`Name` = \"x\"", [True, False, None]),
        ("st.a = 1", [True, None, None]),
        ("st['b']['c'] = 'u'", [True, None, None]),
        ("d = 'p'", [True, None, False]),
        ("`a.b` + 1 = 3", [False, True, False]),
        ("-i = -1", [True, None, False]),
        ("i = 2 - 1", [True, None, False]),
        ("1 = i", [True, None, False]),
        ("not (i = 1.5)", [True, None, True]),
        ("cast(i as string) = '1'", [True, None, False]),
        ("i::bigint = 1", [True, None, False]),
        ("try_cast(name as int) is null", [True, True, True]),
        ("coalesce(case when i = 1 then 'one' when i = 3 then 'three' end, 'none') = 'one'",
         [True, False, False]),
        ("coalesce(case i when 1 then 7 else 8 end, 0) = 8", [False, True, True]),
        ("i is distinct from null", [True, False, True]),
        ("lower(name) || '!' = 'x!'", [True, False, None]),
        ("~bo", [False, True, None]),
    ],
)  # fmt: skip
def test_three_valued_logic(text, wanted):
    """True, false and unknown, row by row."""
    assert wanted == bind(text).evaluate(BATCH).to_pylist()


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        ("1", pa.int64(), 1),
        ("9223372036854775808", pa.uint64(), 1 << 63),
        ("99999999999999999999", pa.float64(), 1e20),
        ("1.0", pa.float64(), 1.0),
        (".5", pa.float64(), 0.5),
        ("1e2", pa.float64(), 100.0),
        ("X'61'", pa.binary(), b"a"),
        ("'a'", pa.utf8(), "a"),
        ("null", pa.null(), None),
        ("date '1970-01-02' - date '1970-01-01'", pa.int64(), 1),
    ],
)
def test_literals(text, type_, value):
    """Integers have 64 bits, signed if they can be; others are floats."""
    bound = bind(text)

    assert (type_, value) == (bound.type, bound.literal.as_py())


@pytest.mark.parametrize(
    "text",
    [
        "i = 1.0", "i = '1'", "i = 3000000000", "bo and i = 1.5", "i in (1, 2.5)", "1.0 = i",
        "i between 1.5 and 2", "i = 1 + 0.5", "name = 1", "st.a = 'x'",
        "nope = 1", "`name` = 'x'", "st.nope = 1", "i.a = 1", "nope(i)", "i", "bo + 1 = 2",
        "case when bo then true end", "i in (select 1)", "i & 1 = 1", "name ~ 'x'",
        "name like 'a' escape '#'", "not i", "i or bo",
        "extract(year from i) = 1", "interval '1 day' = i", "exists (select 1)",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(text):
    """A literal next to a column must be one of its values; not all of SQL is there."""
    with pytest.raises(QueryRefused):
        bound = bind(text)
        if bound.type != pa.bool_():
            raise QueryRefused("the filter is no boolean")


def test_only_the_parts_that_are_read_are_named():
    """A part of a struct by its path, a column by its name."""
    bound = bind("st.b.c = 'x' or i = 1 or st['a'] = 1")

    assert {"st.b.c", "st.a", "i"} == {*bound.paths}
    assert {"st", "i"} == {*bound.columns}


def test_less_may_be_read_than_the_schema_has():
    """A struct with fewer fields than when it was bound."""
    pruned = pa.record_batch({"st": [{"b": {"c": "u"}}]})

    assert [True] == bind("st.b.c = 'u'").evaluate(pruned).to_pylist()


def _rows(text):
    (batch,) = TABLE.combine_chunks().to_batches()
    found = bind_filter(text, TABLE.schema)
    mask = found.mask(batch.select(found.columns))
    return [row for row, passed in enumerate(mask.tolist(), 1) if passed]


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


@pytest.mark.oracle
def test_the_oracle_finds_the_same(tmp_path):
    """Every expression of the table, and those on addresses; it refuses what we refuse."""
    import lance
    import pylanceref

    theirs = lance.write_dataset(TABLE, tmp_path, max_rows_per_file=4, data_storage_version="2.1")
    ours = pylanceref.dataset(tmp_path)
    for text, rows in {**FOUND, **BY_ADDRESS}.items():
        for found in (theirs, ours):
            assert rows == found.to_table(["my col"], filter=text)["my col"].to_pylist(), text
    for text in REFUSED:
        for found in (theirs, ours):
            with pytest.raises(ValueError):
                found.to_table(["my col"], filter=text)
