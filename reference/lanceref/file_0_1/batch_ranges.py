"""Pieces: the rows of batches that a read wants, and their bytes put one after another.

A page holds the rows of one batch, and every encoding of 0.1 can be read from any row on. A read is
therefore a list of ranges, each inside one batch; below a list they count items.

Clauses: L.legacy.limits.run

Offsets: where the strings or lists of several pieces begin and end.

A piece of n rows has n + 1 offsets; those of several pieces stand one after another and say nothing
about each other.

Clauses: L.legacy.binary.ascending, L.legacy.list.ascending
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunks import join_pieces
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, Truncated
from lanceref.encodings_2_0.page import RowRanges
from lanceref.file_0_1.page_table import Pages

Numbers = NDArray[np.int64]

ALIGNMENT = 16
"""Alignment of the widest values in memory; pages of a file have none."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Rows starts..ends of batches, each array of shape (pieces,)."""

    batches: Numbers
    starts: Numbers
    ends: Numbers

    @property
    def counts(self) -> Numbers:
        """Rows of each piece."""
        return self.ends - self.starts

    @property
    def num_rows(self) -> int:
        """Rows of all pieces."""
        return int(self.counts.sum())

    def filled(self) -> Pieces:
        """Return the pieces that have rows."""
        some = self.ends > self.starts
        return Pieces(self.batches[some], self.starts[some], self.ends[some])

    @staticmethod
    def whole(batch: int, num_rows: int) -> Pieces:
        """Return the one piece that is all rows of a batch."""
        return Pieces(np.array([batch]), np.zeros(1, np.int64), np.array([num_rows]))


class Node(Protocol):
    """One field of the type tree with its pages."""

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the arrays."""

    @property
    def row_bytes(self) -> float:
        """About how many bytes a row takes."""

    @property
    def lengths(self) -> Numbers | None:
        """Rows by batch as the pages say, shape (batches,); None when there is no page."""

    def read(self, pieces: Pieces) -> pa.Array:
        """Return the rows of the pieces, in their order."""


def cut(batch_offsets: Numbers, rows: RowRanges) -> Pieces:
    """Return the pieces that ranges of a file's rows make."""
    bounds = np.array(rows.bounds, np.int64).reshape(-1, 2)
    first = np.searchsorted(batch_offsets, bounds[:, 0], side="right") - 1
    last = np.searchsorted(batch_offsets, bounds[:, 1] - 1, side="right") - 1
    touched = last - first + 1
    owner = np.repeat(np.arange(len(bounds)), touched)
    batches = first[owner] + np.arange(len(owner)) - (np.cumsum(touched) - touched)[owner]
    before, after = batch_offsets[batches], batch_offsets[batches + 1]
    starts, ends = np.maximum(before, bounds[owner, 0]), np.minimum(after, bounds[owner, 1])
    return Pieces(batches, starts - before, ends - before)


def gather(
    file: FileBytes,
    offsets: Numbers,
    sizes: Numbers,
    named: tuple[str, str, str],
    gap: int,
) -> NDArray[np.uint8]:
    """Read byte ranges one after another; neighbours are one request and not copied.

    Those that are no more than `gap` bytes apart share a request too. `named` gives what the bytes
    are, the clause that bounds them, and their kind in spans.
    """
    (name, clause, kind), total = named, int(sizes.sum())
    limit = file.ctx.limits.expanded(file.size)
    if total > limit:
        raise LimitExceeded(
            "L.legacy.limits.run",
            file.ctx.at(int(offsets[0]), int(sizes[0])),
            found=f"a run of {total} bytes of {name}",
            wanted=f"at most {limit}",
        )
    if file.ctx.spans is not None:
        for start, size in zip(offsets.tolist(), sizes.tolist(), strict=True):
            file.ctx.leaf(start, start + size, name, kind, clause)
    extents = _merged(offsets, sizes)
    if len(extents) == 1:
        return _aligned(np.frombuffer(file.cursor(extents[0], name, clause).data, np.uint8))
    some = sizes > 0
    between = offsets[some][1:] - (offsets + sizes)[some][:-1]
    if ((between > 0) & (between <= gap)).any():
        data, at = file.gather(offsets[some], sizes[some], name, clause, gap)
        return join_pieces(data, at, at + sizes[some])
    for extent in extents:
        file.bound(extent, name, clause)
    # pages are small: what a cursor costs would count
    parts = file.source.read_many([one[0] for one in extents], [one[1] for one in extents])
    for (offset, size), part in zip(extents, parts, strict=True):
        if len(part) != size:
            raise Truncated(
                clause,
                file.ctx.at(offset, size),
                found=f"{len(part)} bytes",
                wanted=f"{size} bytes of {name}",
            )
    return np.frombuffer(b"".join(parts), np.uint8)


def _merged(offsets: Numbers, sizes: Numbers) -> list[Extent]:
    """Join ranges that follow each other without a gap; empty ones vanish."""
    some = sizes > 0
    starts, ends = offsets[some], (offsets + sizes)[some]
    if not len(starts):
        return []
    fresh = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    firsts = starts[np.concatenate(([0], fresh))]
    lasts = ends[np.concatenate((fresh - 1, [len(ends) - 1]))]
    return [Extent(a, b - a) for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True)]


def _aligned(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes at an address that suits any value."""
    return data if data.ctypes.data % ALIGNMENT == 0 else data.copy()


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
