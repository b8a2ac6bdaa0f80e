"""Byte runs: many encoded pieces in one buffer, and how they are put together.

A writer of millions of small pieces encodes all that are alike at once and brings them into order
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ByteRuns:
    """Runs of bytes, one behind the other: uint8 [all bytes], and how many each has, int64."""

    data: NDArray[np.uint8]
    sizes: Counts

    @property
    def ends(self) -> Counts:
        """Where the runs begin, and where the last ends: int64 [runs + 1]."""
        return offsets_of(self.sizes)

    def take(self, order: Counts) -> ByteRuns:
        """Return runs by their numbers."""
        sizes = self.sizes[order]
        return ByteRuns(self.data[ranges(self.ends[:-1][order], sizes)], sizes)

    def merged(self, counts: Counts) -> ByteRuns:
        """Return so many runs each time as one."""
        ends = self.ends[offsets_of(counts)]
        return ByteRuns(self.data, np.diff(ends))

    def as_bytes(self) -> list[bytes]:
        """Return each run."""
        data, ends = self.data.tobytes(), self.ends.tolist()
        return [data[start:end] for start, end in pairwise(ends)]


def offsets_of(sizes: Counts) -> Counts:
    """Return where runs of some sizes begin, and where the last ends: int64 [runs + 1]."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def ranges(starts: Counts, sizes: Counts) -> Counts:
    """Return the numbers from each start on, as many as its size says."""
    shifts = starts - offsets_of(sizes)[:-1]
    return np.repeat(shifts, sizes) + np.arange(int(sizes.sum()))


def cut(counts: Counts, size: int) -> tuple[Counts, Counts, Counts]:
    """Cut groups of values that follow each other into runs of at most `size`.

    Returns where runs begin, how many values each has, and the runs of each group.
    """
    runs = -(-counts // size)
    within = np.arange(int(runs.sum())) - np.repeat(offsets_of(runs)[:-1], runs)
    starts = np.repeat(offsets_of(counts)[:-1], runs) + within * size
    return starts, np.minimum(np.repeat(counts, runs) - within * size, size), runs


def of_words(values: NDArray[np.generic]) -> ByteRuns:
    """Return the bytes of each value as they lie in memory."""
    data = np.ascontiguousarray(values).view(np.uint8)
    return ByteRuns(data, np.full(len(values), values.itemsize, np.int64))


def joined(parts: Sequence[ByteRuns]) -> ByteRuns:
    """Return the runs of all parts, those of the first in front."""
    data = np.concatenate([part.data for part in parts])
    return ByteRuns(data, np.concatenate([part.sizes for part in parts]))


def beside(*parts: ByteRuns) -> ByteRuns:
    """Return runs that hold the bytes of the first part, then of the second, and so on."""
    number, rows = len(parts), len(parts[0].sizes)
    order = np.arange(number * rows).reshape(number, rows).T.reshape(-1)
    return joined(parts).take(order).merged(np.full(rows, number, np.int64))


def placed(parts: Sequence[ByteRuns], places: Sequence[Counts]) -> ByteRuns:
    """Return the runs of all parts in the order of the places given for each."""
    order = np.argsort(np.concatenate(places), kind="stable")
    return joined(parts).take(order)
