"""Columns and tables of several topics: small, with boring values in a stated order.

Zero, one, largest, smallest, null, then a few more; strings go from empty to non-ASCII.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Maker, Request
from lance_conformance.recipes.oracle_files import column, file

RANDOM_SEED = 7
"""Seed of the columns that must not compress."""


def integers(type_: pa.DataType) -> pa.Array:
    """0, 1, largest, smallest, null, 7."""
    info = np.iinfo(type_.to_pandas_dtype())
    return pa.array([0, 1, info.max, info.min, None, 7], type_)


def floats(type_: pa.DataType) -> pa.Array:
    """0, -0, infinities, NaN, null, 1.5."""
    values = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), None, 1.5]
    masked = np.array([0.0 if v is None else v for v in values], type_.to_pandas_dtype())
    return pa.array(masked, type_, mask=np.array([v is None for v in values]))


BOOLEANS = pa.array([True, False, None, True, True, False, False, True, True])
STRINGS = ["", "a", None, "Zürich", "日本語", "a longer string, with a comma"]
DAY = dt.date(1970, 1, 2)
MOMENT = dt.datetime(2001, 9, 9, 1, 46, 40)
TEMPORAL: dict[str, pa.Array] = {
    "date32": pa.array([DAY, None, dt.date(9999, 12, 31)], pa.date32()),
    "date64": pa.array([DAY, None, dt.date(1, 1, 1)], pa.date64()),
    "time32-s": pa.array([0, None, 86399], pa.time32("s")),
    "time32-ms": pa.array([0, None, 86399999], pa.time32("ms")),
    "time64-us": pa.array([0, None, 86399999999], pa.time64("us")),
    "time64-ns": pa.array([0, None, 1], pa.time64("ns")),
    "timestamp-s": pa.array([0, None, -1], pa.timestamp("s")),
    "timestamp-us-zone": pa.array([MOMENT, None, MOMENT], pa.timestamp("us", "+05:30")),
    "timestamp-ns-utc": pa.array([0, None, 2**62], pa.timestamp("ns", "UTC")),
    "duration-ms": pa.array([0, None, -(2**62)], pa.duration("ms")),
}

DECIMALS: dict[str, pa.Array] = {
    "decimal128": pa.array([Decimal("0.00"), None, Decimal("-99999999.99")], pa.decimal128(10, 2)),
    "decimal256": pa.array([Decimal(0), None, Decimal(10) ** 59],
        pa.decimal256(60, 0))}  # fmt: skip

FIXED_BINARY = pa.array([b"abc", None, b"\x00\xff\x00"], pa.binary(3))
LISTS = pa.array([[1, 2], None, [], [3, None], [4]], pa.list_(pa.int32()))
LISTS_OF_LISTS = pa.array([[[1], []], None, [], [None, [2, None, 3]]],
    pa.list_(pa.list_(pa.int16())))  # fmt: skip

NULL_STRUCTS = pa.array([{"x": 1, "y": "a"}, None, {"x": None, "y": None}],
    pa.struct([("x", pa.int32()), ("y", pa.string())]))  # fmt: skip

LISTS_OF_STRUCTS = pa.array(
    [[{"x": 1, "l": [True]}, None], [], None, [{"x": None, "l": None}, {"x": 5, "l": []}]],
    pa.list_(pa.struct([("x", pa.int64()), ("l", pa.list_(pa.bool_()))])),
)

VECTORS_COLUMNS = pa.array([[1.0, 2.0], [None, 4.0], None, [5.0, None]], pa.list_(pa.float32(), 2))
NESTED_VECTORS = pa.array([[[1, 2], [3, 4]], [None, [5, None]], None],
    pa.list_(pa.list_(pa.int8(), 2), 2))  # fmt: skip

CATEGORIES = pa.array([f"category {i % 7}" for i in range(140)])
DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1, 2], pa.int8()),
    pa.array(["red", "green", "blue"]))  # fmt: skip

_WORDS = ("/index", "/search?q=lance", "/docs/format", "/blog/2024", "/about")
URLS = pa.array(
    [f"https://example.com{_WORDS[i % 5]}/{i * 7919 % 100003}" for i in range(1500)])  # fmt: skip


def small_integers(count: int, type_: pa.DataType, below: int) -> pa.Array:
    """Return `count` integers in 0..`below`."""
    return pa.array(np.random.default_rng(RANDOM_SEED).integers(0, below, count), type_)


def numbered(start: int, end: int) -> pa.Table:
    return pa.table({"a": pa.array(range(start, end), pa.int64())})


def two(start: int, end: int) -> pa.Table:
    return numbered(start, end).append_column("b", pa.array([str(i) for i in range(start, end)]))


def with_column(table: pa.Table, name: str, values: list[object]) -> pa.Table:
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.field(at), pa.array(values, table.field(at).type))


def pairs(values: list[int]) -> pa.Array:
    structs = pa.array([{"a": value} for value in values], pa.struct([("a", pa.int16())]))
    return pa.FixedSizeListArray.from_arrays(structs, 2)


COUNT = 100
"""Rows of a file, more than a reader bridges to read two of them at once."""

FLAGS = pa.array([None if i % 7 == 2 else i % 3 == 0 for i in range(COUNT)])


def take(
    array: pa.Array, version: str, *rows: int, make: Maker | None = None, **options: Any
) -> Request:
    """Return the question of some rows of a file of one column, by the oracle unless `make` is."""
    made = make or file(column(array), version, **options)
    table, args = column(array.take(pa.array(rows))), {"rows": [*map(str, rows)]}
    return Request(lambda: replace(made(), table=table), "read-file", args)


PATHS = [f"http://example.com/path/{i % 17}/index.html?q={i}" for i in range(60)]
PAIR = pa.struct([("a", pa.int32()), ("b", pa.int16())])
PACKED = pa.array([{"a": 1, "b": 2.5, "c": 3}, {"a": -1, "b": -0.0, "c": 255}],
    pa.struct([("a", pa.int16()), ("b", pa.float32()), ("c", pa.uint8())]))  # fmt: skip


def vectors(depth: int) -> pa.Array:
    array = pa.array(np.arange(10 * 2**depth) % 100, pa.int8())
    for _ in range(depth):
        array = pa.FixedSizeListArray.from_arrays(array, 2)
    return array
