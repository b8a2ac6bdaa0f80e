"""Types of SQL casts as Arrow types."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from lanceref.errors import QueryRefused

T = exp.DType

TYPES: dict[exp.DType, pa.DataType] = {
    T.BOOLEAN: pa.bool_(),
    T.TINYINT: pa.int8(),
    T.SMALLINT: pa.int16(),
    T.INT: pa.int32(),
    T.BIGINT: pa.int64(),
    T.UTINYINT: pa.uint8(),
    T.USMALLINT: pa.uint16(),
    T.UINT: pa.uint32(),
    T.UBIGINT: pa.uint64(),
    T.FLOAT: pa.float32(),
    T.DOUBLE: pa.float64(),
    T.TEXT: pa.utf8(),
    T.VARCHAR: pa.utf8(),
    T.CHAR: pa.utf8(),
    T.BINARY: pa.binary(),
    T.VARBINARY: pa.binary(),
    T.DATE: pa.date32(),
    T.TIMESTAMP: pa.timestamp("us"),
    T.DATETIME: pa.timestamp("us"),
}
"""Arrow types by the name of a type without parameters."""

UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}
"""Units of timestamps by the digits of a second."""


def arrow_type_of(named: exp.DataType) -> pa.DataType:
    """Return the Arrow type of a cast. Raises QueryRefused."""
    numbers = [int(one.name) for one in named.expressions if one.name.isdigit()]
    if named.this is T.DECIMAL:
        precision, scale, *_ = [*numbers, 10, 0] if not numbers else [*numbers, 0]
        return pa.decimal128(precision, scale)
    if named.this is T.TIMESTAMP and numbers and numbers[0] in UNITS:
        return pa.timestamp(UNITS[numbers[0]])
    if named.this not in TYPES:
        raise QueryRefused(f"Unsupported data type: {named.sql()}")
    return TYPES[named.this]
