"""Columns: one table of 30 rows for each type that a release may store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

ROWS = 30
"""Rows of every table: the first 20 are created, the others appended."""

_WORDS = ("alpha", "", "beta", "épsilon", "a longer word of the table")
_UNITS = ("s", "ms", "us", "ns")
_PAIR = pa.struct([("a", pa.int32()), ("b", pa.string())])

TYPES: dict[str, pa.DataType] = {
    **{
        f"{u}int{bits}": getattr(pa, f"{u}int{bits}")()
        for bits in (8, 16, 32, 64)
        for u in ("", "u")
    },
    **{f"float{bits}": getattr(pa, f"float{bits}")() for bits in (16, 32, 64)},
    "bool": pa.bool_(),
    "decimal128": pa.decimal128(10, 2),
    "decimal256": pa.decimal256(50, 4),
    "required": pa.int32(),
    "constant": pa.int64(),
    "nothing": pa.int32(),
    "null": pa.null(),
    "date32": pa.date32(),
    "date64": pa.date64(),
    **{f"timestamp-{unit}": pa.timestamp(unit) for unit in _UNITS},
    **{f"duration-{unit}": pa.duration(unit) for unit in _UNITS},
    **{f"time-{unit}": pa.time32(unit) for unit in _UNITS[:2]},
    **{f"time-{unit}": pa.time64(unit) for unit in _UNITS[2:]},
    "timestamp-zone": pa.timestamp("us", tz="Europe/Berlin"),
    "string": pa.string(),
    "string-required": pa.string(),
    "string-nothing": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "fixed_size_binary": pa.binary(5),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary-int8": pa.dictionary(pa.int8(), pa.string()),
    "dictionary-uint16": pa.dictionary(pa.uint16(), pa.large_string()),
    "dictionary-required": pa.dictionary(pa.int32(), pa.string()),
    "list-int32": pa.list_(pa.int32()),
    "list-string": pa.list_(pa.string()),
    "list-required": pa.list_(pa.int64()),
    "large_list": pa.large_list(pa.int16()),
    "list-list": pa.list_(pa.list_(pa.int64())),
    "fsl-float32": pa.list_(pa.float32(), 4),
    "fsl-float64": pa.list_(pa.float64(), 4),
    "fsl-float16": pa.list_(pa.float16(), 4),
    "fsl-uint8": pa.list_(pa.uint8(), 3),
    "fsl-bool": pa.list_(pa.bool_(), 3),
    "fsl-item-nulls": pa.list_(pa.int32(), 2),
    "fsl-fsl": pa.list_(pa.list_(pa.int16(), 2), 2),
    "list-fsl": pa.list_(pa.list_(pa.int32(), 2)),
    "map": pa.map_(pa.string(), pa.int32()),
    "struct": _PAIR,
    "struct-nulls": _PAIR,
    "struct-struct": pa.struct([("s", _PAIR), ("n", pa.int64())]),
    "struct-list": pa.struct([("l", pa.list_(pa.int32()))]),
    "list-struct": pa.list_(_PAIR),
    "list-struct-list": pa.list_(pa.struct([("l", pa.list_(pa.string()))])),
    "struct-fsl": pa.struct([("v", pa.list_(pa.float32(), 2))]),
    "struct-dictionary": pa.struct([("d", pa.dictionary(pa.int32(), pa.string()))]),
    "packed": pa.struct([("a", pa.int32()), ("b", pa.int64())]),
    "blob": pa.large_binary(),
    **dict.fromkeys(("zstd", "lz4", "full-zip"), pa.string()),
}
"""Types of the column `c` by the name of its table."""

FULL = frozenset(
    {
        *("float16", "constant", "zstd", "lz4", "full-zip", "packed"),
        *("list-fsl", "list-struct-list"),
        *("fsl-float64", "fsl-float16", "fsl-uint8", "fsl-bool", "fsl-item-nulls", "fsl-fsl"),
        *("struct", "struct-struct", "struct-list", "struct-fsl", "struct-dictionary"),
    }
)
"""Tables whose column is nullable and has no nulls."""

METADATA: Mapping[str, Mapping[str, str]] = {
    "packed": {"packed": "true", "lance-encoding:packed": "true"},
    "blob": {"lance-encoding:blob": "true"},
    "zstd": {"lance-encoding:compression": "zstd"},
    "lz4": {"lance-encoding:compression": "lz4"},
    "full-zip": {"lance-encoding:structural-encoding": "fullzip"},
}
"""Metadata of the column, which chooses how it is stored."""


def cell(kind: pa.DataType, row: int) -> object:
    """Return the value of a row: numbers at the ends of their range come first."""
    types = pa.types
    if types.is_dictionary(kind):
        return cell(kind.value_type, row)
    if types.is_struct(kind):
        return {one.name: cell(one.type, row) for one in kind}
    if types.is_map(kind):
        return [(f"k{i}", i) for i in range(row % 3)]
    if types.is_fixed_size_list(kind):
        return [cell(kind.value_type, row + i) for i in range(kind.list_size)]
    if types.is_list(kind) or types.is_large_list(kind):
        items = [cell(kind.value_type, row + i) for i in range(row % 4)]
        return [*items[:2], None] if len(items) > 2 and types.is_integer(kind.value_type) else items
    if types.is_integer(kind):
        high = 2 ** (kind.bit_width - types.is_signed_integer(kind)) - 1
        low = -high - 1 if types.is_signed_integer(kind) else 0
        return (low, high, 0, 1)[row % 4] if row < 8 else row
    if types.is_floating(kind):
        return float("nan") if row == 5 and kind == pa.float64() else row / 4
    if types.is_boolean(kind):
        return row % 3 == 0
    if types.is_decimal(kind):
        return Decimal(row) / 100
    if types.is_date(kind):
        return date(1969, 12, 20) + timedelta(days=row)
    if types.is_timestamp(kind):
        return datetime(2024, 2, 29, 12, 30) + timedelta(days=row, seconds=row)
    if types.is_time(kind):
        return time(row % 24, row, row)
    if types.is_duration(kind):
        return timedelta(seconds=row - 5)
    if types.is_fixed_size_binary(kind):
        return bytes([row] * kind.byte_width)
    word = _WORDS[row % len(_WORDS)]
    return word.encode() if types.is_binary(kind) or types.is_large_binary(kind) else word


def typed() -> dict[str, pa.Table]:
    """Return by name a table of columns `id` and `c`, c being of the type of that name."""
    return {name: _table(name, kind) for name, kind in TYPES.items()}


def _table(name: str, kind: pa.DataType) -> pa.Table:
    required = "required" in name
    values = [cell(kind, row) for row in range(ROWS)]
    if name == "constant":
        values = [5] * ROWS
    elif name == "fsl-item-nulls":
        values = [[row, None if row % 3 else 2] for row in range(ROWS)]
    elif not required and name not in FULL:
        values = [None if row % 7 == 3 else one for row, one in enumerate(values)]
    if "nothing" in name or pa.types.is_null(kind):
        values = [None] * ROWS
    field = pa.field("c", kind, nullable=not required, metadata=METADATA.get(name))
    columns = [pa.array(range(ROWS), pa.int64()), pa.array(values, kind)]
    return pa.Table.from_arrays(columns, schema=pa.schema([pa.field("id", pa.int64()), field]))


_GENERAL = {
    "i": pa.int32(),
    "s": pa.string(),
    "f": pa.float32(),
    "l": pa.list_(pa.int32()),
    "t": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "v": pa.list_(pa.float32(), 4),
}


def general(ids: Sequence[int], shift: int = 0) -> pa.Table:
    """Return a table of those ids with the columns that the histories of operations need."""
    rows = [one + shift for one in ids]
    words = [_WORDS[row % len(_WORDS)] for row in rows]
    values: dict[str, list[object]] = {
        "i": [None if row % 5 == 4 else row * 3 for row in rows],
        "s": [word if row % 6 else None for row, word in zip(rows, words, strict=True)],
        "f": [row / 2 for row in rows],
        "l": [[row] * (row % 3) for row in rows],
        "t": [{"x": row, "y": word} for row, word in zip(rows, words, strict=True)],
        "v": [[row, row % 3, 1, row % 7] for row in rows],
    }
    columns = {name: pa.array(values[name], kind) for name, kind in _GENERAL.items()}
    return pa.table({"id": pa.array(ids, pa.int64()), **columns})
