"""Paging: the pages of a column one after another, and reads cut along them.

Page boundaries are a column's own: they say nothing about its siblings. The rows (for the columns
below a list: items) of a column are those of its pages in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import MERGE_GAP_BYTES
from lanceref.core.errors import LimitExceeded, Place
from lanceref.core.integers import arrow_array
from lanceref.core.nesting import whole
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.file.column_reader import RUN_BYTES, ColumnReader
from lanceref.file.columns import ColumnMetadata

MAX_GAP_ROWS = 16
"""Unwanted rows that are decoded rather than cutting a range in two."""


class ArrayColumn(ColumnReader, Protocol):
    """A column reader that can be part of a struct or list."""

    @property
    def row_bytes(self) -> float:
        """About how many bytes one row takes when decoded."""


class Paging:
    """Where the pages of a column start."""

    def __init__(self, column: ColumnMetadata) -> None:
        self.column = column
        self.starts = [0]
        for page in column.pages:
            self.starts.append(self.starts[-1] + page.num_rows)

    @property
    def num_rows(self) -> int:
        """Rows of all pages."""
        return self.starts[-1]

    def runs(self, start: int, end: int, run_rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield (page, first row, last row + 1), rows counted in the page, for rows start..end."""
        for page, first in enumerate(self.starts[:-1]):
            low, high = max(start, first) - first, min(end, self.starts[page + 1]) - first
            for at in range(low, high, run_rows):
                yield page, at, min(high, at + run_rows)

    def split(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield (page, rows counted in the page) for each page that holds some of `rows`."""
        cuts = np.searchsorted(rows, np.array(self.starts, dtype=np.int64))
        for page in np.flatnonzero(np.diff(cuts)).tolist():
            yield page, rows[cuts[page] : cuts[page + 1]] - self.starts[page]

    def covering(self, page: int, rows: NDArray[np.int64]) -> RowRanges:
        """Ranges of a page's rows for random access: very near ones are decoded together."""
        metadata = self.column.pages[page]
        stored = sum(extent.size for extent in metadata.extents)
        gap_rows = MERGE_GAP_BYTES * metadata.num_rows // max(1, stored)
        return RowRanges.covering(rows, min(gap_rows, MAX_GAP_ROWS))


def run_rows(row_bytes: float, run_bytes: int = RUN_BYTES) -> int:
    """Rows whose values take about `run_bytes`; whole bytes of bitmaps where there are enough."""
    rows = max(1, int(run_bytes / max(row_bytes, 1 / 8)))
    return rows if rows < 64 else rows // 64 * 64


def distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return ascending `rows` without repeats, and where each stands there (None: no repeats)."""
    fresh = np.diff(rows, prepend=np.int64(-1)) != 0
    if fresh.all():
        return rows, None
    return rows[fresh], np.cumsum(fresh) - 1


def repeat(array: pa.Array, inverse: NDArray[np.int64] | None) -> pa.Array:
    """Undo `distinct`: put the repeats back."""
    return array if inverse is None else whole(array).take(arrow_array(inverse))


def join(arrays: Sequence[pa.Array], type_: pa.DataType, place: Place) -> pa.Array:
    """Put arrays of one type one after another; dictionaries are merged."""
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        return pa.nulls(0, type_)
    try:
        return pa.concat_arrays(arrays)
    except pa.ArrowInvalid as error:
        raise LimitExceeded(
            "L.array.dictionary.key-range", place, found=str(error), wanted=f"one array of {type_}"
        ) from error
