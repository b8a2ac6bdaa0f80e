"""Pages read together, for speed: a page alone gives the same rows.

Lists are written in pages of about 64 Ki items, and a take has rows in many pages and few in each.
What a page costs however small it is, more than its values do, is paid once for many of them: their
tables are read and parsed together. Mini-block pages that follow each other in the file and differ
in nothing but their number of items are decoded as if they were one.

Where bytes break a clause, the pages are read one after the other: that names the right place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import cast

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import BytesError
from lanceref.core.plain import replaces
from lanceref.pages import column
from lanceref.pages.chunk_rows import ChunkRows, Items
from lanceref.pages.chunks import CHUNK_UNIT, MAX_CHUNK_VALUES, ChunkTable, Counts, parse_table
from lanceref.pages.column import PageRows, Part
from lanceref.pages.layers import Nested
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.miniblock import BUFFERS, MiniBlockPage
from lanceref.pages.repindex import RepetitionIndex, parse_index

COALESCED_BYTES = 4 * 2**20
"""Bytes of pages, stored and decoded, that are scanned together."""

MiniBlockRows = tuple[MiniBlockPage, Counts]
"""The same of a mini-block page."""


@replaces(column.scan_pages)
def scan_pages(parts: Iterable[Part]) -> Iterator[Nested]:
    """Yield the wanted range of rows of every page, consecutive whole pages together."""
    for page, start, end in coalesce(parts):
        yield from page.scan(start, end)


def coalesce(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a scan, some consecutive ones that are whole pages as one."""
    waiting: list[MiniBlockPage] = []
    for page, start, end in parts:
        whole = page if isinstance(page, MiniBlockPage) and end - start == page.num_rows else None
        if waiting and (whole is None or not _fits(waiting, whole)):
            yield _part_of(waiting)
            waiting = []
        if whole is None:
            yield page, start, end
        else:
            waiting.append(whole)
    if waiting:
        yield _part_of(waiting)


def _fits(pages: list[MiniBlockPage], page: MiniBlockPage) -> bool:
    """Whether `page` may be decoded together with those before it."""
    first, last = pages[0], pages[-1]
    start, end = first.extent.offset, page.extent.end
    items = sum(one.mini.num_items for one in pages) + page.mini.num_items
    return (
        page.mini.dictionary is None
        and 0 <= page.extent.offset - last.extent.end <= MERGE_GAP_BYTES
        and max(end - start, items * (width_bits(page.type) or 8) // 8) <= COALESCED_BYTES
        and page.type is first.type
        and page.mini.is_like(first.mini)
    )


def _part_of(pages: list[MiniBlockPage]) -> Part:
    page = pages[0] if len(pages) == 1 else CoalescedPages(pages)
    return page, 0, page.num_rows


class CoalescedPages:
    """Neighbouring mini-block pages that are scanned as if they were one."""

    def __init__(self, pages: list[MiniBlockPage]) -> None:
        self._pages = pages
        self.num_rows = sum(page.num_rows for page in pages)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the pages together."""
        first, last = self._pages[0].extent.offset, self._pages[-1].extent.end
        parts: Iterable[Nested]
        try:
            file = self._pages[0].file.with_window(Extent(first, last - first), "pages", BUFFERS)
            rows = concat_rows(file, open_tables(file, self._pages))
            parts = list(rows.scan(start, end))
        except BytesError:  # page by page, each error has its own place
            parts = (part for page in self._pages for part in page.scan(0, page.num_rows))
        yield from parts


@replaces(column.take_pages)
def take(parts: Iterable[PageRows]) -> Iterator[Nested]:
    """Yield the wanted rows (ascending, each once) of every page, in one or more pieces."""
    for is_mini, group in groupby(parts, lambda part: isinstance(part[0], MiniBlockPage)):
        wanted = list(group)
        if is_mini and len(wanted) > 1:
            yield from _take_together([(cast(MiniBlockPage, page), rows) for page, rows in wanted])
        else:
            yield from (page.take(rows) for page, rows in wanted)


def _take_together(wanted: list[MiniBlockRows]) -> Iterable[Nested]:
    try:
        return _read_together(wanted)
    except BytesError:  # page by page, each error has its own place
        return (page.take(rows) for page, rows in wanted)


def _read_together(wanted: list[MiniBlockRows]) -> list[Nested]:
    """Read the chunks of all pages, and decode as one those that are alike."""
    file = wanted[0][0].file
    cold = [page for page, _ in wanted if page.opened is None]
    for page, opened in zip(cold, open_tables(file, cold) if cold else [], strict=True):
        page.opened = opened
    groups = [_concat_wanted(group) for group in _alike(wanted)]
    chosen = [chunks.table.choose(chunks.chunks_with(rows)) for chunks, rows in groups]
    starts = np.concatenate([one.starts for one in chosen])
    sizes = np.concatenate([one.sizes for one in chosen])
    data, at = file.gather(starts, sizes, "chunks", "L.page.miniblock.chunk-bytes")
    pieces, first = [], 0
    for (chunks, rows), one in zip(groups, chosen, strict=True):
        last = first + len(one.numbers)
        cursor = Cursor(data.data, int(one.starts[0]), file.ctx)
        pieces.append(chunks.take_from(cursor, one.moved(at[first:last] - one.starts), rows))
        first = last
    return pieces


def _alike(wanted: list[MiniBlockRows]) -> Iterator[list[MiniBlockRows]]:
    """Yield pages that may be decoded together: alike, one after the other in the file."""
    cuts = [
        number
        for number, ((one, _), (other, _)) in enumerate(pairwise(wanted), 1)
        if not (one.is_like(other) and one.extent.end <= other.extent.offset)
    ]
    for start, end in pairwise([0, *cuts, len(wanted)]):
        yield wanted[start:end]


def _concat_wanted(group: list[MiniBlockRows]) -> tuple[ChunkRows, Counts]:
    """Return the chunks of some pages, and the rows that are wanted of them all."""
    if len(group) == 1:
        return group[0][0].rows, group[0][1]
    ends = np.cumsum([page.num_rows for page, _ in group])
    rows = [rows + end - page.num_rows for (page, rows), end in zip(group, ends.tolist())]
    chunks = concat_rows(group[0][0].file, [page.rows for page, _ in group])
    return chunks, np.concatenate(rows)


def open_tables(file: FileBytes, pages: Sequence[MiniBlockPage]) -> list[ChunkRows]:
    """Read and parse at once the tables of pages of one column: one of them, at least."""
    cursors = iter(file.cursors([one for page in pages for one in page.tables], "tables", BUFFERS))
    buffers = [[next(cursors) for _ in page.tables] for page in pages]
    tables = parse_tables(
        [own[0] for own in buffers],
        pages[0].mini.wide,
        [page.mini.num_items for page in pages],
        [page.page.extents[1] for page in pages],
    )
    listed = [at for at, page in enumerate(pages) if page.mini.layers.max_rep]
    indices = parse_indices(
        [buffers[at][-1] for at in listed],
        [tables[at].num_chunks for at in listed],
        [pages[at].page.num_rows for at in listed],
    )
    index_of = dict(zip(listed, indices, strict=True))
    return [
        ChunkRows(file, page.decoder, table, index_of.get(at), page.parse_items(own))
        for at, (page, table, own) in enumerate(zip(pages, tables, buffers, strict=True))
    ]


def parse_tables(
    cursors: Sequence[Cursor], wide: bool, num_items: Sequence[int], chunks: Sequence[Extent]
) -> list[ChunkTable]:
    """Parse the chunk tables of many pages; see `parse_table`. The first fault is raised."""
    width = 4 if wide else 2
    stored = np.array([cursor.remaining for cursor in cursors], np.int64)
    lengths = stored // width
    if cursors[0].ctx.spans is None and (lengths * width == stored).all() and lengths.all():
        data = [np.frombuffer(cursor.data, f"<u{width}") for cursor in cursors]
        words = np.concatenate(data).astype(np.int64)
        logs, sizes = words & 15, ((words >> 4) + 1) * CHUNK_UNIT
        counts, ends = np.left_shift(1, logs), np.cumsum(lengths)
        firsts, lasts, inner = ends - lengths, ends - 1, logs == 0
        inner[lasts] = False
        rest = np.array(num_items) - np.add.reduceat(counts, firsts) + counts[lasts]
        sound = np.add.reduceat(sizes, firsts) == [extent.size for extent in chunks]
        sound &= (rest > 0) & (rest <= MAX_CHUNK_VALUES)
        sound &= (logs[lasts] == 0) | (counts[lasts] == rest)
        if sound.all() and not inner.any():
            counts[lasts] = rest
            starts = np.cumsum(sizes) - sizes
            moves = np.array([extent.offset for extent in chunks]) - starts[firsts]
            starts += np.repeat(moves, lengths)
            bounds = zip(firsts.tolist(), ends.tolist())
            return [ChunkTable(starts[a:b], sizes[a:b], counts[a:b]) for a, b in bounds]
    return [
        parse_table(cursor, wide, items, extent)
        for cursor, items, extent in zip(cursors, num_items, chunks, strict=True)
    ]


def parse_indices(
    cursors: Sequence[Cursor], num_chunks: Sequence[int], num_rows: Sequence[int]
) -> list[RepetitionIndex]:
    """Parse the indices of many pages; see `parse_index`. The first fault is raised."""
    sizes = [cursor.remaining for cursor in cursors]
    if cursors and cursors[0].ctx.spans is None and sizes == [16 * one for one in num_chunks]:
        stored = np.concatenate([np.frombuffer(cursor.data, "<u8") for cursor in cursors])
        if all(num_chunks) and int(stored.max()) <= cursors[0].ctx.limits.page_rows:
            table, counts = stored.astype(np.int64).reshape(-1, 2), np.array(num_chunks, np.int64)
            ends = np.cumsum(counts)
            firsts = ends - counts
            if not table[ends - 1, 1].any() and np.array_equal(
                np.add.reduceat(table[:, 0], firsts), num_rows
            ):
                return [
                    RepetitionIndex(cursor.ctx.at(cursor.offset, size), *table[a:b].T)
                    for cursor, size, a, b in zip(cursors, sizes, firsts.tolist(), ends.tolist())
                ]
    return [parse_index(*one) for one in zip(cursors, num_chunks, num_rows, strict=True)]


def concat_rows(file: FileBytes, parts: Sequence[ChunkRows]) -> ChunkRows:
    """Return the rows of pages that follow each other in `file` and share their description."""
    tables = [part.table for part in parts]
    indices = [part.index for part in parts if part.index is not None]
    items = [(part.items, part.table.num_chunks) for part in parts if part.items is not None]
    index = None
    if indices:
        finished = np.concatenate([one.finished for one in indices])
        leftover = np.concatenate([one.leftover for one in indices])
        index = RepetitionIndex(indices[0].place, finished, leftover)
    table, merged = concat_tables(tables), concat_items(items) if items else None
    return ChunkRows(file, parts[0].decoder, table, index, merged)


def concat_tables(tables: Sequence[ChunkTable]) -> ChunkTable:
    """Return the table of all chunks of pages that follow each other."""
    return ChunkTable(
        np.concatenate([table.starts for table in tables]),
        np.concatenate([table.sizes for table in tables]),
        np.concatenate([table.counts for table in tables]),
    )


def concat_items(parts: Sequence[tuple[Items, int]]) -> Items:
    """Return the items of pages that have as many each; each comes with its number of chunks."""
    count = parts[0][0].count
    firsts = np.repeat(np.arange(len(parts)) * count, [num_chunks for _, num_chunks in parts])
    return Items(pa.concat_arrays([items.values for items, _ in parts]), count, firsts)
