"""Row ranges: which rows of a page a read wants.

A scan wants one range, random access wants many. Both are lists of ascending, disjoint ranges, so
that every encoding has one way to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
        """Ranges that hold the ascending `rows`, bridging up to `gap_rows` unwanted ones."""
        cuts = np.flatnonzero(np.diff(rows) > gap_rows + 1)
        starts = rows[np.concatenate(([0], cuts + 1))] if len(rows) else rows
        ends = rows[np.concatenate((cuts, [len(rows) - 1]))] + 1 if len(rows) else rows
        return RowRanges(tuple(zip(starts.tolist(), ends.tolist(), strict=True)))

    @property
    def count(self) -> int:
        """Rows in all ranges."""
        return sum(end - start for start, end in self.bounds)

    def scaled(self, factor: int) -> RowRanges:
        """The ranges of the items of these rows when each row has `factor` items."""
        if factor == 0:
            return RowRanges(())
        return RowRanges(tuple((start * factor, end * factor) for start, end in self.bounds))

    def positions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where `rows`, each inside a range, stand when the ranges are put one after another."""
        starts = np.array([start for start, _ in self.bounds], dtype=np.int64)
        sizes = np.array([end - start for start, end in self.bounds], dtype=np.int64)
        before = np.cumsum(sizes) - sizes
        owner = np.searchsorted(starts, rows, side="right") - 1
        return rows - starts[owner] + before[owner]
