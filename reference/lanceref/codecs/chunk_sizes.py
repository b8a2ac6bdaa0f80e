"""Chunk sizes: how many values go into a chunk of a mini-block page.

A chunk holds a power of two of values, and its values take less than 8 186 bytes.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.rle_encode import MAX_RUN, starts_of

MAX_CHUNK_BYTES = 8 * 1024 - 6
"""Bytes that the values of a chunk may take."""

MAX_CHUNK_VALUES = 4096
"""Values of a chunk, unless the environment allows more."""

SMALLEST_RUN_CHUNK = 64
"""Fewest values of a chunk of runs that is not the last."""


def max_chunk_values() -> int:
    """Return the most values of a chunk: LANCE_MINIBLOCK_MAX_VALUES or 4 096."""
    return int(os.environ.get("LANCE_MINIBLOCK_MAX_VALUES", MAX_CHUNK_VALUES))


def flat_chunk(word_bytes: int, values_per_word: int) -> int:
    """Return the values of a chunk of words of equal size."""
    values, size, most = 2 if values_per_word == 1 else 8, 2 * word_bytes, max_chunk_values()
    while 2 * size < MAX_CHUNK_BYTES and 2 * values <= most:
        values, size = 2 * values, 2 * size
    return values


def rle_counts(values: Unsigned) -> NDArray[np.int64]:
    """Return the values of each chunk of runs: as many as their runs leave room for."""
    starts, pair_bytes = starts_of(values), values.dtype.itemsize + 1
    counts, at, total, most = [], 0, len(values), max_chunk_values()
    while at < total:
        rest = total - at
        count = rest if rest <= most else most
        while _run_pieces(starts, at, at + count) * pair_bytes > MAX_CHUNK_BYTES:
            count = 1 << (count - 1).bit_length() - 1
        counts.append(count)
        at += count
    return np.array(counts, np.int64)


def _run_pieces(starts: NDArray[np.int64], first: int, last: int) -> int:
    """Return how many lengths of one byte the runs of a window take."""
    inside = starts[np.searchsorted(starts, first, "right") : np.searchsorted(starts, last)]
    lengths = np.diff(np.concatenate([[first], inside, [last]]))
    return int((-(-lengths // MAX_RUN)).sum())
