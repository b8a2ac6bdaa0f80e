"""Offsets: where the strings or lists of several pieces begin and end.

A piece of n rows has n + 1 offsets; those of several pieces stand one after another and say nothing
about each other.

Clauses: L.legacy.binary.ascending, L.legacy.list.ascending
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.file_0_1.batch_ranges import Numbers, Pieces, gather
from lanceref.file_0_1.page_table import Pages

GAP_BYTES = 1024
"""Offsets closer than this are fetched by one request."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """First and last offset of each piece, shape (pieces,), and the length of every row."""

    firsts: Numbers
    lasts: Numbers
    lengths: Numbers

    def ends(self) -> Numbers:
        """Return the offsets of all rows put one after another, from 0, shape (rows + 1,)."""
        ends = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(self.lengths, out=ends[1:])
        return ends


def read_offsets(file: FileBytes, pages: Pages, pieces: Pieces, dtype: str, clause: str) -> Offsets:
    """Read the offsets of the pieces, which must rise inside each piece."""
    width = np.dtype(dtype).itemsize
    starts = pages.positions[pieces.batches] + pieces.starts * width
    counts = pieces.counts + 1
    named = ("offsets", clause, f"offsets i{8 * width}")
    raw = gather(file, starts, counts * width, named, GAP_BYTES)
    stored = raw.view(dtype)
    cuts = np.cumsum(counts)
    lengths = np.diff(stored)
    if len(counts) > 1:  # from the last offset of a piece to the first of the next
        lengths = np.delete(lengths, cuts[:-1] - 1)
    if bool((lengths < 0).any()):
        row = int(np.argmax(lengths < 0))
        piece = int(np.searchsorted(np.cumsum(pieces.counts), row, side="right"))
        raise CorruptPage(
            clause,
            file.ctx.at(int(starts[piece]), int(counts[piece]) * width),
            found="offsets that fall",
            wanted="offsets that rise or stay",
        )
    return Offsets(
        stored[cuts - counts].astype(np.int64),
        stored[cuts - 1].astype(np.int64),
        lengths.astype(np.int64, copy=False),
    )
