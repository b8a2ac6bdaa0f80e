"""Filters of tables: by hand, against the oracle, and random ones against both."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pylanceref
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.columns import bind_filter

from .expressions import TABLE as MANY
from .float_texts import FLOAT_TEXTS, FLOATS
from .odd_texts import ODD_COLUMNS, ODD_FILTERS
from .texts import TABLE, TEXTS, matrix
from .written import write

SCHEMA = pa.schema([("a", pa.int64()), ("st", pa.struct([("x", pa.int8()), ("y", pa.int8())]))])
BATCH = pa.record_batch([[1, None, 3], [{"x": 1}, None, {"x": None}]], names=["a", "st"])


def test_null_is_not_asked_for():
    """Nor is it when the filter is turned around."""
    assert [True, False, False] == bind_filter("a < 2", SCHEMA).mask(BATCH).tolist()
    assert [False, False, True] == bind_filter("not (a < 2)", SCHEMA).mask(BATCH).tolist()


def test_what_is_read_is_named():
    """Columns in the order of the schema, parts of them where no more is needed."""
    found = bind_filter("st.y = 1 or st.x = 1 or a = 2", SCHEMA)

    assert ("a", "st") == found.columns
    assert ("a", "st.x", "st.y") == found.paths
    assert ("st",) == bind_filter("st.y = 1 or st is null", SCHEMA).paths


@pytest.mark.parametrize("text", ["a", "1", "'x'", "a = 'x'", "nope", ""])
def test_wrong_filters_are_refused(text):
    """Before anything is read; pylance raises ValueError, and OSError when rows are counted."""
    with pytest.raises(QueryRefused) as caught:
        bind_filter(text, SCHEMA)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, OSError)


def test_values_that_fail_are_reported():
    """As the class that pylance raises."""
    with pytest.raises(QueryFailed) as caught:
        bind_filter("1 / (a - 1) = 1", SCHEMA).mask(BATCH)
    assert isinstance(caught.value, pa.ArrowInvalid)
    with pytest.raises(TypeError):
        bind_filter(5, SCHEMA)


def test_arrow_expressions():
    """Are asked like SQL."""
    found = bind_filter((pc.field("a") > 1) & pc.field("st").is_valid(), SCHEMA)

    assert ("a", "st") == found.columns
    assert [False, False, True] == found.mask(BATCH).tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0", "2.2"])
def test_filters_with_floats_and_lists_answer_as_the_oracle(version, tmp_path):
    """In files of each kind."""
    table = FLOATS.drop_columns("k") if version == "0.1" else FLOATS
    old = version == "0.1"  # neither lists nor, in the oracle, versions of rows
    texts = [one for one in FLOAT_TEXTS if not old or ("k" not in one and "_row_" not in one)]
    write(table, tmp_path, data_storage_version=version)

    from .oracle_answers import differences

    assert [] == differences(tmp_path / "t", texts)


@pytest.mark.oracle
def test_filters_answer_as_the_oracle(tmp_path):
    """What is accepted, what it finds, and as which class the rest is refused."""
    write(TABLE, tmp_path, data_storage_version="2.1")

    from .oracle_answers import differences

    assert [] == differences(tmp_path / "t", TEXTS)


@pytest.mark.oracle
def test_every_type_meets_every_literal_and_type_as_in_the_oracle(tmp_path):
    """More than 3 000 comparisons."""
    write(TABLE, tmp_path, data_storage_version="2.1")

    from .oracle_answers import differences

    assert [] == differences(tmp_path / "t", matrix())


@pytest.mark.oracle
def test_odd_filters_answer_as_the_oracle(tmp_path):
    """What a search for differences turned up."""
    write(MANY, tmp_path, data_storage_version="2.1")

    from .oracle_answers import differences

    assert [] == differences(tmp_path / "t", ODD_FILTERS)


@pytest.mark.oracle
def test_odd_columns_are_those_of_the_oracle(tmp_path):
    """Values and types, or a refusal."""
    write(MANY, tmp_path, data_storage_version="2.1")
    scans = [{"columns": {"id": "`my col`", "x": text}} for text in ODD_COLUMNS]

    import lance

    from .oracle_answers import scanned

    theirs, ours = (
        scanned(lance.dataset(tmp_path / "t"), scans),
        scanned(pylanceref.dataset(tmp_path / "t"), scans),
    )
    for text, wanted, found in zip(ODD_COLUMNS, theirs, ours, strict=True):
        if isinstance(wanted, Exception):
            names = [kind.__name__ for kind in type(found).__mro__]
            assert type(wanted).__name__ in names, text
        else:
            assert (text, repr(wanted)) == (text, repr(found))


@pytest.mark.oracle
def test_where_the_oracle_simplifies_to_zero(tmp_path):
    """D.query.zero-after-simplification: only the oracle finds the negative zero."""
    table = pa.table({"f": [0.0, -0.0, 1.0], "g": [1.0, 1.0, 1.0]})
    write(table, tmp_path, data_storage_version="2.1")

    from .oracle_answers import differences

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


@pytest.fixture(scope="module")
def floats(tmp_path_factory):
    """The table of floats, written."""
    root = tmp_path_factory.mktemp("floats")
    write(FLOATS, root, data_storage_version="2.1")
    return root / "t"


@pytest.mark.oracle
@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
@given(TREES)
def test_random_filters_answer_as_the_oracle(floats, text):
    """Conditions of numbers and text, joined in any way.

    A known difference is left out: which sign arithmetic gives to NaN, and so where it sorts.
    """
    assume(re.search("[fg] [-+*]|[-+*] [(]*[fg]|[)] [-+*]", text) is None)
    from .oracle_answers import differences

    assert [] == differences(floats, [text])


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_a_row_is_in_one_of_three(text):
    """Those where a filter is true, where its opposite is, and where neither is known."""
    (batch,) = FLOATS.combine_chunks().to_batches()
    try:
        found = bind_filter(text, FLOATS.schema)
    except QueryRefused:
        return
    masks = [
        bind_filter(one, FLOATS.schema).mask(batch.select(found.columns)).astype(np.int8)
        for one in (f"({text}) is true", f"not (({text}) is not false)", f"({text}) is null")
    ]

    assert [1] * batch.num_rows == sum(masks).tolist()
    assert masks[0].tolist() == found.mask(batch.select(found.columns)).astype(np.int8).tolist()


@pytest.mark.oracle
def test_where_the_oracle_folds_conditions_to_true(tmp_path):
    """Two lists that have nothing in common hide null."""
    import lance

    path = str(tmp_path / "t")
    lance.write_dataset(pa.table({"f": [1.5, None, 0.0], "i": [1, None, 9]}), path)
    for condition in (
        "f not in (1.5, 2.5) or f != 0.0",
        "not (i in (1, 2) and i in (3, 4))",
    ):
        assert lance.dataset(path).count_rows(condition) == 3
        assert pylanceref.dataset(path).count_rows(condition) == 3
