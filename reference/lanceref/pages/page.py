"""Page: what every layout of a page of 2.1 and later offers to its column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanceref.pages.nested import Nested


class Scanned(Protocol):
    """Rows of a leaf that can be read one after the other."""

    num_rows: int

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""


class Page(Scanned, Protocol):
    """One page of a leaf: what every layout offers."""

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows of the page (ascending, each once)."""

    def check(self) -> None:
        """Decode the whole page with every cross-check."""
