"""Joined pages: small mini-block pages that follow each other, scanned as if they were one.

Lists are written in pages of about 64 Ki items. What a page costs however small it is, more than
its values do, is paid once for some of them, when their descriptions differ only in the number of
items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lanceref.core.cursor import MERGE_GAP_BYTES, Extent
from lanceref.core.errors import BytesError
from lanceref.pages.chunk_rows import ChunkRows, join_rows
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.miniblock import MiniBlockPage, open_tables
from lanceref.pages.nested import Nested
from lanceref.pages.page import Scanned

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
