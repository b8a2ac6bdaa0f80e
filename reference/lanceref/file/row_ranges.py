"""Row ranges: which rows of a page or batch one read decodes, and how many make a run.

A scan reads one range of rows, random access many. Rows that are asked for several times are read
once and repeated afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.integers import arrow_array
from lanceref.core.nesting import whole
from lanceref.file.column_io import RUN_BYTES


@dataclass(frozen=True, slots=True)
class RowRanges:
    """Ascending, disjoint, non-empty half-open ranges of rows."""

    bounds: tuple[tuple[int, int], ...]

    @staticmethod
    def single(start: int, end: int) -> RowRanges:
        """The rows start..end; no range at all when it is empty."""
        return RowRanges(((start, end),) if end > start else ())

    @staticmethod
    def covering(rows: NDArray[np.int64], gap_rows: int) -> RowRanges:
        """Ranges that hold the ascending `rows`, bridging up to `gap_rows` unwanted ones.

        `rows` (n,).
        """
        cuts = np.flatnonzero(np.diff(rows) > gap_rows + 1)
        starts = rows[np.concatenate(([0], cuts + 1))] if len(rows) else rows
        ends = rows[np.concatenate((cuts, [len(rows) - 1]))] + 1 if len(rows) else rows
        return RowRanges(tuple(zip(starts.tolist(), ends.tolist(), strict=True)))

    @property
    def count(self) -> int:
        return sum(end - start for start, end in self.bounds)

    def scaled(self, factor: int) -> RowRanges:
        """The ranges of the items of these rows when each row has `factor` items."""
        if factor == 0:
            return RowRanges(())
        return RowRanges(tuple((start * factor, end * factor) for start, end in self.bounds))

    def positions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where `rows` (n,), each inside a range, lie in the concatenation of the ranges."""
        starts = np.array([start for start, _ in self.bounds], dtype=np.int64)
        sizes = np.array([end - start for start, end in self.bounds], dtype=np.int64)
        before = np.cumsum(sizes) - sizes
        owner = np.searchsorted(starts, rows, side="right") - 1
        return rows - starts[owner] + before[owner]


def run_rows(row_bytes: float, run_bytes: int = RUN_BYTES) -> int:
    """Rows whose values take about `run_bytes`; whole bytes of bitmaps where there are enough."""
    rows = max(1, int(run_bytes / max(row_bytes, 1 / 8)))
    return rows if rows < 64 else rows // 64 * 64


def distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return ascending `rows` without repeats, and the index of each there (None: no repeats).

    `rows` and the index (n,).
    """
    fresh = np.diff(rows, prepend=np.int64(-1)) != 0
    if fresh.all():
        return rows, None
    return rows[fresh], np.cumsum(fresh) - 1


def repeat(array: pa.Array, inverse: NDArray[np.int64] | None) -> pa.Array:
    """Undo `distinct`: put the repeats back. `inverse` (rows,)."""
    return array if inverse is None else whole(array).take(arrow_array(inverse))
