"""Repetition index: where the rows of a mini-block page begin.

The last buffer of a mini-block page with repetition. A row may run over several chunks; for each
chunk the index says how many rows end in it and how many of its entries belong to a row that goes
on. Random access needs nothing else to find the chunks of a row.

Layout: for each chunk depth + 1 (= 2) u64: rows that finish in the chunk; leftover entries after
the last row start (the whole chunk when no row starts, 0 in the last chunk). When the next chunk
begins with a row start, the row before it is counted as finished and the leftover is 0.

Clauses: L.page.repindex.size, L.page.repindex.range, L.page.repindex.rows, L.page.repindex.agrees

Repetition index, written.

Counts for each chunk of a mini-block page the rows that end in it and the entries left over.

Layout: see `repindex`.

Clauses: L.page.repindex.rows, L.page.repindex.agrees

Row index: where each row of a full-zip page begins.

Buffer 1 of a full-zip page with list layers or variable values.

Layout: page slots + 1 integers, each the offset of a row in buffer 0; the last one is the size of
buffer 0. Their width, 1, 2, 4 or 8 bytes, follows from the size of the index.

Clauses: L.page.rowindex.width, L.page.rowindex.order, L.page.rowindex.total

Divergences: D.page.fullzip-row-index
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place

ENTRY_WORDS = 2
"""u64 words per chunk: the only depth that exists is 1."""

Counts = NDArray[np.int64]
"""One number per chunk or row."""


@dataclass(frozen=True)
class RepetitionIndex:
    """The index of one page, or of pages that follow each other, per chunk.

    `finished` rows and `leftover` entries are stored; the rest follows.
    """

    place: Place
    finished: Counts
    leftover: Counts

    @cached_property
    def ends(self) -> Counts:
        """Rows finished up to and with the chunk."""
        return np.cumsum(self.finished)

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """Whether a chunk's first entry begins a row."""
        return np.append(True, self.leftover[:-1] == 0)[: len(self.finished)]

    @cached_property
    def first_start(self) -> Counts:
        """The row of the first row start inside the chunk."""
        return self.ends - self.finished + ~self.begins

    @cached_property
    def start_chunk(self) -> Counts:
        """The last chunk up to this one in which a row starts."""
        starts_row = self.begins | (self.finished > 0)
        return np.maximum.accumulate(np.where(starts_row, np.arange(len(self.finished)), 0))

    def chunks_of(self, first: Counts, last: Counts) -> tuple[Counts, Counts]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends."""
        finish = np.searchsorted(self.ends, first, side="right")
        goes_on = (first == self.first_start[finish] - 1) & ~self.begins[finish]
        start = np.where(goes_on, self.start_chunk[np.maximum(finish - 1, 0)], finish)
        return start, np.searchsorted(self.ends, last, side="right")

    def check(self, chunks: Counts, first_entry: Counts, starts: Counts, num_entries: int) -> None:
        """Hold the index against decoded chunks.

        `chunks` are their numbers, `first_entry` where the entries of each begin among the
        `num_entries` decoded ones, `starts` the entries that begin a row.
        """
        last_entry = np.append(first_entry[1:], num_entries)
        before = np.searchsorted(starts, first_entry)
        after = np.searchsorted(starts, last_entry)
        some = starts if len(starts) else np.zeros(1, np.int64)
        begins = (before < after) & (some.take(before, mode="clip") == first_entry)
        latest = some[np.maximum(after - 1, 0)]
        leftover = last_entry - np.where(after > before, latest, first_entry)
        ends_here = np.append(self.begins, True)[chunks + 1]
        leftover = np.where(ends_here, 0, leftover)
        finished = after - before - begins + ends_here
        wrong = (
            (finished != self.finished[chunks])
            | (leftover != self.leftover[chunks])
            | (begins != self.begins[chunks])
        )
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            chunk = int(chunks[at])
            raise CorruptPage(
                "L.page.repindex.agrees",
                self.place,
                found=f"{self.finished[chunk]} rows and {self.leftover[chunk]} entries left over "
                f"in chunk {chunk}",
                wanted=f"{finished[at]} rows and {leftover[at]} entries",
            )


def parse_index(cursor: Cursor, num_chunks: int, num_rows: int) -> RepetitionIndex:
    """Parse the index of a page of `num_rows` page slots."""
    return parse_indices([cursor], [num_chunks], [num_rows])[0]


def parse_indices(
    cursors: Sequence[Cursor], num_chunks: Sequence[int], num_rows: Sequence[int]
) -> list[RepetitionIndex]:
    """Parse the indices of many pages at once; see `parse_index`. The first fault is raised."""
    if not cursors:
        return []
    places = [cursor.ctx.at(cursor.offset, cursor.remaining) for cursor in cursors]
    words = np.concatenate([_words(*one) for one in zip(cursors, num_chunks, strict=True)])
    limit = cursors[0].ctx.limits.page_rows
    stored = words.reshape(-1, ENTRY_WORDS)
    table = np.minimum(stored, limit + 1).astype(np.int64)
    ends = np.cumsum(num_chunks)
    bounds = list(zip((ends - num_chunks).tolist(), ends.tolist(), strict=True))
    before = np.append(0, np.cumsum(table[:, 0]))
    odd = before[ends] - before[ends - num_chunks] != num_rows
    odd |= np.append(table[:, 1], 0)[ends - 1] != 0
    if len(words) and int(words.max()) > limit:
        odd[:] = True
    for page in np.flatnonzero(odd).tolist():
        _check(stored[slice(*bounds[page])], num_rows[page], limit, places[page])
    return [
        RepetitionIndex(place, table[a:b, 0], table[a:b, 1])
        for place, (a, b) in zip(places, bounds, strict=True)
    ]


def _words(cursor: Cursor, num_chunks: int) -> NDArray[np.uint64]:
    """Cut the words of a page."""
    offset, wanted = cursor.offset, num_chunks * ENTRY_WORDS * 8
    if cursor.remaining != wanted:
        place = cursor.ctx.at(offset, cursor.remaining)
        raise CorruptPage(
            "L.page.repindex.size", place, found=f"{cursor.remaining} bytes", wanted=wanted
        )
    words = np.frombuffer(cursor.skip(wanted, "repetition index", "L.page.repindex.size"), "<u8")
    _record(cursor, offset, num_chunks)
    return words


def _check(table: NDArray[np.uint64], num_rows: int, limit: int, place: Place) -> None:
    """Refuse numbers beyond `limit`, and those that do not make `num_rows`."""
    if table.size and int(table.max()) > limit:
        raise CorruptPage(
            "L.page.repindex.range", place, found=int(table.max()), wanted=f"at most {limit}"
        )
    total = int(table[:, 0].sum())
    if total != num_rows or (len(table) and table[-1, 1]):
        raise CorruptPage(
            "L.page.repindex.rows",
            place,
            found=f"{total} rows, {table[-1:, 1].tolist()} entries left over at the end",
            wanted=f"{num_rows} rows and nothing left over",
        )


def join_indices(indices: Sequence[RepetitionIndex]) -> RepetitionIndex:
    """Return the index of the chunks of pages that follow each other."""
    finished = np.concatenate([index.finished for index in indices])
    leftover = np.concatenate([index.leftover for index in indices])
    return RepetitionIndex(indices[0].place, finished, leftover)


def _record(cursor: Cursor, offset: int, num_chunks: int) -> None:
    ctx = cursor.ctx
    if ctx.spans is None:
        return
    with ctx.group("repetition index", "L.page.repindex.size"):
        for chunk in range(num_chunks):
            at = offset + chunk * ENTRY_WORDS * 8
            ctx.leaf(at, at + 8, f"rows finished in chunk {chunk}", "repetition index u64")
            ctx.leaf(at + 8, at + 16, f"entries left over in chunk {chunk}", "repetition index u64")


def repetition_index(
    rep: NDArray[np.uint16], max_rep: int, chunk_ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return (rows, leftover) u64 (num_chunks, 2) of chunks that end at the given entries."""
    starts = np.flatnonzero(rep == max_rep)
    first = np.append(0, chunk_ends[:-1])
    before, after = np.searchsorted(starts, first), np.searchsorted(starts, chunk_ends)
    begins = np.append(starts, -1)[before] == first
    rows = after - before - begins
    latest = np.append(starts, 0)[np.maximum(after - 1, 0)]
    leftover = chunk_ends - np.where(after > before, latest, first)
    closed = np.append(begins[1:], True)
    rows += closed
    return np.stack([rows, np.where(closed, 0, leftover)], axis=1).astype("<u8")


class RowIndex:
    """The index of one page: read whole by a scan, entry by entry by a take."""

    def __init__(
        self, file: FileBytes, extent: Extent, num_slots: int, data_bytes: int, place: Place
    ) -> None:
        width, rest = divmod(extent.size, num_slots + 1)
        if rest or width not in (1, 2, 4, 8):
            raise CorruptPage(
                "L.page.rowindex.width",
                place,
                found=f"{extent.size} bytes",
                wanted=f"{num_slots + 1} integers of 1, 2, 4 or 8 bytes",
            )
        self._file = file
        self._extent = extent
        self._width = width
        self._num_slots = num_slots
        self._data_bytes = data_bytes
        self._whole: NDArray[np.int64] | None = None

    def whole(self) -> NDArray[np.int64]:
        """Return all entries."""
        if self._whole is None:
            cursor = self._file.cursor(self._extent, "row index", "L.page.rowindex.width")
            self._record(cursor)
            entries = self._parse(cursor)
            place = self._file.ctx.at(*self._extent)
            if int(entries[0]) or int(entries[-1]) != self._data_bytes:
                raise CorruptPage(
                    "L.page.rowindex.total",
                    place,
                    found=f"rows from {int(entries[0])} to {int(entries[-1])}",
                    wanted=f"0 to {self._data_bytes}",
                )
            self._whole = entries
        return self._whole

    def rows(self, first: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
        """Return for each first slot the `slots` + 1 entries from there, as rows of a matrix."""
        if self._whole is not None:
            known: NDArray[np.int64] = self._whole[first[:, None] + np.arange(slots + 1)]
            return known
        size = (slots + 1) * self._width
        starts = self._extent.offset + first * self._width
        read, at = self._file.gather(
            starts, np.full(len(first), size), "row index", "L.page.rowindex.width"
        )
        stored = read[at[:, None] + np.arange(size)].view(f"<u{self._width}")
        return self._checked(stored, self._file.ctx.at(*self._extent))

    def _parse(self, cursor: Cursor) -> NDArray[np.int64]:
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        data = cursor.skip(cursor.remaining, "row index", "L.page.rowindex.width")
        return self._checked(np.frombuffer(data, f"<u{self._width}"), place)

    def _checked(self, stored: NDArray[np.unsignedinteger], place: Place) -> NDArray[np.int64]:
        """Return offsets that follow each other along the last axis."""
        if int(stored.max()) > self._data_bytes or (stored[..., 1:] < stored[..., :-1]).any():
            raise CorruptPage(
                "L.page.rowindex.order",
                place,
                found=f"offsets {stored.ravel()[:4].tolist()}…, up to {int(stored.max())}",
                wanted=f"ascending offsets up to {self._data_bytes}",
            )
        return stored.astype(np.int64)

    def _record(self, cursor: Cursor) -> None:
        if cursor.ctx.spans is None:
            return
        with cursor.ctx.group("row index", "L.page.rowindex.width"):
            for slot in range(self._num_slots + 1):
                at = cursor.offset + slot * self._width
                cursor.ctx.leaf(
                    at, at + self._width, f"start of row {slot}", f"row index u{8 * self._width}"
                )
