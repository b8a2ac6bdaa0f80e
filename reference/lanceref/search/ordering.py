"""Order of a query's rows.

Rows with the same values keep the order they had; nulls stand last unless asked otherwise, whatever
the direction. Floats stand in their total order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.comparison import total_order
from lanceref.core.compute import pc


@dataclass(frozen=True, slots=True)
class ColumnOrdering:
    """A column to order by."""

    column_name: str
    ascending: bool = True
    nulls_first: bool = False


def ordered(keys: Sequence[pa.Array], orderings: Sequence[ColumnOrdering]) -> NDArray[np.int64]:
    """Return the row numbers in the order of the keys, one for each ordering, the first first."""
    order = np.arange(len(keys[0]) if keys else 0)
    for key, one in reversed(list(zip(keys, orderings, strict=True))):
        values = _comparable(key).take(pa.array(order))
        null = values.is_null().to_numpy(zero_copy_only=False)
        there = np.flatnonzero(~null)
        direction = "ascending" if one.ascending else "descending"
        table = pa.table({"key": values.take(pa.array(there))})
        ranked = there[pc.sort_indices(table, sort_keys=[("key", direction)]).to_numpy()]
        missing = np.flatnonzero(null)
        ends = (missing, ranked) if one.nulls_first else (ranked, missing)
        order = order[np.concatenate(ends)]
    return order


def _comparable(key: pa.Array) -> pa.Array:
    """Return values that Arrow sorts in the order of the key."""
    if isinstance(key, pa.ExtensionArray):
        key = key.storage
    if isinstance(key, pa.DictionaryArray):
        key = key.dictionary_decode()
    return total_order(key) if pa.types.is_floating(key.type) else key
