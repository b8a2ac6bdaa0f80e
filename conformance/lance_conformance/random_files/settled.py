"""Settled arrays: copies that start at their first row.

A slice shares its parent's buffers from an offset on. pyarrow 26 takes wrong items from slices of
fixed-size lists inside each other, and the oracle's writer panics on slices of some structs: a
campaign that is about bytes compares and writes copies.
"""

from __future__ import annotations

import pyarrow as pa


def settled(table: pa.Table) -> pa.Table:
    """Return the table with every chunk copied; taking rows would not do, joining does."""
    columns = [
        pa.chunked_array(
            [pa.concat_arrays([chunk, chunk.slice(0, 0)]) for chunk in column.chunks], column.type
        )
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)
