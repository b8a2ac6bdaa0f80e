"""Bounds that filters set, by hand and by law."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.search.filter import Unknown
from lanceref.search.index_plan import boundings
from pylanceref.sql.columns import bind_filter

SCHEMA = pa.schema(
    [
        ("n", pa.int8()),
        ("f", pa.float64()),
        ("s", pa.utf8()),
        ("st", pa.struct([("a", pa.int8())])),
        ("h", pa.float16()),
    ]
)


def bounds(text):
    """Return path, ends and wish for null of each bound."""
    found = boundings(bind_filter(text, SCHEMA).predicate or Unknown())
    return [
        (
            one.path,
            *(None if end is None else end.as_py() for end in (one.low, one.high)),
            one.wants_null,
        )
        for one in found
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n = 3", [("n", 3, 3, False)]),
        ("n > 3", [("n", 3, None, False)]),
        ("n <= 3 and (f >= 1)", [("n", None, 3, False), ("f", 1.0, None, False)]),
        ("n between 1 and 5", [("n", 1, 5, False)]),
        ("n in (5, 1, 3)", [("n", 1, 5, False)]),
        ("st.a < 3", [("st.a", None, 3, False)]),
        ("n is null", [("n", None, None, True)]),
        ("n = 3 or n = 4", []),
        ("not (n = 3)", []),
        ("n != 3", []),
        ("n in (1, null)", []),
        ("n + 1 = 3", []),
        ("n = n", []),
        ("s is not null", []),
        ("f < cast('nan' as double)", []),
        ("h = 1", []),
        ("n + 0.5 > 2 and n = 1", [("n", 1, 1, False)]),
    ],
)
def test_conditions_joined_by_and_set_bounds(text, wanted):
    """Of single columns, by literals."""
    assert wanted == bounds(text)


FLOAT = st.none() | st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf")])
TEXTS = [
    "f = 1", "f < 1", "f <= 0", "f > 1", "f >= 0", "f between 0 and 1", "f in (0, 2)", "f is null",
    "f > 0 and f < 1",
]  # fmt: skip


@given(st.lists(FLOAT, min_size=1, max_size=4), st.sampled_from(TEXTS))
def test_no_run_is_ruled_out_that_holds_a_row(values, text):
    """Bounds without NaN, as statistics have them."""
    array = pa.array(values, pa.float64())
    known = [one for one in values if one is not None and not math.isnan(one)]
    least, greatest = (min(known), max(known)) if known else (-float("inf"), float("inf"))
    ends = (pa.array([end]) for end in (least, greatest))
    nulls, rows = pa.array([array.null_count]), pa.array([len(array)])
    found = bind_filter(text, SCHEMA)
    batch = pa.record_batch({"f": array})
    low, high = ends
    possible = all(
        one.possible(low, high, nulls, rows)[0].as_py() for one in boundings(found.predicate)
    )

    assert possible or not found.mask(batch).any()


def test_runs_are_ruled_out():
    """By the ends where there is no null, by nulls alone, by no nulls; a missing end is open."""
    least, greatest = pa.array([1, 5, None, 1], pa.int8()), pa.array([4, 9, None, 1], pa.int8())
    nulls, rows = pa.array([0, 2, 3, 3]), pa.array([3, 3, 4, 3])

    def possible(text):
        (one,) = boundings(bind_filter(text, SCHEMA).predicate or Unknown())
        return one.possible(least, greatest, nulls, rows).to_pylist()

    assert [True, True, True, False] == possible("n < 4")
    assert [False, True, True, False] == possible("n > 5")
    assert [False, True, True, True] == possible("n is null")


@pytest.mark.parametrize("text", ["a = 0", "a < 5", "a between -1 and 1", "a in (0)"])
def test_nulls_of_0_1_are_found_as_they_are_read(tmp_path, text):
    """The bounds 5 and 7 leave out the null, which reads as 0."""
    import pylanceref

    rows = pa.table({"a": pa.array([5, None, 7], pa.int32())})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), data_storage_version="0.1")

    assert [0] == made.to_table(filter=text)["a"].to_pylist()


def test_empty_strings_of_0_1_are_found_as_nulls(tmp_path):
    """They are not counted as nulls and read as such."""
    import pylanceref

    rows = pa.table({"s": ["", "x"]})
    made = pylanceref.write_dataset(rows, str(tmp_path / "t"), data_storage_version="0.1")

    assert [None] == made.to_table(filter="s is null")["s"].to_pylist()


@pytest.mark.oracle
def test_a_condition_is_asked_of_each_value_of_a_batch(tmp_path):
    """D.table.filter-single-value-batch-0-1: the oracle asks it of the bounds where they meet."""
    import lance
    import pylanceref

    rows = pa.table({"b": [True, None, True], "s": ["x", "x", None]})
    lance.write_dataset(rows, str(tmp_path), data_storage_version="0.1")
    ours, theirs = pylanceref.dataset(tmp_path), lance.dataset(str(tmp_path))

    assert [True, False, True] == theirs.to_table()["b"].to_pylist()
    assert [True, False, True] == theirs.to_table(filter="b")["b"].to_pylist()
    assert [True, True] == ours.to_table(filter="b")["b"].to_pylist()
    assert ["x", "x", None] == theirs.to_table(filter="s = 'x'")["s"].to_pylist()
    assert ["x", "x"] == ours.to_table(filter="s = 'x'")["s"].to_pylist()


@pytest.mark.oracle
def test_a_batch_of_nulls_is_only_passed_over_where_its_bounds_say_so(tmp_path):
    """D.table.filter-null-batch-0-1: in 0.1 a null reads as 0, which is not 18."""
    import lance
    import pylanceref

    rows = pa.table({"a": pa.array([None, None], pa.int64())})
    lance.write_dataset(rows, str(tmp_path), data_storage_version="0.1")

    assert [0, 0] == lance.dataset(str(tmp_path)).to_table()["a"].to_pylist()
    assert [0, 0] == pylanceref.dataset(tmp_path).to_table(filter="a != 18")["a"].to_pylist()
    assert 0 == lance.dataset(str(tmp_path)).to_table(filter="a != 18").num_rows
