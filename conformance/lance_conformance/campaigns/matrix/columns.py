"""Columns: one table of 30 rows for each type that a release may store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa

ROWS = 30
"""Rows of every table: the first 20 are created, the others appended."""

_WORDS = ("alpha", "", "beta", "épsilon", "a longer word of the table")


def _nulls(value: Callable[[int], object], every: int = 7) -> list[object]:
    return [None if row % every == 3 else value(row) for row in range(ROWS)]


def _integers(kind: pa.DataType, low: int, high: int) -> pa.Array:
    span = (low, high, 0, 1)
    return pa.array(_nulls(lambda row: span[row % 4] if row < 8 else row), kind)


def _word(row: int) -> str:
    return _WORDS[row % len(_WORDS)]


def _numbers() -> dict[str, pa.Array]:
    found = {}
    for bits in (8, 16, 32, 64):
        signed, unsigned = getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()
        found[f"int{bits}"] = _integers(signed, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        found[f"uint{bits}"] = _integers(unsigned, 0, 2**bits - 1)
    halves = np.array([row / 4 for row in range(ROWS)], np.float16)
    return {
        **found,
        "float16": pa.array(halves),
        "float32": pa.array(_nulls(lambda row: row / 3), pa.float32()),
        "float64": pa.array(_nulls(lambda row: float("nan") if row == 5 else -row / 3)),
        "bool": pa.array(_nulls(lambda row: row % 3 == 0)),
        "decimal128": pa.array(_nulls(lambda row: Decimal(row) / 100), pa.decimal128(10, 2)),
        "decimal256": pa.array(_nulls(lambda row: Decimal(-row) / 10), pa.decimal256(50, 4)),
        "required": pa.array(range(ROWS), pa.int32()),
        "constant": pa.array([5] * ROWS),
        "nothing": pa.array([None] * ROWS, pa.int32()),
        "null": pa.nulls(ROWS),
    }


def _moments() -> dict[str, pa.Array]:
    start = datetime(2024, 2, 29, 12, 30)
    stamps = _nulls(lambda row: start + timedelta(days=row, seconds=row))
    days = _nulls(lambda row: date(1969, 12, 20) + timedelta(days=row))
    hours = _nulls(lambda row: time(row % 24, row, row))
    spans = _nulls(lambda row: timedelta(seconds=row - 5))
    found = {"date32": pa.array(days, pa.date32()), "date64": pa.array(days, pa.date64())}
    for unit in ("s", "ms", "us", "ns"):
        found[f"timestamp-{unit}"] = pa.array(stamps, pa.timestamp(unit))
        found[f"duration-{unit}"] = pa.array(spans, pa.duration(unit))
        clock = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        found[f"time-{unit}"] = pa.array(hours, clock)
    found["timestamp-zone"] = pa.array(stamps, pa.timestamp("us", tz="Europe/Berlin"))
    return found


def _texts() -> dict[str, pa.Array]:
    data = _nulls(lambda row: _word(row).encode())
    words = _nulls(_word)
    return {
        "string": pa.array(words),
        "string-required": pa.array([_word(row) for row in range(ROWS)]),
        "string-nothing": pa.array([None] * ROWS, pa.string()),
        "large_string": pa.array(words, pa.large_string()),
        "binary": pa.array(data, pa.binary()),
        "large_binary": pa.array(data, pa.large_binary()),
        "fixed_size_binary": pa.array(_nulls(lambda row: bytes([row] * 5)), pa.binary(5)),
        "dictionary": pa.array(words).dictionary_encode(),
        "dictionary-int8": pa.array(words).cast(pa.dictionary(pa.int8(), pa.string())),
        "dictionary-uint16": pa.array(words).cast(pa.dictionary(pa.uint16(), pa.large_string())),
        "dictionary-required": pa.array([_word(row) for row in range(ROWS)]).dictionary_encode(),
    }


def _lists() -> dict[str, pa.Array]:
    numbers = _nulls(lambda row: [None if i == 2 else i * row for i in range(row % 4)])
    words = _nulls(lambda row: [_word(row + i) for i in range(row % 3)], 5)
    deep = _nulls(lambda row: [[j] * (j % 3) for j in range(row % 4)])
    vectors = _nulls(lambda row: [row + i / 2 for i in range(4)])
    full = [[row + i / 2 for i in range(4)] for row in range(ROWS)]
    return {
        "list-int32": pa.array(numbers, pa.list_(pa.int32())),
        "list-string": pa.array(words, pa.list_(pa.string())),
        "list-required": pa.array([[row, row + 1] for row in range(ROWS)], pa.list_(pa.int64())),
        "large_list": pa.array(numbers, pa.large_list(pa.int16())),
        "list-list": pa.array(deep, pa.list_(pa.list_(pa.int64()))),
        "fsl-float32": pa.array(vectors, pa.list_(pa.float32(), 4)),
        "fsl-float64": pa.array(full, pa.list_(pa.float64(), 4)),
        "fsl-float16": pa.array(np.array(full, np.float16).tolist(), pa.list_(pa.float16(), 4)),
        "fsl-uint8": pa.array([[row, 0, 1] for row in range(ROWS)], pa.list_(pa.uint8(), 3)),
        "fsl-bool": pa.array([[row % 2 == 0] * 3 for row in range(ROWS)], pa.list_(pa.bool_(), 3)),
        "fsl-item-nulls": pa.array(
            [[row, None if row % 3 else 2] for row in range(ROWS)], pa.list_(pa.int32(), 2)
        ),
        "fsl-fsl": pa.array(
            [[[row, 1], [2, 3]] for row in range(ROWS)], pa.list_(pa.list_(pa.int16(), 2), 2)
        ),
        "list-fsl": pa.array(
            [[[row, i] for i in range(row % 3)] for row in range(ROWS)],
            pa.list_(pa.list_(pa.int32(), 2)),
        ),
        "map": pa.array(
            _nulls(lambda row: [(f"k{i}", i) for i in range(row % 3)]),
            pa.map_(pa.string(), pa.int32()),
        ),
    }


def _structs() -> dict[str, pa.Array]:
    pair = pa.struct([("a", pa.int32()), ("b", pa.string())])

    def value(row: int) -> dict[str, object]:
        return {"a": None if row % 4 == 1 else row, "b": _word(row)}

    full = [{"a": row, "b": _word(row)} for row in range(ROWS)]
    return {
        "struct": pa.array(full, pair),
        "struct-nulls": pa.array(_nulls(value), pair),
        "struct-struct": pa.array(
            [{"s": value(row), "n": row} for row in range(ROWS)],
            pa.struct([("s", pair), ("n", pa.int64())]),
        ),
        "struct-list": pa.array(
            [{"l": [row] * (row % 3)} for row in range(ROWS)],
            pa.struct([("l", pa.list_(pa.int32()))]),
        ),
        "list-struct": pa.array(
            _nulls(lambda row: [value(row + i) for i in range(row % 3)]), pa.list_(pair)
        ),
        "list-struct-list": pa.array(
            [[{"l": ["x"] * i} for i in range(row % 3)] for row in range(ROWS)],
            pa.list_(pa.struct([("l", pa.list_(pa.string()))])),
        ),
        "struct-fsl": pa.array(
            [{"v": [row, row]} for row in range(ROWS)],
            pa.struct([("v", pa.list_(pa.float32(), 2))]),
        ),
        "struct-dictionary": pa.StructArray.from_arrays(
            [pa.array([_word(row) for row in range(ROWS)]).dictionary_encode()], ["d"]
        ),
    }


_MARKED: Mapping[str, tuple[pa.Array, Mapping[str, str]]] = {
    "packed": (
        pa.array(
            [{"a": row, "b": row * 2} for row in range(ROWS)],
            pa.struct([("a", pa.int32()), ("b", pa.int64())]),
        ),
        {"packed": "true", "lance-encoding:packed": "true"},
    ),
    "blob": (
        pa.array(_nulls(lambda row: _word(row).encode() * 3), pa.large_binary()),
        {"lance-encoding:blob": "true"},
    ),
    "zstd": (
        pa.array([_word(row) * 5 for row in range(ROWS)]),
        {"lance-encoding:compression": "zstd"},
    ),
    "lz4": (
        pa.array([_word(row) * 5 for row in range(ROWS)]),
        {"lance-encoding:compression": "lz4"},
    ),
    "full-zip": (
        pa.array([_word(row) for row in range(ROWS)]),
        {"lance-encoding:structural-encoding": "fullzip"},
    ),
}
"""Columns whose field metadata chooses how they are stored."""


def _table(array: pa.Array, metadata: Mapping[str, str] | None, *, nullable: bool) -> pa.Table:
    schema = pa.schema(
        [
            pa.field("id", pa.int64()),
            pa.field("c", array.type, nullable=nullable, metadata=metadata),
        ]
    )
    return pa.Table.from_arrays([pa.array(range(ROWS)), array], schema=schema)


def typed() -> dict[str, pa.Table]:
    """Return by name a table of columns `id` and `c`, c being of the type of that name."""
    groups = (_numbers(), _moments(), _texts(), _lists(), _structs())
    arrays = {name: array for group in groups for name, array in group.items()}
    plain = {
        name: _table(array, None, nullable="required" not in name) for name, array in arrays.items()
    }
    marked = {
        name: _table(array, metadata, nullable=True) for name, (array, metadata) in _MARKED.items()
    }
    return {**plain, **marked}


def general(ids: Sequence[int], shift: int = 0) -> pa.Table:
    """Return a table of those ids with the columns that the histories of operations need."""
    rows = [one + shift for one in ids]
    words = pa.array([_word(row) if row % 6 else None for row in rows])
    pair = pa.struct([("x", pa.int32()), ("y", pa.string())])
    schema = pa.schema(
        [
            pa.field("id", pa.int64()),
            pa.field("i", pa.int32()),
            pa.field("s", pa.string()),
            pa.field("f", pa.float32()),
            pa.field("l", pa.list_(pa.int32())),
            pa.field("t", pair),
            pa.field("v", pa.list_(pa.float32(), 4)),
        ]
    )
    columns = [
        pa.array(ids, pa.int64()),
        pa.array([None if row % 5 == 4 else row * 3 for row in rows], pa.int32()),
        words,
        pa.array([row / 2 for row in rows], pa.float32()),
        pa.array([[row] * (row % 3) for row in rows], pa.list_(pa.int32())),
        pa.array([{"x": row, "y": _word(row)} for row in rows], pair),
        pa.array([[row, row % 3, 1, row % 7] for row in rows], pa.list_(pa.float32(), 4)),
    ]
    return pa.Table.from_arrays(columns, schema=schema)
