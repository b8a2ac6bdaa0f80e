"""Unsliced arrays: copies without an offset.

A slice shares the buffers of its parent at an offset. pyarrow 26 takes wrong items from slices of
nested fixed-size lists, and the oracle's writer panics on slices of some structs, so that campaigns
compare and write copies.
"""

from __future__ import annotations

import pyarrow as pa


def unsliced(table: pa.Table) -> pa.Table:
    """Return the table with every chunk copied by concatenation, since `take` keeps offsets."""
    columns = [
        pa.chunked_array(
            [pa.concat_arrays([chunk, chunk.slice(0, 0)]) for chunk in column.chunks], column.type
        )
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)
