"""Words: what the lines of a history may say beside the names of `lance`.

Each takes the module or a dataset of either implementation, so that both follow the same line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from lance_conformance.campaigns.histories.values import rows

__all__ = ["aligned", "rows"]


def aligned(table: Any, key: str, source: pa.Table) -> pa.Table:
    """Return rows to be merged: those with a key that the table has first, in the table's order.

    The oracle writes updated rows in the order of whichever side takes less memory; this way both
    orders are one. Of the rows whose key the table has more than once one stays, and alone.
    """
    own = table.to_table(columns=[key])[key].to_pylist()
    keys = source[key].to_pylist()
    matched = sorted((row for row, one in enumerate(keys) if one in own), key=_place(own, keys))
    others = [row for row, one in enumerate(keys) if one not in own]
    twice = [row for row in matched if own.count(keys[row]) > 1]
    return source.take(np.array([*(twice[:1] or matched), *others], np.int64))


def _place(own: list[object], keys: list[object]) -> Callable[[int], int]:
    return lambda row: own.index(keys[row])
