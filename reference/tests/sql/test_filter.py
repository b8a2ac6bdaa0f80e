"""Filters in SQL: three-valued logic by hand, and the answers of the oracle as tables of rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.columns import bind as bind_sql
from pylanceref.sql.filters import bind_filter

from tests.index.tables import write
from tests.sql import oracle_filters
from tests.sql.expressions import BY_ADDRESS, FOUND, REFUSED, TABLE
from tests.sql.oracle_filters import TABLE as TYPES

BATCH = pa.record_batch(
    {
        "i": pa.array([1, None, 3], pa.int32()),
        "Name": ["x", "y", None],
        "st": [{"a": 1, "b": {"c": "u"}}, None, {"a": None, "b": None}],
        "bo": [True, False, None],
        "d": pa.array(["p", None, "q"]).dictionary_encode(),
        "a.b": [1, 2, 3],
        "halves": pa.nulls(3, pa.dictionary(pa.int32(), pa.float16())),
    }
)


def bind(text):
    """Bind text to the schema of the batch."""
    return bind_sql(text, BATCH.schema)


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
    """Integers have 64 bits, signed if they can be; other numbers are floats."""
    bound = bind(text)

    assert (type_, value) == (bound.type, bound.literal.as_py())


def test_only_the_parts_that_are_read_are_named():
    """An expression names parts of structs by path and columns by name, in any case."""
    bound = bind("st.b.c = 'x' or i = 1 or st['a'] = 1")

    assert {"st.b.c", "st.a", "i"} == {*bound.paths}
    assert {"st", "i"} == {*bound.columns}
    assert {"Name"} == {*bind("NAME = 'x'").columns}


def _rows(text):
    (batch,) = TABLE.combine_chunks().to_batches()
    found = bind_filter(text, TABLE.schema)
    mask = found.mask(batch.select(found.columns))
    return [row for row, passed in enumerate(mask.tolist(), 1) if passed]


@pytest.mark.parametrize("text", FOUND)
def test_rows_are_found(text):
    """Literals take the type of their column, and NaN is above all numbers."""
    assert FOUND[text] == _rows(text)


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_is_refused(text):
    """Unknown names and functions, unfitting literals and failing values are refused."""
    with pytest.raises((QueryRefused, QueryFailed)) as caught:
        _rows(text)

    assert isinstance(caught.value, ValueError)


SCHEMA = pa.schema([("a", pa.int64()), ("st", pa.struct([("x", pa.int8()), ("y", pa.int8())]))])
FILTERED = pa.record_batch([[1, None, 3], [{"x": 1}, None, {"x": None}]], names=["a", "st"])


def test_what_is_read_is_named():
    """A filter reads columns in schema order, and parts of structs where they suffice."""
    found = bind_filter("st.y = 1 or st.x = 1 or a = 2", SCHEMA)

    assert ("a", "st") == found.columns
    assert ("a", "st.x", "st.y") == found.paths
    assert ("st",) == bind_filter("st.y = 1 or st is null", SCHEMA).paths


@pytest.mark.parametrize("text", ["a", "1", "'x'", "a = 'x'", "nope", ""])
def test_wrong_filters_are_refused(text):
    """Filters that are no condition are refused as pylance does, before reading."""
    with pytest.raises(QueryRefused) as caught:
        bind_filter(text, SCHEMA)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, OSError)


def test_a_refusal_names_the_columns_there_are():
    """A filter on an unknown column names the columns, without the table of the engine."""
    with pytest.raises(QueryRefused, match=r"No field named nope\. Valid fields are a, ") as caught:
        bind_filter("nope > 1", SCHEMA)
    assert "#rows" not in str(caught.value)


def test_values_that_fail_are_reported():
    """A failing value raises the class that pylance raises."""
    with pytest.raises(QueryFailed) as caught:
        bind_filter("1 / (a - 1) = 1", SCHEMA).mask(FILTERED)
    assert isinstance(caught.value, pa.ArrowInvalid)
    with pytest.raises(TypeError):
        bind_filter(5, SCHEMA)


def test_arrow_expressions():
    """Arrow expressions are answered like SQL."""
    found = bind_filter((pc.field("a") > 1) & pc.field("st").is_valid(), SCHEMA)

    assert ("a", "st") == found.columns
    assert [False, False, True] == found.mask(FILTERED).tolist()


@pytest.mark.oracle
def test_where_the_oracle_simplifies_to_zero(tmp_path):
    """D.query.zero-after-simplification: only the oracle finds the negative zero."""
    table = pa.table({"f": [0.0, -0.0, 1.0], "g": [1.0, 1.0, 1.0]})
    write(table, tmp_path, data_storage_version="2.1")

    from tests.sql.oracle_answers import differences

    assert [] == differences(tmp_path / "t", ["f = 0.0", "f = coalesce(g, 0.0)"])
    (told,) = differences(tmp_path / "t", ["f = coalesce(0.0, g)"])
    assert "[0] None, the oracle [0, 1] None" in told


SMALL = st.sampled_from(["0", "1", "2", "-1", "1.5", "-0.0", "null"])
TEXT = st.sampled_from(["'a'", "''", "'ab'", "null", "'A_'"])

NUMBER = st.recursive(
    st.sampled_from(["n", "f", "g"]) | SMALL,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
        "({0[0]} {0[1]} {0[2]})".format
    ),
    max_leaves=3,
)
SIGNS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])

LEAF = (
    st.tuples(NUMBER, SIGNS, NUMBER).map("{0[0]} {0[1]} {0[2]}".format)
    | st.tuples(st.just("x"), SIGNS, TEXT).map("{0[0]} {0[1]} {0[2]}".format)
    | st.tuples(st.sampled_from("nfx"), st.sampled_from(["is null", "is not null"])).map(" ".join)
    | st.lists(st.sampled_from(["1", "2", "0"]), min_size=1, max_size=3).map(
        lambda values: f"n in ({', '.join(values)})"
    )
    | st.lists(TEXT.filter(lambda one: one != "null"), min_size=1, max_size=3).map(
        lambda values: f"x not in ({', '.join(values)})"
    )
    | st.sampled_from(["x like 'a%'", "f between 0 and 1", "array_has(k, 1)", "isnan(f)", "true"])
)

TREES = st.recursive(
    LEAF,
    lambda inner: (
        inner.map("not ({})".format)
        | st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            "({0[0]} {0[1]} {0[2]})".format
        )
        | inner.map("({}) is true".format)
    ),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_a_row_is_in_one_of_three(text):
    """Each row is in exactly one of the true, false and unknown rows of a filter."""
    (batch,) = oracle_filters.FLOATS.combine_chunks().to_batches()
    try:
        found = bind_filter(text, oracle_filters.FLOATS.schema)
    except QueryRefused:
        return
    masks = [
        bind_filter(one, oracle_filters.FLOATS.schema)
        .mask(batch.select(found.columns))
        .astype(np.int8)
        for one in (f"({text}) is true", f"not (({text}) is not false)", f"({text}) is null")
    ]

    assert [1] * batch.num_rows == sum(masks).tolist()
    assert masks[0].tolist() == found.mask(batch.select(found.columns)).astype(np.int8).tolist()


EARLY_FILTERS = [
    one for one in oracle_filters.FLOAT_FILTERS if "k" not in one and "_row_" not in one
]
"""Filters without lists, and without row versions, which the oracle lacks in 0.1."""

ANSWERED = {
    "floats and lists in 2.0": (oracle_filters.FLOATS, "2.0", oracle_filters.FLOAT_FILTERS),
    "floats and lists in 2.2": (oracle_filters.FLOATS, "2.2", oracle_filters.FLOAT_FILTERS),
    "floats in 0.1": (oracle_filters.FLOATS.drop_columns("k"), "0.1", EARLY_FILTERS),
    "every type": (TYPES, "2.1", oracle_filters.FILTERS),
    "every type with every literal and type": (TYPES, "2.1", oracle_filters.matrix()),
    "odd filters": (TABLE, "2.1", oracle_filters.ODD_FILTERS),
    "worked and refused filters": (TABLE, "2.1", [*FOUND, *REFUSED, *BY_ADDRESS]),
}
"""Tables, the version of their files, and filters over them."""


@pytest.mark.oracle
@pytest.mark.parametrize("name", ANSWERED)
def test_filters_answer_as_the_oracle(tmp_path, name):
    """The oracle accepts the same filters, finds the same rows, and refuses in the same class."""
    from tests.sql.oracle_answers import differences

    table, version, texts = ANSWERED[name]
    most = 8 if version == "0.1" else 4  # D.table.filter-null-batch-0-1
    write(table, tmp_path, data_storage_version=version, max_rows_per_file=most)

    assert [] == differences(tmp_path / "t", texts)


@pytest.mark.oracle
def test_computed_columns_are_those_of_the_oracle(tmp_path):
    """Each family of functions gives the oracle's values and types, or is refused by both."""
    import lance

    from tests.sql.oracle_answers import scanned

    write(TABLE, tmp_path, data_storage_version="2.1")
    scans = [{"columns": {"id": "`my col`", "x": text}} for text in oracle_filters.ODD_COLUMNS]
    theirs, ours = (
        scanned(library.dataset(str(tmp_path / "t")), scans) for library in (lance, pylanceref)
    )
    for text, wanted, found in zip(oracle_filters.ODD_COLUMNS, theirs, ours, strict=True):
        if isinstance(wanted, Exception):
            names = [kind.__name__ for kind in type(found).__mro__]
            assert type(wanted).__name__ in names, text
        else:
            assert (text, repr(wanted)) == (text, repr(found))
