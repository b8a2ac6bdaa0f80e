"""Fast forms that read many mini-block pages as one; importing this module registers them.

The plain form of a mini-block page decodes one chunk after the other; here a run of them has about
as many bytes as the cache holds. Lists are written in pages of about 64 Ki items, and a take has
rows in many pages and few in each. What a page costs however small it is, more than its values do,
is paid once for many of them: their tables are read and parsed together, and pages that follow each
other in the file and differ in nothing but their number of items are decoded as if they were one;
of those with dictionaries the indices are, each of which is then looked up in its own. Where bytes
break a clause, the pages are read one after the other: that names the right place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from typing import cast

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Bytes, Ints
from lanceref.core import cursor
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import BytesError
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.fast.chunk_runs import decode_run
from lanceref.fast.codecs import GROWTH
from lanceref.fast.files import Unusual, expect
from lanceref.fast.run_codecs import has_run_form
from lanceref.file.column_io import read_cursors
from lanceref.pages import column, miniblock
from lanceref.pages.chunks import BUFFERS, CHUNK_UNIT, MAX_CHUNK_VALUES, ChunkTable
from lanceref.pages.layers import Nested
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.miniblock import ChunkRows, MiniBlockPage
from lanceref.pages.repindex import RepetitionIndex

DICTIONARY_ROW_BYTES = 8
"""Assumed size of a value that is looked up in a dictionary: cuts runs of 256 Ki rows."""

COALESCED_BYTES = 4 * 2**20
"""Bytes of pages, stored and decoded, that are scanned together."""

PageTables = tuple[ChunkTable, RepetitionIndex | None]
"""The tables of one page that say where its chunks and rows are."""

MiniBlockRows = tuple[MiniBlockPage, Ints]
"""The same of a mini-block page."""


@column.scan_pages.replaced_by
def scan_pages(parts: Iterable[column.Part]) -> Iterator[Nested]:
    """Yield the wanted range of rows of every page, consecutive whole pages together."""
    for page, start, end in coalesce(parts):
        yield from page.scan(start, end)


def coalesce(parts: Iterable[column.Part]) -> Iterator[column.Part]:
    """Yield the parts of a scan, some consecutive ones that are whole pages as one."""
    waiting: list[MiniBlockPage] = []
    for page, start, end in parts:
        whole = page if isinstance(page, MiniBlockPage) and end - start == page.num_rows else None
        if waiting and (whole is None or not _fits(waiting, whole)):
            yield _together(waiting)
            waiting = []
        if whole is None:
            yield page, start, end
        else:
            waiting.append(whole)
    if waiting:
        yield _together(waiting)


def extent_of(page: MiniBlockPage) -> Extent:
    """Return the bytes from the first buffer of a page to the last."""
    start = min(page.page.extents).offset
    return Extent(start, max([one.end for one in page.page.extents]) - start)


def _is_like(page: MiniBlockPage, other: MiniBlockPage) -> bool:
    """Whether pages differ in nothing but their number of items."""
    if pa.types.is_dictionary(page.type):
        return False
    if page.shared is other.shared:
        return True
    return page.type is other.type and page.mini == other.mini


def _fits(pages: list[MiniBlockPage], page: MiniBlockPage) -> bool:
    """Whether `page` may be decoded together with those before it."""
    first, last = pages[0], pages[-1]
    start, end = extent_of(first).offset, extent_of(page).end
    items = sum(one.mini.num_items for one in pages) + page.mini.num_items
    return (
        page.mini.dictionary is None
        and _is_like(page, first)
        and 0 <= extent_of(page).offset - extent_of(last).end <= MERGE_GAP_BYTES
        and max(end - start, items * (width_bits(page.type) or 8) // 8) <= COALESCED_BYTES
    )


def _together(pages: list[MiniBlockPage]) -> column.Part:
    page = pages[0] if len(pages) == 1 else CoalescedPages(pages)
    return page, 0, page.num_rows


class CoalescedPages:
    """Neighbouring mini-block pages that are scanned as if they were one."""

    def __init__(self, pages: list[MiniBlockPage]) -> None:
        self._pages = pages
        self.num_rows = sum(page.num_rows for page in pages)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the pages together."""
        first, last = extent_of(self._pages[0]).offset, extent_of(self._pages[-1]).end
        parts: Iterable[Nested]
        try:
            file = self._pages[0].file.with_window(Extent(first, last - first), "pages", BUFFERS)
            rows = concat_rows(file, open_tables(file, self._pages))
            parts = list(rows.scan(start, end))
        except BytesError:  # page by page, each error has its own place
            parts = (part for page in self._pages for part in page.scan(0, page.num_rows))
        yield from parts


@column.take_pages.replaced_by
def take(parts: Iterable[column.PageRows]) -> Iterator[Nested]:
    """Yield the wanted rows (ascending, each once) of every page, in one or more pieces."""
    for is_mini, group in groupby(parts, lambda part: isinstance(part[0], MiniBlockPage)):
        wanted = list(group)
        pieces: Iterable[Nested] = (page.take(rows) for page, rows in wanted)
        if is_mini and len(wanted) > 1:
            with suppress(BytesError, Unusual):  # page by page, each error has its own place
                pieces = _read_together([(cast(MiniBlockPage, one), rows) for one, rows in wanted])
        yield from pieces


def _read_together(wanted: list[MiniBlockRows]) -> list[Nested]:
    """Read the chunks of all pages, and decode as one those that are alike."""
    file = wanted[0][0].file
    cold = [page for page, _ in wanted if page.opened is None]
    for page, opened in zip(cold, open_tables(file, cold) if cold else [], strict=True):
        page.opened = opened
    alike = list(_alike(wanted))
    groups = [_concat_wanted(group) for group in alike]
    chosen = [chunks.table.choose(chunks.chunks_with(rows, rows + 1)) for chunks, rows in groups]
    starts = np.concatenate([one.starts for one in chosen])
    sizes = np.concatenate([one.sizes for one in chosen])
    data, at = read_extents(file, starts, sizes, "chunks", "L.page.miniblock.chunk-bytes")
    pieces, cuts = [], np.cumsum([len(one.numbers) for one in chosen])[:-1]
    for (together, rows), one, own in zip(groups, chosen, np.split(at, cuts), strict=True):
        expect(has_run_form(together.mini.values))
        decoded = decode_run(together, one, data, own)
        pieces.append(together.read(rows, rows + 1, decoded))
    return [_look_up(piece, group) for piece, group in zip(pieces, alike, strict=True)]


def _alike(wanted: list[MiniBlockRows]) -> Iterator[list[MiniBlockRows]]:
    """Yield pages that may be decoded together: alike, one after the other in the file.

    Items of a dictionary are looked up for some values of each page, so its rows have one each.
    """
    cuts = [
        number
        for number, ((one, _), (other, _)) in enumerate(pairwise(wanted), 1)
        if (one.mini.dictionary is not None and one.mini.layers.max_rep)
        or not (_is_like(one, other) and extent_of(one).end <= extent_of(other).offset)
    ]
    for start, end in pairwise([0, *cuts, len(wanted)]):
        yield wanted[start:end]


def _concat_wanted(group: list[MiniBlockRows]) -> tuple[ChunkRows, Ints]:
    """Return the chunks of some pages, and the rows that are wanted of them all."""
    if len(group) == 1:
        return group[0][0].rows, group[0][1]
    ends = np.cumsum([page.num_rows for page, _ in group])
    rows = [rows + end - page.num_rows for (page, rows), end in zip(group, ends.tolist())]
    chunks = concat_rows(group[0][0].file, [page.rows for page, _ in group])
    return chunks, np.concatenate(rows)


def _look_up(piece: Nested, group: list[MiniBlockRows]) -> Nested:
    """Return rows of some pages, those of dictionaries with items in place of their numbers."""
    if len(group) == 1 or group[0][0].mini.dictionary is None:
        return piece
    looked_up, start = [], 0
    for page, rows in group:
        numbers, items = piece.leaf.slice(start, len(rows) * page.rows.scale), page.rows.items
        assert items is not None
        looked_up.append(items.take(numbers))
        start += len(numbers)
    return Nested(piece.layers, pa.concat_arrays(looked_up))


def open_tables(file: FileBytes, pages: Sequence[MiniBlockPage]) -> list[ChunkRows]:
    """Read at once and parse the tables of pages of one column: one of them, at least."""
    extents = [one for page in pages for one in page.tables]
    cursors = iter(read_cursors(file, extents, "tables", BUFFERS))
    read = [[next(cursors) for _ in page.tables] for page in pages]
    parsed = parse_tables(pages, read) if len(pages) > 1 else None
    if parsed is None:
        return [page.parse(file, own) for page, own in zip(pages, read, strict=True)]
    return [
        ChunkRows(file, page.shared, page.type, table, index, page.parse_items(own))
        for page, own, (table, index) in zip(pages, read, parsed, strict=True)
    ]


def parse_tables(
    pages: Sequence[MiniBlockPage], read: Sequence[Sequence[Cursor]]
) -> list[PageTables] | None:
    """Parse the tables of pages, `read` for each, as `parse_table` and `parse_index` do.

    None where a page has no chunk or no value, or where bytes break a clause.
    """
    # The words of all pages lie one after the other; `first` and `last` are those of each page.
    width = 4 if pages[0].mini.wide else 2
    words = np.frombuffer(b"".join([own[0].data for own in read]), np.uint8)
    num_chunks = np.array([own[0].remaining // width for own in read])
    if not num_chunks.all() or len(words) != width * int(num_chunks.sum()):
        return None
    words = words.view(f"<u{width}").astype(np.int64)
    ends = np.cumsum(num_chunks)
    first, last = ends - num_chunks, ends - 1
    logs, sizes = words & 15, ((words >> 4) + 1) * CHUNK_UNIT
    counts = np.left_shift(1, logs)
    counts[last] = 0
    rest = np.array([page.mini.num_items for page in pages]) - np.add.reduceat(counts, first)
    is_sound = logs > 0
    is_sound[last] = (logs[last] == 0) | (np.left_shift(1, logs[last]) == rest)
    is_sound[last] &= (rest > 0) & (rest <= MAX_CHUNK_VALUES)
    chunks = np.array([page.page.extents[1] for page in pages])
    if not is_sound.all() or (np.add.reduceat(sizes, first) != chunks[:, 1]).any():
        return None
    counts[last] = rest
    # chunks follow each other within their page, and begin with its buffer
    before = np.cumsum(sizes) - sizes
    starts = before + np.repeat(chunks[:, 0] - before[first], num_chunks)
    numbers, cuts = np.arange(num_chunks.max()), list(zip(first.tolist(), ends.tolist()))
    tables = [ChunkTable(numbers[: b - a], starts[a:b], sizes[a:b], counts[a:b]) for a, b in cuts]
    if not pages[0].mini.layers.max_rep:
        return [(table, None) for table in tables]
    if [own[-1].remaining for own in read] != (16 * num_chunks).tolist():
        return None
    stored = np.frombuffer(b"".join([own[-1].data for own in read]), "<u8").reshape(-1, 2)
    if int(stored.max()) > pages[0].file.ctx.limits.page_rows:
        return None
    finished, leftover = stored.astype(np.int64).T
    num_rows = [page.page.num_rows for page in pages]
    if (np.add.reduceat(finished, first) != num_rows).any() or leftover[last].any():
        return None
    places = [own[-1].ctx.at(own[-1].offset, own[-1].remaining) for own in read]
    return [
        (table, RepetitionIndex(place, finished[a:b], leftover[a:b]))
        for table, place, (a, b) in zip(tables, places, cuts, strict=True)
    ]


def concat_rows(file: FileBytes, parts: Sequence[ChunkRows]) -> ChunkRows:
    """Return the rows of pages that follow each other in `file` and share their description.

    Those of dictionaries are the numbers of their items, as each has its own.
    """
    first, tables = parts[0], [part.table for part in parts]
    indices = [part.index for part in parts if part.index is not None]
    index = None
    if indices:
        finished = np.concatenate([one.finished for one in indices])
        leftover = np.concatenate([one.leftover for one in indices])
        index = RepetitionIndex(indices[0].place, finished, leftover)
    starts, sizes, counts = (
        np.concatenate([getattr(one, name) for one in tables])
        for name in ("starts", "sizes", "counts")
    )
    table = ChunkTable(np.arange(len(starts)), starts, sizes, counts)
    if first.items is None:
        return ChunkRows(file, first.mini, first.type, table, index, None)
    numbers = pa.array(np.arange(len(first.items)))
    return ChunkRows(file, first.mini, numbers.type, table, index, numbers)


@miniblock.read_tables.replaced_by
def read_tables(file: FileBytes, extents: Sequence[Extent]) -> list[Cursor]:
    """Read the buffers of a page beside its chunks with one request, where they are near."""
    return read_cursors(file, extents, "page tables", BUFFERS)


@miniblock.run_end.replaced_by
def run_end(rows: ChunkRows, start: int) -> int:
    """Return where a run of chunks from `start` ends: about RUN_BYTES of values.

    Stored bytes, among them headers and padding, may be somewhat more.
    """
    table, value_bytes = rows.table, max(1, (width_bits(rows.type) or 8) // 8)
    if rows.items is not None:
        value_bytes = DICTIONARY_ROW_BYTES
    values = int(table.value_ends[start] - table.counts[start]) + RUN_BYTES // value_bytes
    stored = RUN_BYTES
    if rows.mini.values.WhichOneof("compression") == "fsst":
        stored //= GROWTH
    by_values = int(np.searchsorted(table.value_ends, values, "right"))
    ends = np.cumsum(table.sizes[start:])
    by_bytes = start + int(np.searchsorted(ends, stored + stored // 4, "right"))
    return max(start + 1, min(by_values, by_bytes))


@cursor.read_extents.replaced_by
def read_extents(
    file: FileBytes, starts: Ints, sizes: Ints, name: str, clause: str, gap: int = MERGE_GAP_BYTES
) -> tuple[Bytes, Ints]:
    """Read many extents; return bytes that hold all of them, and where each begins there.

    Those that are no more than `gap` bytes apart share one request. `starts`, `sizes` and the
    places are (n,). Raises OutOfRange, Truncated, LimitExceeded.
    """
    if len(starts) == 1:
        data = file.cursor(Extent(int(starts[0]), int(sizes[0])), name, clause).data
        return np.frombuffer(data, np.uint8), np.zeros(1, np.int64)
    outside = np.flatnonzero((starts < 0) | (sizes < 0) | (starts > file.size - sizes))
    if len(outside):
        at = int(outside[0])
        file.bound(Extent(int(starts[at]), int(sizes[at])), name, clause)
    order = np.argsort(starts, kind="stable")
    ascending, ends = starts[order], np.maximum.accumulate((starts + sizes)[order])
    is_far = np.append(True, ascending[1:] > ends[:-1] + gap)[: len(starts)]
    first = np.flatnonzero(is_far)
    begins = ascending[first]
    stops: Ints = np.append(ends[first[1:] - 1], ends[-1:])
    parts = _read(file, begins, stops - begins, name, clause)
    joined = parts[0] if len(parts) == 1 else b"".join(parts)
    owners = np.searchsorted(begins, starts, "right") - 1
    before: Ints = np.cumsum(stops - begins) - (stops - begins)
    places = before[owners] + starts - begins[owners]
    return np.frombuffer(joined, np.uint8), places


def _read(file: FileBytes, begins: Ints, sizes: Ints, name: str, clause: str) -> list[memoryview]:
    """Make requests; those inside the window of the file are served from it."""
    is_near, window = sizes == 0, file.window
    if window is not None:
        is_near |= (begins >= window.base) & (begins + sizes <= window.end)
    offsets, wanted, fetched = begins[~is_near].tolist(), sizes[~is_near].tolist(), None
    with suppress(MemoryError):
        fetched = file.source.read_many(offsets, wanted) if offsets else []
    if fetched is None or list(map(len, fetched)) != wanted:
        is_near[:], fetched = True, []  # one by one: the error of the first has its place
    if not is_near.any():
        return fetched
    parts, extents = iter(fetched), map(Extent, begins.tolist(), sizes.tolist())
    pairs = zip(is_near.tolist(), extents, strict=True)
    return [file.cursor(one, name, clause).data if near else next(parts) for near, one in pairs]
