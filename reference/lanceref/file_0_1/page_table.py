"""Page table: where the pages of every field lie, and ranges of their rows.

A matrix of pairs, one row for each integer from the least field id of the file to the greatest with
a page, one column for each batch; structs and ids without a field are pairs of zeros. A page holds
the rows of one batch, and every encoding of 0.1 can be read from any row on: a read is a list of
ranges, each inside one batch, whose bytes are concatenated; below a list they count items.

Layout: i64 position, i64 length; the length counts rows or items, for lists offsets: one more.

Clauses: L.legacy.page-table.extent, L.legacy.page-table.range, L.legacy.page-table.length,
L.legacy.page-table.holes, L.legacy.page-table.first-id, L.legacy.limits.run,
L.legacy.binary.ascending, L.legacy.list.ascending

Divergences: D.legacy.struct-runs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Bytes, Ints, join_pieces
from lanceref.core.cursor import MERGE_GAP_BYTES, Extent, FileBytes, read_extents
from lanceref.core.errors import CorruptPage, OutOfRange, Place

PAIR_BYTES = 16
"""Size of one pair."""

ALIGNMENT = 16
"""Alignment of the widest values in memory; pages of a file have none."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one field by batch: absolute positions and lengths, each of shape (batches,).

    Pages end at `data_end`; `place` is where the pairs lie.
    """

    positions: Ints
    lengths: Ints
    data_end: int
    place: Place

    def require(self, lengths: Ints | None, bits: int, tail_bytes: int = 0) -> None:
        """Check that pages of `bits` a value, with `tail_bytes` more, lie before `data_end`.

        With `lengths` (batches,) each page must have just that many values. Raises OutOfRange.
        """
        most = self.data_end * 8 // bits if bits else np.iinfo(np.int64).max
        wrong = self.lengths < 0 if lengths is None else self.lengths != lengths
        if wrong.any():
            batch = int(np.argmax(wrong))
            found = f"length {self.lengths[batch]} in batch {batch}"
            wanted = "0 or more" if lengths is None else int(lengths[batch])
            raise OutOfRange("L.legacy.page-table.length", self.place, found, wanted)
        fitting = np.minimum(self.lengths, most)
        sizes = (fitting * min(bits, self.data_end * 8) + 7) // 8 + tail_bytes
        low, high = self.positions < 0, self.positions > self.data_end
        wrong = low | high | (self.lengths > most) | (sizes > self.data_end - self.positions)
        if wrong.any():
            batch = int(np.argmax(wrong))
            found = f"{self.lengths[batch]} values of {bits} bits at {self.positions[batch]}"
            wanted = f"a page inside bytes 0 to {self.data_end}"
            raise OutOfRange("L.legacy.page-table.range", self.place, found, wanted)


@dataclass(frozen=True, slots=True)
class PageTable:
    """A parsed table: `pairs` has shape (fields, batches, 2); pages end at `data_end`."""

    pairs: Ints
    first_id: int
    extent: Extent
    data_end: int
    file: FileBytes

    @property
    def place(self) -> Place:
        return self.file.ctx.at(self.extent.offset, self.extent.size)

    @property
    def last_id(self) -> int:
        """The greatest field id with a row of the table."""
        return self.first_id + len(self.pairs) - 1

    def pages(self, field_id: int) -> Pages | None:
        """Return the pages of a field, None when the table has no row for it."""
        row = field_id - self.first_id
        if not 0 <= row < len(self.pairs):
            return None
        size = int(self.pairs.shape[1]) * PAIR_BYTES
        place = self.file.ctx.at(self.extent.offset + row * size, size)
        return Pages(self.pairs[row, :, 0], self.pairs[row, :, 1], self.data_end, place)

    def lint_holes(self, holes: set[int]) -> None:
        """Lint: rows of structs and of ids without a field are zeros."""
        for field_id in range(self.first_id, self.last_id + 1):
            pages = self.pages(field_id)
            if field_id in holes and pages and (pages.positions.any() or pages.lengths.any()):
                clause, found = "L.legacy.page-table.holes", f"pages for id {field_id}"
                self.file.ctx.lint(clause, pages.place, found, "zeros")


def parse_page_table(
    file: FileBytes, position: int, ids: tuple[int, int], num_batches: int, table_end: int
) -> PageTable:
    """Parse the table for the ids `first` to `last`, which ends by `table_end`. Raises OutOfRange.

    The pages it lists end where it begins.
    """
    (first, last), clause = ids, "L.legacy.page-table.extent"
    extent = Extent(position, (last - first + 1) * num_batches * PAIR_BYTES)
    if extent.end > table_end:
        place = file.ctx.at(min(position, file.size), 0)
        found = f"a page table of {extent.size} bytes at {position}"
        raise OutOfRange(clause, place, found, f"a table before {table_end}")
    cursor, count = file.cursor(extent, "page table", clause), 2 * num_batches
    with file.ctx.group("page table"):
        names = [f"pages of id {field_id}" for field_id in range(first, last + 1)]
        rows = [cursor.array("<i8", count, name, clause, "pages i64") for name in names]
    pairs = np.concatenate(rows).astype(np.int64).reshape(len(rows), num_batches, 2)
    return PageTable(pairs, first, extent, position, file)


@dataclass(frozen=True, slots=True)
class BatchRanges:
    """Rows starts..ends of batches, each array of shape (ranges,)."""

    batches: Ints
    starts: Ints
    ends: Ints

    @property
    def counts(self) -> Ints:
        return self.ends - self.starts

    @property
    def num_rows(self) -> int:
        return int(self.counts.sum())

    def filled(self) -> BatchRanges:
        """Return the ranges without those that have no rows."""
        some = self.ends > self.starts
        return BatchRanges(self.batches[some], self.starts[some], self.ends[some])

    @staticmethod
    def whole(batch: int, num_rows: int) -> BatchRanges:
        """Return the one range that is all rows of a batch."""
        return BatchRanges(np.array([batch]), np.zeros(1, np.int64), np.array([num_rows]))


@dataclass(frozen=True, slots=True)
class Node:
    """One field of the type tree with its pages: Arrow type, and about how many bytes a row takes.

    `lengths` (batches,) are the rows by batch as the pages say, None when there is no page. `read`
    returns the rows of ranges, in their order.
    """

    type: pa.DataType
    row_bytes: float
    lengths: Ints | None
    read: Callable[[BatchRanges], pa.Array]


def cut_at_batches(batch_offsets: Ints, bounds: Ints) -> BatchRanges:
    """Return the parts of batches that ranges of a file's rows consist of.

    `batch_offsets` (batches + 1,); `bounds` (ranges, 2), the first row of each and the one after
    its last.
    """
    first = np.searchsorted(batch_offsets, bounds[:, 0], side="right") - 1
    last = np.searchsorted(batch_offsets, bounds[:, 1] - 1, side="right") - 1
    touched = last - first + 1
    owner = np.repeat(np.arange(len(bounds)), touched)
    batches = first[owner] + np.arange(len(owner)) - (np.cumsum(touched) - touched)[owner]
    before, after = batch_offsets[batches], batch_offsets[batches + 1]
    starts, ends = np.maximum(before, bounds[owner, 0]), np.minimum(after, bounds[owner, 1])
    return BatchRanges(batches, starts - before, ends - before)


def gather(
    file: FileBytes,
    offsets: Ints,
    sizes: Ints,
    named: tuple[str, str, str],
    gap_bytes: int = MERGE_GAP_BYTES,
) -> Bytes:
    """Read byte ranges one after another: uint8 (sum of sizes,).

    `named` gives what the bytes are, the clause that bounds them, and their kind in spans.
    Those that are no more than `gap_bytes` apart share a request. `offsets` and `sizes` (n,).
    Raises LimitExceeded, Truncated.
    """
    (name, clause, kind), total = named, int(sizes.sum())
    if total:
        place = file.ctx.at(int(offsets[0]), int(sizes[0]))
        file.bound_output(total, "L.legacy.limits.run", place, name)
    if file.ctx.spans is not None:
        for start, size in zip(offsets.tolist(), sizes.tolist(), strict=True):
            file.ctx.leaf(start, start + size, name, kind, clause)
    some = sizes > 0
    starts, filled = offsets[some], sizes[some]
    data, at = read_extents(file, starts, filled, name, clause, gap_bytes)
    if (at[1:] == (at + filled)[:-1]).all():  # not copied, unless values are not aligned
        data = data[int(at[0]) : int(at[0]) + total] if total else data[:0]
        return data if data.ctypes.data % ALIGNMENT == 0 else data.copy()
    return join_pieces(data, at, at + filled)


@dataclass(frozen=True, slots=True)
class Offsets:
    """First and last offset of each range, shape (ranges,), and the length of every row."""

    firsts: Ints
    lasts: Ints
    lengths: Ints

    def ends(self) -> Ints:
        """Return the offsets of all rows put one after another, from 0, shape (rows + 1,)."""
        return np.append(0, np.cumsum(self.lengths))


def read_offsets(
    file: FileBytes, pages: Pages, ranges: BatchRanges, dtype: str, clause: str
) -> Offsets:
    """Read the offsets of the ranges, n + 1 for n rows; they must rise inside each range.

    The result is (rows + ranges,). Raises CorruptPage.
    """
    width = np.dtype(dtype).itemsize
    starts = pages.positions[ranges.batches] + ranges.starts * width
    counts = ranges.counts + 1
    named = ("offsets", clause, f"offsets i{8 * width}")
    stored = gather(file, starts, counts * width, named).view(dtype)
    cuts = np.cumsum(counts)
    lengths = np.diff(stored)
    if len(counts) > 1:  # from the last offset of a range to the first of the next
        lengths = np.delete(lengths, cuts[:-1] - 1)
    if bool((lengths < 0).any()):
        row = int(np.argmax(lengths < 0))
        number = int(np.searchsorted(np.cumsum(ranges.counts), row, side="right"))
        place = file.ctx.at(int(starts[number]), int(counts[number]) * width)
        raise CorruptPage(clause, place, "offsets that fall", "rising offsets")
    firsts, lasts = stored[cuts - counts].astype(np.int64), stored[cuts - 1].astype(np.int64)
    return Offsets(firsts, lasts, lengths.astype(np.int64, copy=False))
