"""Order of a query's rows.

Rows with the same values keep the order they had; nulls stand last unless asked otherwise, whatever
the direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lanceref.errors import QueryRefused


@dataclass(frozen=True, slots=True)
class ColumnOrdering:
    """A column to order by."""

    column_name: str
    ascending: bool = True
    nulls_first: bool = False


def ordered(table: pa.Table, orderings: Sequence[ColumnOrdering]) -> pa.Table:
    """Return the rows of a table by columns, the first of them first. Raises QueryRefused."""
    order = np.arange(table.num_rows)
    for one in reversed(orderings):
        if one.column_name not in table.schema.names:
            raise QueryRefused(f"Column {one.column_name} not found")
        keys = table[one.column_name].combine_chunks().take(pa.array(order))
        there = keys.is_valid().to_numpy(zero_copy_only=False)
        direction = "ascending" if one.ascending else "descending"
        held = pa.table({"key": keys.filter(pa.array(there))})
        ranks = pc.sort_indices(held, sort_keys=[("key", direction)]).to_numpy()
        parts = [np.flatnonzero(there)[ranks], np.flatnonzero(~there)]
        order = order[np.concatenate(parts[::-1] if one.nulls_first else parts)]
    return table.take(pa.array(order))
