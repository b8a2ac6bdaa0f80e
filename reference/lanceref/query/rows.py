"""Rows of a query: where the rows lie that a filter asks for, and how they are read.

The columns of the filter are read first, run by run. Of the others only the rows are read that
passed, one by one where they are few, else by a scan that leaves the others out.

Clauses: L.table.deletions.applied
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.projection import Projection, scan_projection
from lanceref.query.filter import Filter, bind_filter
from lanceref.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows

RUN_ROWS = 1 << 16
"""Rows of a fragment that a filter looks at together."""

FEW = 16
"""Rows are taken one by one when at least this many times as many do not pass."""

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter, and how its columns are read."""

    filter: Filter
    projection: Projection

    def positions(self, rows: FragmentRows) -> Positions:
        """Return the live rows of a fragment that pass, ascending."""
        found, start = [np.empty(0, np.int64)], 0
        scan = rows.scan(self.projection.fields, self.projection.system, RUN_ROWS, 0, rows.num_rows)
        for count, arrays in scan:
            mask = self.filter.mask(self.projection.batch(count, arrays))
            found.append(np.flatnonzero(mask) + start)
            start += count
        return np.concatenate(found)


def condition(snapshot: Snapshot, given: object) -> Condition:
    """Bind a filter, SQL or an Arrow expression, to a table. Raises QueryRefused, TypeError."""
    schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
    system = [pa.field(name, pa.uint64()) for name in SYSTEM_COLUMNS]
    found = bind_filter(given, pa.schema([*schema.arrow, *system]))
    own = [name for name in found.columns if name not in SYSTEM_COLUMNS]
    extra = [name for name in found.columns if name in SYSTEM_COLUMNS]
    return Condition(found, scan_projection(schema, own, extra))


def chosen_rows(
    fragments: Sequence[FragmentRows], wanted: Condition, offset: int, limit: int | None
) -> Iterator[tuple[FragmentRows, Positions]]:
    """Yield fragments and which of their live rows are asked for, until there are enough."""
    left = limit
    for rows in fragments:
        if left == 0:
            return
        found = wanted.positions(rows)
        skipped = min(offset, len(found))
        offset -= skipped
        found = found[skipped:] if left is None else found[skipped : skipped + left]
        left = None if left is None else left - len(found)
        if len(found):
            yield rows, found


def read_rows(
    rows: FragmentRows, positions: Positions, projection: Projection, batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the live rows of a fragment at ascending positions."""
    if len(positions) * FEW < rows.num_rows:
        for start in range(0, len(positions), batch_size):
            part = positions[start : start + batch_size]
            arrays = rows.take(part, projection.fields, projection.system)
            yield projection.batch(len(part), arrays)
        return
    first, end = int(positions[0]), int(positions[-1]) + 1
    mask = np.zeros(end - first, np.bool_)
    mask[positions - first] = True
    at = 0
    for count, arrays in rows.scan(projection.fields, projection.system, batch_size, first, end):
        kept = mask[at : at + count]
        at += count
        if kept.all():
            yield projection.batch(count, arrays)
        elif kept.any():
            yield projection.batch(count, arrays).filter(pa.array(kept))
