"""Matching: which rows of a source are rows of a table, by the values of key columns.

A key with a null matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.integers import difference
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling

TARGET, SOURCE = "__target", "__source"

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of live row positions of the table and rows of the source, by rising position.

    `unmatched_source` and `unmatched_target` are the others, ascending.
    """

    target: Numbers
    source: Numbers
    unmatched_source: Numbers
    unmatched_target: Numbers


def match(snapshot: Snapshot, source: pa.Table, keys: Sequence[str]) -> Matching:
    """Find the pairs."""
    own = _target_keys(snapshot, keys)
    theirs = source.select(list(keys)).append_column(SOURCE, pa.array(np.arange(len(source))))
    own = own.append_column(TARGET, pa.array(np.arange(len(own))))
    pairs = own.join(_comparable(theirs, keys), list(keys), join_type="inner").sort_by(TARGET)
    target, matched = (pairs[name].to_numpy() for name in (TARGET, SOURCE))
    return Matching(
        target,
        matched,
        difference(np.arange(len(source)), matched),
        difference(np.arange(len(own)), target),
    )


def _target_keys(snapshot: Snapshot, keys: Sequence[str]) -> pa.Table:
    projection = scan_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), list(keys))
    end = sum(rows.num_rows for rows in snapshot.fragments)
    batches = snapshot.scan(snapshot.fragments, projection, 1 << 16, 0, end)
    return _comparable(pa.Table.from_batches(batches, schema=projection.schema), keys)


def _comparable(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the table with its keys in types that are joined."""
    for name in keys:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.float64())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table
