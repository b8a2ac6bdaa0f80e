"""Batches: every value comes to Spark's type and back, and none is rounded."""

import datetime
import decimal

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from lanceref.core.errors import DataRefused
from lanceref_spark.batches import converted, fitted
from lanceref_spark.types import batch_schema

pytestmark = pytest.mark.spark

D = decimal.Decimal
VALUES = [
    pa.array([0, None, 255], pa.uint8()),
    pa.array([0, None, 2**64 - 1], pa.uint64()),
    pa.array([1.5, None, -0.0], pa.float16()),
    pa.array(["a", None, ""], pa.large_string()),
    pa.array(["a", None, "ü"], pa.string_view()),
    pa.array([b"ab", None, b"cd"], pa.binary(2)),
    pa.array([1, None, 86399], pa.time32("s")),
    pa.array([1, None, 5], pa.time64("ns")),
    pa.array([1, None, -5], pa.duration("s")),
    pa.array([0, None, 86400000], pa.date64()),
    pa.array([0, None, 10**6], pa.timestamp("ms", "Asia/Tokyo")),
    pa.array([D("1.50"), None, D("-2.25")], pa.decimal128(9, 2)),
    pa.array(["x", None, "y"], pa.string()).dictionary_encode(),
    pa.array([[1, 2], None, [3, None]], pa.list_(pa.uint8(), 2)),
    pa.array([[], None, [3, None]], pa.large_list(pa.float16())),
    pa.array([[[1, 2], [3, 4]], None, [[5, 6], [7, 8]]], pa.list_(pa.list_(pa.int8(), 2), 2)),
    pa.array(
        [{"x": 1, "y": ["a"]}, None, {"x": None, "y": None}],
        pa.struct([("x", pa.uint16()), ("y", pa.list_(pa.large_string()))]),
    ),
    pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.uint32())),
]


def _there_and_back(array):
    source = pa.field("c", array.type)
    target = batch_schema(pa.schema([source])).field("c")
    there = converted(array, source, target)
    there.validate(full=True)
    assert there.type == target.type
    return converted(there, target, source)


@pytest.mark.parametrize("array", VALUES, ids=lambda one: str(one.type))
def test_values_go_to_spark_and_back(array):
    """Whole, and cut out of a longer array, the values and nulls are the same."""
    assert _there_and_back(array).to_pylist() == array.to_pylist()
    assert _there_and_back(array[1:]).to_pylist() == array[1:].to_pylist()
    assert _there_and_back(array[:0]).type == array.type


def test_a_bfloat16_is_the_float_it_stands_for():
    """The bytes 0xC03F are 1.5 in bfloat16."""
    field = pa.field("c", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})
    stored = pa.array([b"\xc0\x3f", None], pa.binary(2))
    floats = converted(stored, field, pa.field("c", pa.float32()))
    assert floats.to_pylist() == [1.5, None]
    assert converted(floats, pa.field("c", pa.float32()), field).to_pylist() == stored.to_pylist()


@given(some.lists(some.floats(width=16, allow_nan=False), min_size=1))
@settings(max_examples=50, deadline=None)
def test_every_bfloat16_survives(values):
    """What bfloat16 holds is the same after the way through float."""
    field = pa.field("c", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})
    held = np.array(values, ml_dtypes.bfloat16)
    floats = pa.array(held.astype(np.float32))
    stored = converted(floats, pa.field("c", pa.float32()), field)
    assert b"".join(stored.to_pylist()) == held.tobytes()


def test_nanoseconds_are_cut_where_that_was_asked_for():
    """1,501 ns are 1 us."""
    source = pa.field("t", pa.timestamp("ns"))
    target = batch_schema(pa.schema([source]), truncate=True).field("t")
    cut = converted(pa.array([1501], pa.timestamp("ns")), source, target)
    assert cut.to_pylist() == [datetime.datetime(1970, 1, 1, 0, 0, 0, 1)]


def test_a_value_that_does_not_fit_is_refused():
    """300 is no uint8; a list of three is no list of two; a null is not in a column without."""
    for array, kind in (
        (pa.array([300], pa.int16()), pa.uint8()),
        (pa.array([[1, 2, 3]], pa.list_(pa.int8())), pa.list_(pa.int8(), 2)),
    ):
        with pytest.raises(DataRefused):
            converted(array, pa.field("c", array.type), pa.field("c", kind))
    batch = pa.record_batch({"c": pa.array([1, None])})
    with pytest.raises(DataRefused, match="holds nulls"):
        fitted(batch, pa.schema([pa.field("c", pa.int64(), nullable=False)]))


def test_columns_are_found_by_their_names():
    """The order of the batch does not matter, and what is not asked for is left out."""
    batch = pa.record_batch({"b": [1], "a": ["x"], "c": [True]})
    made = fitted(batch, pa.schema([("a", pa.string()), ("b", pa.int32())]))
    assert made.to_pydict() == {"a": ["x"], "b": [1]}
