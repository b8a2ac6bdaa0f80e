"""Values of a key column as Python objects, by which rows are looked up in dictionaries.

Python has no moments of nanoseconds: they, and other times of that unit, are their counts.
"""

from __future__ import annotations

import pyarrow as pa


def key_values(column: pa.Array | pa.ChunkedArray) -> list[object]:
    """Return the values (n,), None for null, in objects that can be hashed and held equal."""
    if pa.types.is_temporal(column.type) and getattr(column.type, "unit", None) == "ns":
        column = column.cast(pa.int64())
    values: list[object] = column.to_pylist()
    return values
