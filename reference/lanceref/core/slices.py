"""Slices that pyarrow 26 cannot take from.

`take` and `filter` give wrong items, and some from behind the memory, where fixed-size lists inside
each other begin at an offset above 0, also below structs and lists that begin at 0. Such arrays are
copied before anything is taken from them.
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa

from lanceref.core.nesting import children_of

R = TypeVar("R", pa.Table, pa.RecordBatch)


def whole(array: pa.Array) -> pa.Array:
    """Return `array`, as a copy from offset 0 when pyarrow would take wrong items from it."""
    if nests_fixed_size_lists(array.type) and _is_cut(array):
        return pa.concat_arrays([array, array.slice(0, 0)])
    return array


def whole_rows(rows: R) -> R:
    """Return rows of which pyarrow takes the right ones: the same, or with columns copied."""
    if not any(map(nests_fixed_size_lists, rows.schema.types)):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.RecordBatch.from_arrays([*map(whole, rows.columns)], schema=rows.schema)
    return pa.Table.from_arrays([*map(_whole_parts, rows.columns)], schema=rows.schema)


def _whole_parts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([*map(whole, column.chunks)], column.type)


def nests_fixed_size_lists(type_: pa.DataType, inside: bool = False) -> bool:
    """Whether fixed-size lists stand inside each other somewhere in the type."""
    if pa.types.is_fixed_size_list(type_):
        return inside or nests_fixed_size_lists(type_.value_type, inside=True)
    return any(nests_fixed_size_lists(type_.field(i).type, inside) for i in range(type_.num_fields))


def _is_cut(array: pa.Array) -> bool:
    """Whether the array, or any below it, begins at an offset."""
    if isinstance(array, pa.ExtensionArray):
        return _is_cut(array.storage)
    return bool(array.offset) or any(map(_is_cut, children_of(array)))
