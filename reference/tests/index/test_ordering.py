"""Order of values."""

from __future__ import annotations

from contextlib import nullcontext

import pyarrow as pa
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.index.training import check_memory, has_order, run_starts, sorted_order


def test_nulls_come_first_and_equal_values_stay_in_order():
    """The order is stable."""
    assert sorted_order(pa.array([3, None, 1, 3, None])).tolist() == [1, 4, 2, 0, 3]


def test_the_zeros_differ():
    """-0.0 comes before 0.0, NaN last."""
    values = pa.array([float("nan"), 0.0, -0.0, -1.0])
    assert sorted_order(values).tolist() == [3, 2, 1, 0]
    assert run_starts(values.take(pa.array([3, 2, 1, 0]))).tolist() == [0, 1, 2, 3]


def test_runs_of_equal_neighbours():
    """Null equals null; nothing has no runs."""
    assert run_starts(pa.array([None, None, 1, 1, 2])).tolist() == [0, 2, 4]
    assert run_starts(pa.array([], pa.int64())).tolist() == []


@pytest.mark.parametrize(
    ("type_", "ordered"),
    [
        (pa.int8(), True),
        (pa.float16(), True),
        (pa.bool_(), True),
        (pa.binary(4), True),
        (pa.decimal256(40, 2), True),
        (pa.timestamp("us", "UTC"), True),
        (pa.list_(pa.int8()), False),
        (pa.struct([("a", pa.int8()), ("b", pa.int8())]), False),
        (pa.dictionary(pa.int8(), pa.utf8()), False),
    ],
)
def test_which_columns_have_an_order(type_, ordered):
    """Numbers, moments, text and bytes of any width."""
    (field,) = schema_of(pa.schema([("c", type_)])).fields
    assert has_order(field) is ordered


@pytest.mark.parametrize(
    ("pool", "bypass", "refused"),
    [(None, None, False), ("10", None, True), ("100", None, False), ("10", "1", False)],
)
def test_a_sort_may_be_bounded(monkeypatch, pool, bypass, refused):
    """By the environment, which may take that back."""
    for name, value in (("LANCE_MEM_POOL_SIZE", pool), ("LANCE_BYPASS_SPILLING", bypass)):
        if value is not None:
            monkeypatch.setenv(name, value)
    with pytest.raises(OSError, match="Resources exhausted") if refused else nullcontext():
        check_memory(100)
