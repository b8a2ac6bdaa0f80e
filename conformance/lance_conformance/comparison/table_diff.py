"""Comparison of tables: equal or not, and the first row in which they differ.

Column names and types are compared first, then the number of rows, then values. Chunking is
irrelevant. With order `any` the rows of both are first sorted by all columns: nulls, then numbers
by value with NaN last and -0.0 before +0.0, text and binary by bytes, nested values item by item.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lanceref.file.schema_view import mapped, whole_rows, with_leaves, without_view

from lance_conformance.comparison.accepted_types import ExtraTypes, schema_difference
from lance_conformance.comparison.array_equality import difference_mask
from lance_conformance.untrusted_text import truncated

MAX_SHOWN = 300
"""Maximum number of characters of a value."""

MAX_ROWS = 5
"""Maximum number of rows of a column that are shown."""

MAX_EXTRA_VALUE = 60
"""Maximum number of characters of a value in rows after the first."""

_EXTRA_ROW = re.compile(r"  row (\d+): expected (.*), found (.*)")
"""Line of a row after the first."""


def first_difference(
    expected: pa.Table,
    found: pa.Table,
    *,
    order: str = "storage",
    accept_types: ExtraTypes | None = None,
) -> str | None:
    """Return a description of the first difference, None for equal tables."""
    widened = accept_types or {}
    difference = schema_difference(expected.schema, found.schema, widened)
    if difference is not None:
        return difference
    if order == "any":
        names = expected.column_names
        expected, found = sort_rows(expected, names), sort_rows(found, names)
    if expected.num_rows != found.num_rows:
        return _count_difference(expected, found, widened)
    first: tuple[int, str] | None = None
    for name, ours, theirs in zip(
        expected.column_names, expected.columns, found.columns, strict=True
    ):
        column_difference = _column_difference(name, _one_array(ours), _one_array(theirs), widened)
        if column_difference is not None and (first is None or column_difference[0] < first[0]):
            first = column_difference
    return None if first is None else first[1]


def _count_difference(expected: pa.Table, found: pa.Table, widened: ExtraTypes) -> str:
    """Return the numbers of rows, and the first row that differs."""
    counts = f"rows: expected {expected.num_rows}, found {found.num_rows}"
    both = min(expected.num_rows, found.num_rows)
    cut = expected.slice(0, both), found.slice(0, both)
    first = first_difference(*cut, accept_types=widened)
    if first is None:
        longer, side = (expected, "expected") if expected.num_rows > both else (found, "found")
        cells = (f"{name}: {format_value(longer[name][both])}" for name in longer.column_names)
        first = f"row {both}\n  {side} {', '.join(cells)}"
    return f"{counts}\n{first}"


def _column_difference(
    name: str, expected: pa.Array, found: pa.Array, widened: ExtraTypes
) -> tuple[int, str] | None:
    if str(found.type) in widened.get(str(expected.type), ()):
        try:
            found = found.cast(expected.type)
        except pa.ArrowInvalid as error:
            return 0, f"column {name}: {found.type} does not fit {expected.type}: {error}"
    rows = np.flatnonzero(difference_mask(expected, found))
    if not len(rows):
        return None
    row = int(rows[0])
    return row, (
        f"column {name}, row {row} ({len(rows)} of {len(expected)} rows differ)\n"
        f"  expected {format_value(expected[row])}\n"
        f"  found    {format_value(found[row])}"
        + "".join(_extra_row_line(int(row), expected, found) for row in rows[1:MAX_ROWS])
    )


def _extra_row_line(row: int, expected: pa.Array, found: pa.Array) -> str:
    """Return the line of a further row that differs."""
    ours, theirs = (
        truncated(format_value(column[row]), MAX_EXTRA_VALUE) for column in (expected, found)
    )
    return f"\n  row {row}: expected {ours}, found {theirs}"


def parse_rows(difference: str) -> list[tuple[str, str, str]]:
    """Return row, expected and found value of each row in the text of a difference."""
    first, *rest = difference.split("\n")
    row = re.fullmatch(r"column .*, row (\d+) \(.* differ\)", first)
    if row is None or len(rest) < 2:
        return []
    values = (rest[0].removeprefix("  expected "), rest[1].removeprefix("  found    "))
    others = (_EXTRA_ROW.fullmatch(line) for line in rest[2:])
    return [(row[1], *values), *((one[1], one[2], one[3]) for one in others if one)]


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return the chunks of a column as one array of plain values."""
    chunks = [_decoded(chunk) for chunk in column.chunks] or [_decoded(pa.array([], column.type))]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _decoded(array: pa.Array) -> pa.Array:
    """Return an array that supports take and concatenation.

    Dictionaries, run-ends and views are decoded at any depth.
    """
    type_ = with_leaves(pa.field("", array.type), _decoded_type).type
    if type_ == array.type:
        return array
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        return pc.run_end_decode(array)
    nested = array.type.num_fields > 0
    return mapped(array, type_, lambda _, child: _decoded(child)) if nested else array.cast(type_)


def _decoded_type(leaf: pa.DataType) -> pa.DataType:
    coded = pa.types.is_dictionary(leaf) or pa.types.is_run_end_encoded(leaf)
    return leaf.value_type if coded else without_view(leaf)


def format_value(scalar: pa.Scalar, most: int = MAX_SHOWN) -> str:
    """Return a value as text of at most about `most` characters."""
    try:
        text = repr(scalar.as_py())
    except (ValueError, OverflowError, pa.ArrowException):
        text = f"{scalar.type} {scalar.cast(_integer_type(scalar.type)).as_py()}"
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def sort_rows(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the rows of a table sorted by some of its columns."""
    columns = [_python_values(_one_array(table[name])) for name in names]
    keys = [tuple(_sort_key(column[row]) for column in columns) for row in range(table.num_rows)]
    order = sorted(range(table.num_rows), key=keys.__getitem__)
    if not table.num_columns:
        return table
    joined = pa.Table.from_arrays([*map(_one_array, table.columns)], table.column_names)
    return whole_rows(joined).take(pa.array(order, pa.int64()))


def _python_values(column: pa.Array) -> list[Any]:
    """Return the values of a column; integers for dates and times out of Python's range."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(_integer_type(column.type)).to_pylist())


def _integer_type(type_: pa.DataType) -> pa.DataType:
    """Return a type with integers in place of temporal types."""
    return with_leaves(pa.field("", type_), _integer_leaf).type


def _integer_leaf(leaf: pa.DataType) -> pa.DataType:
    if not pa.types.is_temporal(leaf):
        return leaf
    return pa.int32() if leaf.bit_width == 32 else pa.int64()


def _sort_key(value: Any) -> tuple[Any, ...]:
    """Return the sort key of a value; nulls come first."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value, math.copysign(1, value))
    if isinstance(value, str):
        return (1, value.encode())
    if isinstance(value, dict):
        return (1, *(_sort_key(item) for item in value.values()))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return (1, *(_sort_key(item) for item in value))
    return (1, value)
