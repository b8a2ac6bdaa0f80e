"""Taken pages: rows of many mini-block pages, read and decoded at once.

A take has rows in many pages and few in each. The tables of all pages are read together, then the
chunks of all of them; pages that are alike are decoded as if they were one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import cast

import numpy as np

from lanceref.core.cursor import Cursor
from lanceref.core.errors import BytesError
from lanceref.pages.chunk_rows import ChunkRows, join_rows
from lanceref.pages.chunk_table import Counts
from lanceref.pages.miniblock import MiniBlockPage, open_tables
from lanceref.pages.nested import Nested
from lanceref.pages.page import Page

Part = tuple[Page, Counts]
"""A page, and the rows that are wanted of it."""

Wanted = tuple[MiniBlockPage, Counts]
"""The same of a mini-block page."""


def take(parts: Iterable[Part]) -> Iterator[Nested]:
    """Yield the wanted rows (ascending, each once) of every page, in one or more pieces."""
    for is_mini, some in groupby(parts, lambda part: isinstance(part[0], MiniBlockPage)):
        if is_mini:
            yield from _together([(cast(MiniBlockPage, page), rows) for page, rows in some])
        else:
            yield from (page.take(rows) for page, rows in some)


def _together(wanted: list[Wanted]) -> Iterator[Nested]:
    pieces: Iterable[Nested]
    if len(wanted) == 1:
        return iter([wanted[0][0].take(wanted[0][1])])
    try:
        pieces = _read(wanted)
    except BytesError:  # page by page, each error has its own place
        pieces = (page.take(rows) for page, rows in wanted)
    return iter(pieces)


def _read(wanted: list[Wanted]) -> list[Nested]:
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
