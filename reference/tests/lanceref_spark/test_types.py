"""Types of Spark: each Arrow type has a Spark type, and values survive the round trip."""

import datetime
import decimal

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from lanceref.core.errors import DataRefused, SchemaRefused
from lanceref_spark.batches import convert, fit_batch
from lanceref_spark.types import KEY, arrow_schema, batch_schema, is_bfloat16, spark_schema
from pyspark.sql import types as st

pytestmark = pytest.mark.spark
ELEMENT = pa.field("element", pa.float32())
HALF = pa.field("c", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})

WORKED = [
    (pa.uint8(), st.ShortType(), pa.int16()),
    (pa.uint32(), st.LongType(), pa.int64()),
    (pa.uint64(), st.DecimalType(20, 0), pa.decimal128(20, 0)),
    (pa.float16(), st.FloatType(), pa.float32()),
    (pa.large_string(), st.StringType(), pa.string()),
    (pa.string_view(), st.StringType(), pa.string()),
    (pa.binary(3), st.BinaryType(), pa.binary()),
    (pa.dictionary(pa.int8(), pa.large_string()), st.StringType(), pa.string()),
    (pa.timestamp("ms", "Europe/Paris"), st.TimestampType(), pa.timestamp("us", "UTC")),
    (pa.timestamp("s"), st.TimestampNTZType(), pa.timestamp("us")),
    (pa.date64(), st.TimestampNTZType(), pa.timestamp("us")),
    (pa.time64("ns"), st.LongType(), pa.int64()),
    (pa.duration("ms"), st.DayTimeIntervalType(), pa.duration("us")),
    (pa.decimal128(38, 3), st.DecimalType(38, 3), pa.decimal128(38, 3)),
    (pa.list_(pa.float32(), 4), st.ArrayType(st.FloatType()), pa.list_(ELEMENT)),
    (
        pa.struct([pa.field("x", pa.uint8(), nullable=False)]),
        st.StructType([st.StructField("x", st.ShortType(), False)]),
        pa.struct([pa.field("x", pa.int16(), nullable=False)]),
    ),
    (
        pa.map_(pa.large_string(), pa.uint16()),
        st.MapType(st.StringType(), st.IntegerType()),
        pa.map_(pa.string(), pa.int32()),
    ),
]


@pytest.mark.parametrize(("arrow", "spark", "batches"), WORKED, ids=lambda one: str(one)[:30])
def test_a_column_has_the_spark_type_of_the_table(arrow, spark, batches):
    """Spark type and Arrow type of the batches are those worked out by hand."""
    schema = pa.schema([("c", arrow)])
    assert spark_schema(schema)["c"].dataType == spark
    assert batch_schema(schema).field("c").type == batches


@pytest.mark.parametrize("arrow", [one for one, _, _ in WORKED], ids=str)
def test_a_schema_survives_the_round_trip(arrow):
    """An unchanged schema is written in the Arrow types it had."""
    schema = pa.schema([pa.field("c", arrow, nullable=False), pa.field("d", arrow)])
    assert arrow_schema(spark_schema(schema)).equals(schema)


def test_a_bfloat16_is_a_float_in_spark():
    """A bfloat16 is a float in Spark and two bytes in the table."""
    schema = pa.schema([HALF])
    assert spark_schema(schema)["c"].dataType == st.FloatType()
    assert is_bfloat16(arrow_schema(spark_schema(schema)).field("c"))


def test_a_changed_type_is_written_as_spark_has_it():
    """A column whose type changed is written in its Spark type."""
    field = spark_schema(pa.schema([("c", pa.uint8())]))["c"]
    assert KEY in field.metadata
    changed = st.StructType([st.StructField("c", st.LongType(), True, field.metadata)])
    assert arrow_schema(changed).field("c").type == pa.int64()


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.duration("ns")], ids=str)
def test_nanoseconds_are_refused_unless_truncated(kind):
    """Nanoseconds are refused unless `truncate` is set."""
    schema = pa.schema([("t", pa.list_(kind))])
    with pytest.raises(SchemaRefused, match=r"t\.item.*ns=truncate"):
        spark_schema(schema)
    assert batch_schema(schema, truncate=True).field("t").type.value_type.unit == "us"


@pytest.mark.parametrize("kind", [pa.null(), pa.decimal256(50, 2), pa.month_day_nano_interval()])
def test_types_without_a_spark_type_are_refused(kind):
    """The refusal of a type names column and type."""
    with pytest.raises(SchemaRefused, match="column 'c'"):
        spark_schema(pa.schema([("c", kind)]))


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


def _round_trip(array):
    source = pa.field("c", array.type)
    target = batch_schema(pa.schema([source])).field("c")
    there = convert(array, source, target)
    there.validate(full=True)
    assert there.type == target.type
    return convert(there, target, source)


@pytest.mark.parametrize("array", VALUES, ids=lambda one: str(one.type))
def test_values_survive_the_round_trip(array):
    """Whole and sliced arrays keep values and nulls."""
    assert _round_trip(array).to_pylist() == array.to_pylist()
    assert _round_trip(array[1:]).to_pylist() == array[1:].to_pylist()
    assert _round_trip(array[:0]).type == array.type


@given(some.lists(some.floats(width=16, allow_nan=False), min_size=1))
@settings(max_examples=50, deadline=None)
def test_every_bfloat16_survives(values):
    """Every bfloat16 is unchanged after a conversion to float."""
    field = pa.field("c", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16"})
    rounded = np.array(values, ml_dtypes.bfloat16)
    floats = pa.array(rounded.astype(np.float32))
    stored = convert(floats, pa.field("c", pa.float32()), field)
    assert b"".join(stored.to_pylist()) == rounded.tobytes()


def test_nanoseconds_are_truncated():
    """1 501 ns are truncated to 1 us."""
    source = pa.field("t", pa.timestamp("ns"))
    target = batch_schema(pa.schema([source]), truncate=True).field("t")
    cut = convert(pa.array([1501], pa.timestamp("ns")), source, target)
    assert cut.to_pylist() == [datetime.datetime(1970, 1, 1, 0, 0, 0, 1)]


def test_a_value_that_does_not_fit_is_refused():
    """Values out of range, other list sizes and nulls of required columns are refused."""
    for array, kind in (
        (pa.array([300], pa.int16()), pa.uint8()),
        (pa.array([[1, 2, 3]], pa.list_(pa.int8())), pa.list_(pa.int8(), 2)),
    ):
        with pytest.raises(DataRefused):
            convert(array, pa.field("c", array.type), pa.field("c", kind))
    batch = pa.record_batch({"c": pa.array([1, None])})
    with pytest.raises(DataRefused, match="holds nulls"):
        fit_batch(batch, pa.schema([pa.field("c", pa.int64(), nullable=False)]))
