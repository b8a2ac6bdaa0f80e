"""End offsets: where each row's bytes or items end, with the nulls among them.

Strings and lists share this form: one u64 for each row, cumulative from the start of the page, with
no leading 0. A null row stores its end plus an adjustment that is larger than every end. The words
are flat values, the first buffer of the page.

Layout: u64 words; v >= adjustment: null, ends at v - adjustment; else ends at v.
Example: null, "foo", "foo", null with adjustment 7 is stored as 7, 3, 6, 13.

Clauses: L.array.ends.width, L.array.ends.order, L.array.ends.bound, L.array.ends.null-adjustment
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, OutOfRange, Place, expect
from lanceref.encodings_2_0.flat import FlatValues, RawFlat, bare_flat, open_flat
from lanceref.encodings_2_0.nullable import PageBuffers, no_nulls
from lanceref.encodings_2_0.page import Page, RowRanges
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding


@dataclass(frozen=True, slots=True)
class Slices:
    """What each row of some ranges owns.

    `lengths` int64 and `nulls` bool, one for each row; `bounds`, one (start, end) for each range of
    rows: the bytes or items that its rows own together, back to back.
    """

    lengths: NDArray[np.int64]
    nulls: NDArray[np.bool_]
    bounds: tuple[tuple[int, int], ...]

    def offsets(self) -> NDArray[np.int64]:
        """Return where the rows start when the ranges are concatenated, and the final end."""
        offsets = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        return offsets

    def starts(self, rows: RowRanges) -> NDArray[np.int64]:
        """Return where each row of `rows`, the ranges these slices belong to, starts."""
        counts = np.array([end - start for start, end in rows.bounds])
        firsts = np.array([start for start, _ in self.bounds], dtype=np.int64)
        before = self.offsets()[:-1]
        heads = np.cumsum(counts) - counts
        starts: NDArray[np.int64] = before + np.repeat(firsts - before[heads], counts)
        return starts


@dataclass(frozen=True, slots=True)
class Ends:
    """The end offsets of a page of `num_rows` rows."""

    page: Page
    extent: Extent
    words: FlatValues
    adjustment: int
    num_rows: int

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents of the words; each range needs the end before its first row too."""
        return self.words.plan(_with_previous(rows))

    def decode(self, rows: RowRanges, parts: Iterator[Cursor], limit: int) -> Slices:
        """Return what the rows own; no end may lie beyond `limit`."""
        stored = self.words.data(_with_previous(rows), parts).view("<u8")
        if not rows.bounds:
            return Slices(np.empty(0, np.int64), np.empty(0, np.bool_), ())
        nulls = stored >= np.uint64(self.adjustment)
        ends = stored - nulls * np.uint64(self.adjustment) if nulls.any() else stored
        self._check_bounds(ends, rows, limit)
        signed = ends.astype(np.int64, copy=False)
        if rows.bounds[0][0] == 0:
            signed, nulls = np.insert(signed, 0, 0), np.insert(nulls, 0, False)
        sizes = np.array([end - start + 1 for start, end in rows.bounds])
        lasts = np.cumsum(sizes) - 1
        heads = lasts - sizes + 1
        lengths, nulls = signed[1:] - signed[:-1], nulls[1:]
        if len(heads) > 1:
            lengths, nulls = np.delete(lengths, heads[1:] - 1), np.delete(nulls, heads[1:] - 1)
        if len(lengths) and lengths.min() < 0:
            at = int(np.flatnonzero(lengths < 0)[0])
            place, found = self._row_place(at, rows), f"an end {-int(lengths[at])} lower"
            raise CorruptPage("L.array.ends.order", place, found, "ends that never decrease")
        bounds = zip(signed[heads].tolist(), signed[lasts].tolist(), strict=True)
        return Slices(lengths, nulls, tuple(bounds))

    def last(self) -> int:
        """Read the end of the page's last row; 0 for a page without rows."""
        if self.num_rows == 0:
            return 0
        row = RowRanges.single(self.num_rows - 1, self.num_rows)
        parts = self.page.file.cursors(self.words.plan(row), "last end", "L.array.ends.order")
        if isinstance(self.words, RawFlat):  # the span belongs to the read of the rows
            word = int.from_bytes(parts[0].data, "little")
        else:
            word = int(self.words.data(row, iter(parts)).view("<u8")[0])
        return word - self.adjustment if word >= self.adjustment else word

    def _check_bounds(self, ends: NDArray[np.uint64], rows: RowRanges, limit: int) -> None:
        largest = int(ends.max()) if len(ends) else 0
        if largest > limit:
            place = self._row_place(int(ends.argmax()), _with_previous(rows))
            found, wanted = f"an end at {largest}", f"at most {limit}"
            raise OutOfRange("L.array.ends.bound", place, found, wanted)
        if len(ends) and largest >= self.adjustment:
            clause, wanted = "L.array.ends.null-adjustment", f"more than {largest}"
            raise CorruptPage(clause, self.page.place, self.adjustment, wanted)

    def _row_place(self, index: int, rows: RowRanges) -> Place:
        """Name the word of the `index`-th row of the ranges."""
        for start, end in rows.bounds:
            if index < end - start:
                return self.page.ctx.at(self.extent.offset + 8 * (start + index), 8)
            index -= end - start
        return self.page.at(self.extent)


def _with_previous(rows: RowRanges) -> RowRanges:
    """The ranges, each begun one row earlier; ranges that touch stay apart (rows are repeated)."""
    return RowRanges(tuple((max(0, start - 1), end) for start, end in rows.bounds))


def open_ends(
    encoding: ArrayEncoding, adjustment: int, num_rows: int, page: Page, name: str
) -> Ends:
    """Open end offsets; they must be 64 bits wide."""
    flat = bare_flat(encoding, page, name)
    expect("L.array.ends.width", flat.bits_per_value, 64, page.place)
    words = open_flat(flat, num_rows, page, name, "offsets u64[]")
    return Ends(page, page.extent(flat.buffer), words, adjustment, num_rows)


def encode_ends(
    ends: NDArray[np.int64], nulls: NDArray[np.bool_], adjustment: int, page: PageBuffers
) -> ArrayEncoding:
    """Add the ends of rows (n,) to a page, those of null rows plus the adjustment."""
    words = ends.astype("<u8")
    words[nulls] += np.uint64(adjustment)
    return no_nulls(page.flat(words.view(np.uint8), 64))
