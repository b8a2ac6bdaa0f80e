"""Near rows: pairs of rows of a partition whose distance is at most a threshold.

The distance is that between what the codes of both rows stand for. Pairs come in the order of other
readers: rows are cut into batches, each batch is held against itself and those behind it, so many
of its rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanceref.index.vector.storage import Stored
from lanceref.kernels.distance import Floats, Metric
from lanceref.kernels.near_pairs import Block, between, block, seem_near

MOST_ROWS = 8192
"""Rows of a batch."""

LEAST_ROWS = 32
"""The same of very wide rows; so many rows of a batch are held against another at once."""

BATCH_BYTES = 1 << 24
"""Bytes that a batch has at most: it has fewer rows, a power of two, where these are wide."""

ROW_BYTES = 16
"""Bytes of the id and the place of a row, which count too."""

LENGTH_BYTES = 8
"""Bytes of the length of a row, which counts for the cosine."""

PAIR_VALUES = 1 << 17
"""Numbers of rows whose distances are computed at once."""

Rows = NDArray[np.int64]


def batch_rows(stored: Stored, metric: Metric) -> int:
    """Return how many rows a batch has."""
    row_bytes = stored.code_bytes + ROW_BYTES + LENGTH_BYTES * (metric == "cosine")
    fit = max(LEAST_ROWS, min(MOST_ROWS, BATCH_BYTES // row_bytes))
    return 1 << (fit.bit_length() - 1)


@dataclass(frozen=True, slots=True)
class NearRows:
    """What is asked of a partition."""

    stored: Stored
    metric: Metric
    threshold: np.float32

    def pairs(self, kept: Rows) -> Iterator[tuple[Rows, Rows, Floats]]:
        """Yield pairs of rows that are `kept`, ascending, and their distances: each [p], p > 0."""
        numbers = kept // batch_rows(self.stored, self.metric)
        batches = np.split(kept, np.flatnonzero(np.diff(numbers)) + 1)
        for number, left in enumerate(batches):
            held = self._block(left)
            for right in batches[number:]:
                yield from self._tile(left, held, right, held if right is left else None)

    def _block(self, rows: Rows) -> Block:
        return block(self.stored.decoded(rows), self.metric)

    def _tile(
        self, left: Rows, held: Block, right: Rows, against: Block | None
    ) -> Iterator[tuple[Rows, Rows, Floats]]:
        """Yield the pairs of two batches, or of one."""
        against = self._block(right) if against is None else against
        cuts = np.flatnonzero(np.diff(left // LEAST_ROWS)) + 1
        for start, end in pairwise([0, *cuts, len(left)]):
            near = seem_near(held.part(start, end), against, self.metric, self.threshold)
            one, other = np.nonzero(near)
            one, other = left[start:end][one], right[other]
            later = one < other
            found = self._near(one[later], other[later])
            if len(found[0]):
                yield found

    def _near(self, one: Rows, other: Rows) -> tuple[Rows, Rows, Floats]:
        """Return those pairs that are near, and their distances."""
        found = np.empty(len(one), np.float32)
        step = max(1, PAIR_VALUES // max(1, self.stored.code_bytes))
        for start in range(0, len(one), step):
            pairs = slice(start, start + step)
            lefts, rights = self.stored.decoded(one[pairs]), self.stored.decoded(other[pairs])
            found[pairs] = between(lefts, rights, self.metric)
        with np.errstate(invalid="ignore"):
            kept = np.isfinite(found) & (found <= self.threshold)
        return one[kept], other[kept], found[kept]
