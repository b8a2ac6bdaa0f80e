"""Types: conversion of the types of a table to those of Spark, and back.

Spark has fewer types than Arrow. A column has the smallest Spark type with all of its values; the
Arrow field is in the metadata of the Spark column, under `lance.arrow`, so that rows that are read
and written by Spark keep their types.

| Arrow | Spark |
|---|---|
| bool, int8 to int64, float, double, decimal128, date32 | the same |
| uint8, uint16, uint32, uint64 | smallint, int, bigint, decimal(20, 0) |
| halffloat, bfloat16 | float |
| string, large_string, string_view, json | string |
| binary of any kind | binary |
| list of any kind, with a fixed size too | array |
| struct, map | struct, map |
| dictionary | the type of its values |
| timestamp with a zone, without | timestamp, timestamp_ntz |
| date64 | timestamp_ntz |
| time of any unit | bigint, in that unit |
| duration | day-time interval |

Spark has no nanoseconds: their columns are refused, unless `ns` is `truncate`. Columns of the null
type, decimals of more than 38 digits and intervals are refused.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, cast

import pyarrow as pa
from lanceref.core.errors import SchemaRefused
from lanceref.file.schema import BFLOAT16, EXTENSION_KEY
from pyspark.sql import types as st

KEY = "lance.arrow"
"""Key of column metadata: the Arrow field, as a base64 schema message."""

MAX_DIGITS = 38

_SAME: dict[pa.DataType, tuple[st.DataType, pa.DataType]] = {
    pa.bool_(): (st.BooleanType(), pa.bool_()),
    pa.int8(): (st.ByteType(), pa.int8()),
    pa.int16(): (st.ShortType(), pa.int16()),
    pa.int32(): (st.IntegerType(), pa.int32()),
    pa.int64(): (st.LongType(), pa.int64()),
    pa.uint8(): (st.ShortType(), pa.int16()),
    pa.uint16(): (st.IntegerType(), pa.int32()),
    pa.uint32(): (st.LongType(), pa.int64()),
    pa.uint64(): (st.DecimalType(20, 0), pa.decimal128(20, 0)),
    pa.float16(): (st.FloatType(), pa.float32()),
    pa.float32(): (st.FloatType(), pa.float32()),
    pa.float64(): (st.DoubleType(), pa.float64()),
    pa.date32(): (st.DateType(), pa.date32()),
    pa.date64(): (st.TimestampNTZType(), pa.timestamp("us")),
    pa.time32("s"): (st.LongType(), pa.int64()),
    pa.time32("ms"): (st.LongType(), pa.int64()),
    pa.time64("us"): (st.LongType(), pa.int64()),
    pa.time64("ns"): (st.LongType(), pa.int64()),
}
"""Spark type of an Arrow type, and the Arrow type of its batches in Spark."""


def spark_schema(schema: pa.Schema, *, truncate: bool = False) -> st.StructType:
    """Return the Spark schema of an Arrow schema; `truncate` converts ns to us.

    Raises SchemaRefused for a column without a Spark type.
    """
    result = st.StructType()
    for field in schema:
        text = base64.b64encode(pa.schema([field]).serialize()).decode("ascii")
        result.add(field.name, _pair(field, field.name, truncate)[0], field.nullable, {KEY: text})
    return result


def batch_schema(schema: pa.Schema, *, truncate: bool = False) -> pa.Schema:
    """Return the Arrow schema of batches of `spark_schema` in Spark."""
    types = [_pair(field, field.name, truncate)[1] for field in schema]
    return pa.schema([pa.field(one.name, kind, one.nullable) for one, kind in zip(schema, types)])


def arrow_schema(schema: st.StructType) -> pa.Schema:
    """Return the Arrow schema for writes of a Spark schema: the original types, if it has them.

    Raises SchemaRefused for a type that a table cannot have.
    """
    return pa.schema([_arrow_field(field) for field in schema.fields])


def _arrow_field(field: st.StructField) -> pa.Field:
    """Return the Arrow field in the metadata, if it still has the Spark type, else a new one."""
    stored = (field.metadata or {}).get(KEY)
    if stored is not None:
        original = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored))).field(0)
        if _pair(original, field.name, True)[0] == field.dataType:
            return original.with_name(field.name).with_nullable(field.nullable)
    return pa.field(field.name, _to_arrow(field.dataType, field.name), field.nullable)


def _pair(field: pa.Field, path: str, truncate: bool) -> tuple[st.DataType, pa.DataType]:
    """Return the Spark type of an Arrow field, and the Arrow type of its batches."""
    kind = field.type
    if is_bfloat16(field):
        return st.FloatType(), pa.float32()
    if isinstance(kind, pa.BaseExtensionType):  # that of another library may have no hash
        return _pair(field.with_type(kind.storage_type), path, truncate)
    if kind in _SAME:
        return _SAME[kind]
    if pa.types.is_dictionary(kind):
        return _pair(field.with_type(kind.value_type), path, truncate)
    if is_any(kind, TEXTS):
        return st.StringType(), pa.string()
    if is_any(kind, BYTES):
        return st.BinaryType(), pa.binary()
    if pa.types.is_decimal(kind) and kind.precision <= MAX_DIGITS:
        scaled = kind.precision, kind.scale
        return st.DecimalType(*scaled), pa.decimal128(*scaled)
    if pa.types.is_timestamp(kind) and (kind.unit != "ns" or truncate):
        if kind.tz is None:
            return st.TimestampNTZType(), pa.timestamp("us")
        return st.TimestampType(), pa.timestamp("us", "UTC")
    if pa.types.is_duration(kind) and (kind.unit != "ns" or truncate):
        return st.DayTimeIntervalType(), pa.duration("us")
    return _nested(kind, path, truncate)


def _nested(kind: pa.DataType, path: str, truncate: bool) -> tuple[st.DataType, pa.DataType]:
    if is_any(kind, LISTS):
        child = kind.value_field
        inner, arrow = _pair(child, f"{path}.{child.name}", truncate)
        element = pa.field("element", arrow, child.nullable)
        return st.ArrayType(inner, child.nullable), pa.list_(element)
    if pa.types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        pairs = [_pair(one, f"{path}.{one.name}", truncate) for one in fields]
        named = list(zip(fields, pairs, strict=True))
        spark = [st.StructField(one.name, inner, one.nullable) for one, (inner, _) in named]
        arrow = pa.struct([pa.field(one.name, kept, one.nullable) for one, (_, kept) in named])
        return st.StructType(spark), arrow
    if pa.types.is_map(kind):
        key, arrow_key = _pair(kind.key_field, f"{path}.key", truncate)
        item, arrow_item = _pair(kind.item_field, f"{path}.value", truncate)
        nullable = kind.item_field.nullable
        value = pa.field("value", arrow_item, nullable)
        return st.MapType(key, item, nullable), pa.map_(arrow_key, value)
    raise SchemaRefused(f"Spark has no type for column {path!r}, which is {kind}{_hint(kind)}")


def _hint(kind: pa.DataType) -> str:
    is_time = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
    return ": the option ns=truncate reads it in microseconds" if is_time else ""


TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BYTES = (
    *(pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_binary_view, pa.types.is_fixed_size_binary),
)
LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def is_any(kind: pa.DataType, tests: Sequence[Callable[[pa.DataType], bool]]) -> bool:
    """Whether a type passes one of the tests."""
    return any(test(kind) for test in tests)


def is_bfloat16(field: pa.Field) -> bool:
    """Whether the two bytes of a field are a bfloat16."""
    if isinstance(field.type, pa.BaseExtensionType):
        return bool(field.type.extension_name == BFLOAT16)
    return (field.metadata or {}).get(EXTENSION_KEY.encode()) == BFLOAT16.encode()


_ARROW_TYPES: dict[type[st.DataType], pa.DataType] = {
    st.BooleanType: pa.bool_(),
    st.ByteType: pa.int8(),
    st.ShortType: pa.int16(),
    st.IntegerType: pa.int32(),
    st.LongType: pa.int64(),
    st.FloatType: pa.float32(),
    st.DoubleType: pa.float64(),
    st.StringType: pa.string(),
    st.BinaryType: pa.binary(),
    st.DateType: pa.date32(),
    st.TimestampType: pa.timestamp("us", "UTC"),
    st.TimestampNTZType: pa.timestamp("us"),
    st.DayTimeIntervalType: pa.duration("us"),
}
"""Arrow types of Spark types without metadata."""


def _to_arrow(kind: st.DataType, path: str) -> pa.DataType:
    if type(kind) in _ARROW_TYPES:
        return _ARROW_TYPES[type(kind)]
    if isinstance(kind, st.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, st.ArrayType):
        inner = _to_arrow(kind.elementType, f"{path}.element")
        return pa.list_(pa.field("item", inner, kind.containsNull))
    if isinstance(kind, st.StructType):
        return pa.struct(
            [pa.field(o.name, _to_arrow(o.dataType, f"{path}.{o.name}"), o.nullable) for o in kind]
        )
    if isinstance(kind, st.MapType):
        value = pa.field(
            "value", _to_arrow(kind.valueType, f"{path}.value"), kind.valueContainsNull
        )
        return pa.map_(_to_arrow(kind.keyType, f"{path}.key"), value)
    raise SchemaRefused(f"a table has no type for column {path!r}, which is {cast(Any, kind)}")
