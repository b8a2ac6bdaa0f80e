"""Tables as JSON: what an Arrow file holds, for those without a library that reads one.

`{"columns": [{"name", "type", "values"}]}`; nothing is lost:

| type | value |
|---|---|
| boolean, integers up to 32 bits | true, false, a number |
| integers of 64 bits, decimals | decimal text |
| floats | a number that is read back to the same one; "NaN", "Infinity", "-Infinity" |
| date, time, timestamp, duration | its integer as decimal text, in the unit of the type |
| text | text |
| binary | hex text |
| list, fixed-size list | a list |
| struct | a list of the values of its fields |
| map | a list of pairs |
| dictionary, extension type | the value, the storage |
| null | null |
"""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa

_NUMBERS_AS_TEXT = (pa.types.is_int64, pa.types.is_uint64, pa.types.is_decimal)

_TIME_TYPES = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration)

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def to_json(table: pa.Table) -> str:
    """Return a table as JSON text."""
    columns = [
        {"name": field.name, "type": str(_storage_type(field.type)), "values": _values(column)}
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    return json.dumps({"columns": columns}, ensure_ascii=False, indent=1) + "\n"


def _storage_type(type_: pa.DataType) -> pa.DataType:
    if isinstance(type_, pa.BaseExtensionType):
        return _storage_type(type_.storage_type)
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _values(array: pa.ChunkedArray | pa.Array) -> list[Any]:
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in _values(chunk)]
    if isinstance(array.type, pa.BaseExtensionType):
        return _values(array.storage)
    if pa.types.is_dictionary(array.type):
        return _values(array.dictionary_decode())
    if any(is_moment(array.type) for is_moment in _TIME_TYPES):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
        return [None if value is None else str(value) for value in array.to_pylist()]
    return [_value(scalar, array.type) for scalar in array]


def _value(scalar: pa.Scalar, type_: pa.DataType) -> Any:
    if not scalar.is_valid:
        return None
    if any(is_list(type_) for is_list in _LISTS):
        return _values(scalar.values)
    if pa.types.is_struct(type_):
        return [_values(_one_row(scalar[at], field.type))[0] for at, field in enumerate(type_)]
    if pa.types.is_map(type_):
        pairs = scalar.values
        return [list(pair) for pair in zip(*map(_values, pairs.flatten()), strict=True)]
    value = scalar.as_py()
    if any(is_text(type_) for is_text in _NUMBERS_AS_TEXT):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if pa.types.is_floating(type_):
        number = float(value)
        return number if math.isfinite(number) else _non_finite(number)
    return value


def _one_row(scalar: pa.Scalar, type_: pa.DataType) -> pa.Array:
    return pa.nulls(1, type_) if not scalar.is_valid else pa.repeat(scalar, 1)


def _non_finite(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"
