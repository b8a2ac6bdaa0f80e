"""Types: each has one place in Spark, and comes back as it was."""

import pyarrow as pa
import pytest
from lanceref.core.errors import SchemaRefused
from lanceref_spark.types import KEY, arrow_schema, batch_schema, is_bfloat16, spark_schema
from pyspark.sql import types as st

pytestmark = pytest.mark.spark

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
    (
        pa.list_(pa.float32(), 4),
        st.ArrayType(st.FloatType()),
        pa.list_(pa.field("element", pa.float32())),
    ),
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
    """The Spark type and the Arrow type of the batches are those that were worked out."""
    schema = pa.schema([("c", arrow)])
    assert spark_schema(schema)["c"].dataType == spark
    assert batch_schema(schema).field("c").type == batches


@pytest.mark.parametrize("arrow", [one for one, _, _ in WORKED], ids=str)
def test_a_schema_comes_back_from_spark(arrow):
    """What went to Spark and came back unchanged is written in the Arrow type it had."""
    schema = pa.schema([pa.field("c", arrow, nullable=False), pa.field("d", arrow)])
    assert arrow_schema(spark_schema(schema)).equals(schema)


def test_a_bfloat16_is_a_float_in_spark():
    """Two bytes under the name of a bfloat16 are a number, and come back as two bytes."""
    schema = pa.schema([HALF])
    assert spark_schema(schema)["c"].dataType == st.FloatType()
    assert is_bfloat16(arrow_schema(spark_schema(schema)).field("c"))


def test_a_changed_type_is_written_as_spark_has_it():
    """The type in the metadata holds no longer when the column has become another one."""
    field = spark_schema(pa.schema([("c", pa.uint8())]))["c"]
    assert KEY in field.metadata
    changed = st.StructType([st.StructField("c", st.LongType(), True, field.metadata)])
    assert arrow_schema(changed).field("c").type == pa.int64()


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.duration("ns")], ids=str)
def test_nanoseconds_are_refused_unless_cut(kind):
    """Values of a nanosecond are never cut without being asked for."""
    schema = pa.schema([("t", pa.list_(kind))])
    with pytest.raises(SchemaRefused, match=r"t\.item.*ns=truncate"):
        spark_schema(schema)
    assert batch_schema(schema, truncate=True).field("t").type.value_type.unit == "us"


@pytest.mark.parametrize("kind", [pa.null(), pa.decimal256(50, 2), pa.month_day_nano_interval()])
def test_what_spark_cannot_hold_is_refused(kind):
    """The refusal names the column and its type."""
    with pytest.raises(SchemaRefused, match="column 'c'"):
        spark_schema(pa.schema([("c", kind)]))
