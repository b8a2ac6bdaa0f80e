"""Repetition index: where the rows of a mini-block page with lists begin.

The repetition index is the last buffer of a mini-block page with repetition. A row may run over
several chunks; for each chunk the index says how many rows end in it and how many of its entries
belong to a row that goes on. Random access needs nothing else to find the chunks of a row.

Layout: for each chunk depth + 1 (= 2) u64: rows that finish in the chunk; leftover entries after
the last row start (the whole chunk when no row starts, 0 in the last chunk). When the next chunk
begins with a row start, the row before it is counted as finished and the leftover is 0.

Clauses: L.page.repindex.size, L.page.repindex.range, L.page.repindex.rows, L.page.repindex.agrees
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.values import Bools, Ints
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Place


@dataclass(frozen=True)
class RepetitionIndex:
    """The index of one page, or of pages that follow each other, per chunk.

    `finished` rows and `leftover` entries are stored; the rest follows.
    """

    place: Place
    finished: Ints
    leftover: Ints

    @cached_property
    def ends(self) -> Ints:
        """Rows finished up to and with the chunk: (chunks,)."""
        return np.cumsum(self.finished)

    @cached_property
    def begins(self) -> Bools:
        """Whether a chunk's first entry begins a row: (chunks,)."""
        return np.append(True, self.leftover[:-1] == 0)[: len(self.finished)]

    @cached_property
    def first_start(self) -> Ints:
        """The row of the first row start inside the chunk: (chunks,)."""
        return self.ends - self.finished + ~self.begins

    @cached_property
    def start_chunk(self) -> Ints:
        """The last chunk up to this one in which a row starts: (chunks,)."""
        starts_row = self.begins | (self.finished > 0)
        return np.maximum.accumulate(np.where(starts_row, np.arange(len(self.finished)), 0))

    def chunks_of(self, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends.

        All are (n,).
        """
        finish = np.searchsorted(self.ends, first, side="right")
        goes_on = (first == self.first_start[finish] - 1) & ~self.begins[finish]
        start = np.where(goes_on, self.start_chunk[np.maximum(finish - 1, 0)], finish)
        return start, np.searchsorted(self.ends, last, side="right")

    def check(self, chunks: Ints, first_entry: Ints, starts: Ints, num_entries: int) -> None:
        """Compare the index with decoded chunks. Raises CorruptPage.

        `chunks` are their numbers, `first_entry` where the entries of each begin among the
        `num_entries` decoded ones, `starts` the entries that begin a row. `chunks` and
        `first_entry` (n,), `starts` (slots,).
        """
        ends = np.append(first_entry[1:], num_entries)
        begins, finished, leftover = _rows_in_chunks(starts, first_entry, ends)
        closed = np.append(self.begins, True)[chunks + 1]
        finished, leftover = finished + closed, np.where(closed, 0, leftover)
        wrong = (finished != self.finished[chunks]) | (leftover != self.leftover[chunks])
        for at in np.flatnonzero(wrong | (begins != self.begins[chunks])).tolist():
            own, chunk = f"{finished[at]} rows and {leftover[at]} entries", int(chunks[at])
            stored = f"{self.finished[chunk]} rows and {self.leftover[chunk]} entries left over"
            clause, found = "L.page.repindex.agrees", f"{stored} in chunk {chunk}"
            raise CorruptPage(clause, self.place, found, own)


def _rows_in_chunks(starts: Ints, first: Ints, ends: Ints) -> tuple[Bools, Ints, Ints]:
    """Return for chunks of entries `first`..`ends` what the rows that start at `starts` do there.

    Whether one begins with the chunk, how many others start in it, and how many entries the last
    one has.
    """
    before, after = np.searchsorted(starts, first), np.searchsorted(starts, ends)
    some = starts if len(starts) else np.zeros(1, np.int64)
    begins = (before < after) & (some.take(before, mode="clip") == first)
    latest = np.where(after > before, some[np.maximum(after - 1, 0)], first)
    return begins, after - before - begins, ends - latest


def parse_index(cursor: Cursor, num_chunks: int, num_rows: int) -> RepetitionIndex:
    """Parse the index of a page of `num_rows` page slots. Raises CorruptPage."""
    place, wanted = cursor.ctx.at(cursor.offset, cursor.remaining), 16 * num_chunks
    if cursor.remaining != wanted:
        raise CorruptPage("L.page.repindex.size", place, f"{cursor.remaining} bytes", wanted)
    words = np.frombuffer(cursor.skip(wanted, "repetition index", "L.page.repindex.size"), "<u8")
    if cursor.ctx.spans is not None:
        with cursor.ctx.group("repetition index", "L.page.repindex.size"):
            for number, at in enumerate(range(place.offset, cursor.end, 8)):
                kind = "entries left over" if number % 2 else "rows finished"
                name = f"{kind} in chunk {number // 2}"
                cursor.ctx.leaf(at, at + 8, name, "repetition index u64")
    limit = cursor.ctx.limits.page_rows
    most = int(words.max()) if len(words) else 0
    if most > limit:
        raise CorruptPage("L.page.repindex.range", place, most, f"at most {limit}")
    table = words.astype(np.int64).reshape(-1, 2)
    total, over = int(table[:, 0].sum()), table[-1:, 1]
    if total != num_rows or over.any():
        found = f"{total} rows, {over.tolist()} entries left over at the end"
        raise CorruptPage("L.page.repindex.rows", place, found, f"{num_rows} rows, none left over")
    return RepetitionIndex(place, table[:, 0], table[:, 1])


def repetition_index(rep: NDArray[np.uint16], max_rep: int, ends: Ints) -> NDArray[np.uint64]:
    """Return (rows, leftover) u64 (num_chunks, 2) of chunks that end at the given entries."""
    starts = np.flatnonzero(rep == max_rep)
    begins, rows, leftover = _rows_in_chunks(starts, np.append(0, ends[:-1]), ends)
    closed = np.append(begins[1:], True)
    return np.stack([rows + closed, np.where(closed, 0, leftover)], axis=1).astype("<u8")
