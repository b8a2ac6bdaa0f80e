"""Comparison of tables: equal or not, and the first row in which they differ.

Column names and types first, then the number of rows, then values row by row. Chunking is
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

from lance_conformance.accepted import Widened, mismatch
from lance_conformance.equality import differing
from lance_conformance.outside_text import shortened

MAX_SHOWN = 300
"""Characters of one value in a difference."""

MAX_ROWS = 5
"""Rows of a column that are shown."""

MAX_BESIDE = 60
"""Characters of a value of the rows after the first."""

_BESIDE = re.compile(r"  row (\d+): expected (.*), found (.*)")
"""The line of a row after the first."""


def first_difference(
    expected: pa.Table,
    found: pa.Table,
    *,
    order: str = "storage",
    accept_types: Widened | None = None,
) -> str | None:
    """Return how `found` is not `expected`: the first differing row, readable. None: equal."""
    widened = accept_types or {}
    told = mismatch(expected.schema, found.schema, widened)
    if told is not None:
        return told
    if order == "any":
        names = expected.column_names
        expected, found = sorted_rows(expected, names), sorted_rows(found, names)
    if expected.num_rows != found.num_rows:
        return _count_difference(expected, found, widened)
    worst: tuple[int, str] | None = None
    for name, ours, theirs in zip(
        expected.column_names, expected.columns, found.columns, strict=True
    ):
        told_here = _column_difference(name, _whole(ours), _whole(theirs), widened)
        if told_here is not None and (worst is None or told_here[0] < worst[0]):
            worst = told_here
    return None if worst is None else worst[1]


def _count_difference(expected: pa.Table, found: pa.Table, widened: Widened) -> str:
    """Return how many rows there are, and the first that is not in both at its place."""
    told = f"rows: expected {expected.num_rows}, found {found.num_rows}"
    both = min(expected.num_rows, found.num_rows)
    cut = expected.slice(0, both), found.slice(0, both)
    first = first_difference(*cut, accept_types=widened)
    if first is None:
        longer, side = (expected, "expected") if expected.num_rows > both else (found, "found")
        cells = (f"{name}: {shown(longer[name][both])}" for name in longer.column_names)
        first = f"row {both}\n  {side} {', '.join(cells)}"
    return f"{told}\n{first}"


def _column_difference(
    name: str, expected: pa.Array, found: pa.Array, widened: Widened
) -> tuple[int, str] | None:
    if str(found.type) in widened.get(str(expected.type), ()):
        try:
            found = found.cast(expected.type)
        except pa.ArrowInvalid as error:
            return 0, f"column {name}: {found.type} does not fit {expected.type}: {error}"
    rows = np.flatnonzero(differing(expected, found))
    if not len(rows):
        return None
    row = int(rows[0])
    return row, (
        f"column {name}, row {row} ({len(rows)} of {len(expected)} rows differ)\n"
        f"  expected {shown(expected[row])}\n"
        f"  found    {shown(found[row])}"
        + "".join(_beside(int(row), expected, found) for row in rows[1:MAX_ROWS])
    )


def _beside(row: int, expected: pa.Array, found: pa.Array) -> str:
    """Return the line of one more row that differs."""
    ours, theirs = (shortened(shown(column[row]), MAX_BESIDE) for column in (expected, found))
    return f"\n  row {row}: expected {ours}, found {theirs}"


def differing_rows(told: str) -> list[tuple[str, str, str]]:
    """Return row, expected and found value of each row that a difference shows; else nothing."""
    first, *rest = told.split("\n")
    row = re.fullmatch(r"column .*, row (\d+) \(.* differ\)", first)
    if row is None or len(rest) < 2:
        return []
    values = (rest[0].removeprefix("  expected "), rest[1].removeprefix("  found    "))
    others = (_BESIDE.fullmatch(line) for line in rest[2:])
    return [(row[1], *values), *((one[1], one[2], one[3]) for one in others if one)]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return the chunks of a column as one array of plain values."""
    chunks = [_plain(chunk) for chunk in column.chunks] or [_plain(pa.array([], column.type))]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _plain(array: pa.Array) -> pa.Array:
    """Return an array that Arrow can take rows of, and join to others.

    Dictionaries, which differ by chunk, run-ends and views are decoded at any depth.
    """
    type_ = with_leaves(pa.field("", array.type), _plain_type).type
    if type_ == array.type:
        return array
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        return pc.run_end_decode(array)
    nested = array.type.num_fields > 0
    return mapped(array, type_, lambda _, child: _plain(child)) if nested else array.cast(type_)


def _plain_type(leaf: pa.DataType) -> pa.DataType:
    coded = pa.types.is_dictionary(leaf) or pa.types.is_run_end_encoded(leaf)
    return leaf.value_type if coded else without_view(leaf)


def shown(scalar: pa.Scalar, most: int = MAX_SHOWN) -> str:
    """Return a value as text of at most about `most` characters."""
    try:
        text = repr(scalar.as_py())
    except (ValueError, OverflowError, pa.ArrowException):
        text = f"{scalar.type} {scalar.cast(_numbered(scalar.type)).as_py()}"
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def sorted_rows(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the rows of a table sorted by some of its columns."""
    columns = [_listed(_whole(table[name])) for name in names]
    keys = [tuple(_key(column[row]) for column in columns) for row in range(table.num_rows)]
    order = sorted(range(table.num_rows), key=keys.__getitem__)
    if not table.num_columns:
        return table
    joined = pa.Table.from_arrays([*map(_whole, table.columns)], table.column_names)
    return whole_rows(joined).take(pa.array(order, pa.int64()))


def _listed(column: pa.Array) -> list[Any]:
    """Return the values of a column; numbers for moments where Python has no such date or time."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):
        return list(column.cast(_numbered(column.type)).to_pylist())


def _numbered(type_: pa.DataType) -> pa.DataType:
    """Return a type with the integers that are stored in place of moments."""
    return with_leaves(pa.field("", type_), _number).type


def _number(leaf: pa.DataType) -> pa.DataType:
    if not pa.types.is_temporal(leaf):
        return leaf
    return pa.int32() if leaf.bit_width == 32 else pa.int64()


def _key(value: Any) -> tuple[Any, ...]:
    """Return what orders a value among others of its column; a null comes first."""
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value, math.copysign(1, value))
    if isinstance(value, str):
        return (1, value.encode())
    if isinstance(value, dict):
        return (1, *(_key(item) for item in value.values()))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return (1, *(_key(item) for item in value))
    return (1, value)
