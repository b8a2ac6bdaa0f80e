"""Joined pages: small mini-block pages that follow each other, scanned as if they were one.

Lists are written in pages of about 64 Ki items. What a page costs however small it is, more than
its values do, is paid once for some of them, when their descriptions differ only in the number of
items.

Taken pages: rows of many mini-block pages, read and decoded at once.

A take has rows in many pages and few in each. The tables of all pages are read together, then the
chunks of all of them; pages that are alike are decoded as if they were one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import cast

import numpy as np

from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent
from lanceref.core.errors import BytesError
from lanceref.pages.chunk_rows import ChunkRows, join_rows
from lanceref.pages.chunk_table import Counts
from lanceref.pages.layers import Nested, Page, Scanned
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.miniblock import MiniBlockPage, open_tables

JOINED_BYTES = 4 * 2**20
"""Bytes of pages, stored and decoded, that are joined."""

Part = tuple[Scanned, int, int]
"""A page, and the range of its rows that is wanted."""


def join(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts, some consecutive ones that are whole pages as one."""
    waiting: list[MiniBlockPage] = []
    for page, start, end in parts:
        whole = page if isinstance(page, MiniBlockPage) and end - start == page.num_rows else None
        if waiting and (whole is None or not _fits(waiting, whole)):
            yield _joined(waiting)
            waiting = []
        if whole is None:
            yield page, start, end
        else:
            waiting.append(whole)
    if waiting:
        yield _joined(waiting)


def _fits(pages: list[MiniBlockPage], page: MiniBlockPage) -> bool:
    """Whether `page` may be decoded together with those before it."""
    first, last = pages[0], pages[-1]
    start, end = first.extent.offset, page.extent.end
    items = sum(one.mini.num_items for one in pages) + page.mini.num_items
    return (
        page.mini.dictionary is None
        and 0 <= page.extent.offset - last.extent.end <= MERGE_GAP_BYTES
        and max(end - start, items * (width_bits(page.type) or 8) // 8) <= JOINED_BYTES
        and page.type is first.type
        and page.mini.is_like(first.mini)
    )


def _joined(pages: list[MiniBlockPage]) -> Part:
    together = pages[0] if len(pages) == 1 else JoinedPages(pages)
    return together, 0, together.num_rows


class JoinedPages:
    """Pages that are scanned together."""

    def __init__(self, pages: list[MiniBlockPage]) -> None:
        self._pages = pages
        self.num_rows = sum(page.num_rows for page in pages)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the pages together."""
        parts: Iterable[Nested]
        try:
            parts = list(self._together().scan(start, end))
        except BytesError:  # page by page, each error has its own place
            parts = (part for page in self._pages for part in page.scan(0, page.num_rows))
        yield from parts

    def _together(self) -> ChunkRows:
        start, end = self._pages[0].extent.offset, self._pages[-1].extent.end
        file = self._pages[0].file.with_window(
            Extent(start, end - start), "pages", "L.page.miniblock.buffers"
        )
        return join_rows(file, open_tables(file, self._pages))


PageRows = tuple[Page, Counts]
"""A page, and the rows that are wanted of it."""

Wanted = tuple[MiniBlockPage, Counts]
"""The same of a mini-block page."""


def take(parts: Iterable[PageRows]) -> Iterator[Nested]:
    """Yield the wanted rows (ascending, each once) of every page, in one or more pieces."""
    for is_mini, some in groupby(parts, lambda part: isinstance(part[0], MiniBlockPage)):
        if is_mini:
            yield from _take_together([(cast(MiniBlockPage, page), rows) for page, rows in some])
        else:
            yield from (page.take(rows) for page, rows in some)


def _take_together(wanted: list[Wanted]) -> Iterator[Nested]:
    pieces: Iterable[Nested]
    if len(wanted) == 1:
        return iter([wanted[0][0].take(wanted[0][1])])
    try:
        pieces = _read_together(wanted)
    except BytesError:  # page by page, each error has its own place
        pieces = (page.take(rows) for page, rows in wanted)
    return iter(pieces)


def _read_together(wanted: list[Wanted]) -> list[Nested]:
    file = wanted[0][0].file
    _open([page for page, _ in wanted])
    joined = [_join(group) for group in _alike(wanted)]
    chosen = [chunks.table.choose(chunks.chunks_with(rows)) for chunks, rows in joined]
    starts = np.concatenate([one.starts for one in chosen])
    sizes = np.concatenate([one.sizes for one in chosen])
    data, at = file.gather(starts, sizes, "chunks", "L.page.miniblock.chunk-bytes")
    found, first = [], 0
    for (chunks, rows), one in zip(joined, chosen, strict=True):
        last = first + len(one.numbers)
        cursor = Cursor(data.data, int(one.starts[0]), file.ctx)
        found.append(chunks.take_from(cursor, one.moved(at[first:last] - one.starts), rows))
        first = last
    return found


def _open(pages: Sequence[MiniBlockPage]) -> None:
    """Read the tables of all pages that are not open."""
    cold = [page for page in pages if not page.is_open]
    if cold:
        for page, opened in zip(cold, open_tables(cold[0].file, cold), strict=True):
            page.keep(opened)


def _alike(wanted: list[Wanted]) -> Iterator[list[Wanted]]:
    """Yield pages that may be decoded together: alike, one after the other in the file."""
    cuts = [
        number
        for number, ((one, _), (other, _)) in enumerate(pairwise(wanted), 1)
        if not (one.is_like(other) and one.extent.end <= other.extent.offset)
    ]
    for start, end in pairwise([0, *cuts, len(wanted)]):
        yield wanted[start:end]


def _join(group: list[Wanted]) -> tuple[ChunkRows, Counts]:
    """Return the chunks of some pages, and the rows of them all."""
    if len(group) == 1:
        return group[0][0].rows, group[0][1]
    ends = np.cumsum([page.num_rows for page, _ in group])
    rows = [rows + end - page.num_rows for (page, rows), end in zip(group, ends.tolist())]
    chunks = join_rows(group[0][0].file, [page.rows for page, _ in group])
    return chunks, np.concatenate(rows)
