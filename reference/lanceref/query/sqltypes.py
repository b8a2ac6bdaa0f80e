"""Types of SQL casts as Arrow types."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from lanceref.core.errors import QueryRefused

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
    T.BINARY: pa.binary(),
    T.DATE: pa.date32(),
    T.TIMESTAMP: pa.timestamp("us"),
    T.DATETIME: pa.timestamp("us"),
}
"""Arrow types by the name of a type without parameters."""

UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}
"""Units of timestamps by the digits of a second."""


MORE: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "bytea": pa.binary(),
    "char": pa.utf8(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "real": pa.float32(),
    "text": pa.utf8(),
    "varchar": pa.utf8(),
}
"""Arrow types by names that are known in the arguments of a call alone."""


def arrow_type_of(named: exp.DataType, *, inside: bool = False) -> pa.DataType:
    """Return the Arrow type of a cast; `inside` of a call more names are known.

    Raises QueryRefused.
    """
    if inside and named.sql().lower() in MORE:
        return MORE[named.sql().lower()]
    numbers = [int(one.name) for one in named.expressions if one.name.isdigit()]
    if named.this is T.DECIMAL:
        if len(numbers) != 2:
            raise QueryRefused(f"Must provide precision and scale for decimal: {named.sql()}")
        precision, scale = numbers
        return pa.decimal128(precision, scale)
    if named.this is T.TIMESTAMP and numbers and numbers[0] in UNITS:
        return pa.timestamp(UNITS[numbers[0]])
    if named.this not in TYPES:
        raise QueryRefused(f"Unsupported data type: {named.sql()}")
    return TYPES[named.this]
