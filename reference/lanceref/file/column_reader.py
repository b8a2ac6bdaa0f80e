"""Column reader: what a field of any file version reads as.

Every version's field tree (array encodings of 2.0, page layouts of 2.1 and later) offers the same
three ways to its rows; the file reader knows nothing else about encodings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

RUN_BYTES = 4 * 2**20
"""Decoded bytes that a scan aims to yield at a time: they fit the cache, and the calls that a run
costs, however short, are few to the megabyte."""


class ColumnReader(Protocol):
    """The rows of one field."""

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the arrays."""

    @property
    def num_rows(self) -> int:
        """Rows of the column."""

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield consecutive arrays that cover rows `start`..`end`, each about RUN_BYTES."""

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows (ascending, may repeat), reading only what they need."""

    def check(self) -> None:
        """Decode everything and run every cross-check, so that findings and spans are complete."""
