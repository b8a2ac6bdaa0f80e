"""Chunk table: the words that say how large the chunks of a mini-block page are.

Buffer 0 of the page has one word per chunk, buffer 1 the chunks back to back. Pages that follow
each other in a file can be decoded together: then their tables are joined.

Layout of a word (u16 in 2.1, u32 later): bits 0-3 log2 of the values in the chunk (0 in the last
one, which has the rest), the other bits the chunk's size in units of 8 bytes, minus one.

Clauses: L.page.miniblock.table-size, L.page.miniblock.log, L.page.miniblock.last-log,
L.page.miniblock.num-items, L.page.miniblock.chunk-bytes

Divergences: D.page.chunk-words-minus-one, D.page.num-items-visible
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage

CHUNK_UNIT = 8
"""Chunks and the buffers inside them are padded to this many bytes."""
MAX_CHUNK_VALUES = 2**15
"""Values a chunk can hold: the log has four bits."""

Counts = NDArray[np.int64]
"""One number per chunk."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Chunks to decode: their `numbers` (ascending), where they start, bytes and values."""

    numbers: Counts
    starts: Counts
    sizes: Counts
    counts: Counts

    @property
    def ends(self) -> Counts:
        """Where each chunk ends."""
        return self.starts + self.sizes

    def moved(self, by: Counts | int) -> Chosen:
        """Return the chunks at other positions."""
        return Chosen(self.numbers, self.starts + by, self.sizes, self.counts)

    def part(self, numbers: slice) -> Chosen:
        """Return some of the chunks."""
        return Chosen(
            self.numbers[numbers], self.starts[numbers], self.sizes[numbers], self.counts[numbers]
        )


@dataclass(frozen=True)
class ChunkTable:
    """The chunks of a page, or of pages that follow each other; `starts` are absolute offsets."""

    starts: Counts
    sizes: Counts
    counts: Counts

    @cached_property
    def ends(self) -> Counts:
        """Bytes up to and with each chunk."""
        return np.cumsum(self.sizes)

    @cached_property
    def value_ends(self) -> Counts:
        """Values up to and with each chunk."""
        return np.cumsum(self.counts)

    @property
    def num_chunks(self) -> int:
        """Number of chunks."""
        return len(self.sizes)

    def part(self, chunks: slice) -> Chosen:
        """Return chunks that follow each other; they start at absolute offsets."""
        numbers = np.arange(chunks.start, chunks.stop)
        return Chosen(numbers, self.starts[chunks], self.sizes[chunks], self.counts[chunks])

    def choose(self, numbers: Counts) -> Chosen:
        """Return some chunks; they start at absolute offsets."""
        return Chosen(numbers, self.starts[numbers], self.sizes[numbers], self.counts[numbers])


def join_tables(tables: Sequence[ChunkTable]) -> ChunkTable:
    """Return the table of all chunks of pages that follow each other."""
    return ChunkTable(
        np.concatenate([table.starts for table in tables]),
        np.concatenate([table.sizes for table in tables]),
        np.concatenate([table.counts for table in tables]),
    )


def parse_table(cursor: Cursor, wide: bool, num_items: int, chunks: Extent) -> ChunkTable:
    """Parse the words of a page with `num_items` values, whose `chunks` are one buffer."""
    return parse_tables([cursor], wide, [num_items], [chunks])[0]


def parse_tables(
    cursors: Sequence[Cursor], wide: bool, num_items: Sequence[int], chunks: Sequence[Extent]
) -> list[ChunkTable]:
    """Parse the words of many pages at once; see `parse_table`. The first fault is raised."""
    width = 4 if wide else 2
    parts = [_words(cursor, width) for cursor in cursors]
    words = np.concatenate(parts).astype(np.int64)
    logs, sizes = words & 15, ((words >> 4) + 1) * CHUNK_UNIT
    counts, ends = np.left_shift(1, logs), np.cumsum([len(part) for part in parts])
    firsts, some = ends - [len(part) for part in parts], np.array([len(part) > 0 for part in parts])
    lasts = ends[some] - 1
    rest = np.array(num_items, np.int64) - _sums(counts, firsts, ends)
    rest[some] += counts[lasts]
    stored = np.array([chunk.size for chunk in chunks], np.int64)
    inner = logs == 0
    inner[lasts] = False
    odd = (_sums(sizes, firsts, ends) != stored) | (_sums(inner, firsts, ends) > 0)
    odd |= (rest <= 0) | (rest > np.where(some, MAX_CHUNK_VALUES, 0))
    odd[some] |= (logs[lasts] > 0) & (counts[lasts] != rest[some])
    bounds = list(zip(firsts.tolist(), ends.tolist(), strict=True))
    for page in np.flatnonzero(odd).tolist():
        own = slice(*bounds[page])
        _check(
            logs[own], int(sizes[own].sum()), num_items[page], chunks[page], cursors[page], width
        )
    counts[lasts] = rest[some]
    starts = np.cumsum(sizes) - sizes
    starts += np.repeat(
        [chunk.offset for chunk in chunks] - _sums(sizes, np.zeros_like(firsts), firsts),
        ends - firsts,
    )
    return [ChunkTable(starts[a:b], sizes[a:b], counts[a:b]) for a, b in bounds]


def _words(cursor: Cursor, width: int) -> NDArray[np.unsignedinteger]:
    """Cut the words of a page, each of `width` bytes."""
    ctx, start = cursor.ctx, cursor.offset
    num_chunks, odd = divmod(cursor.remaining, width)
    if odd:
        raise CorruptPage(
            "L.page.miniblock.table-size",
            ctx.at(start, cursor.remaining),
            found=f"{cursor.remaining} bytes",
            wanted=f"a multiple of {width}",
        )
    data = cursor.skip(num_chunks * width, "chunk table", "L.page.miniblock.table-size")
    words = np.frombuffer(data, f"<u{width}")
    if ctx.spans is not None:
        with ctx.group("chunk table", "L.page.miniblock.table-size"):
            for chunk, word in enumerate(words.tolist()):
                at = start + chunk * width
                ctx.leaf(at, at + width, f"word of chunk {chunk}", "chunk word", value=word)
    return words


def _sums(values: Counts | NDArray[np.bool_], firsts: Counts, ends: Counts) -> Counts:
    """Return the sum of `values` in each of the ranges `firsts`..`ends`."""
    before = np.append(0, np.cumsum(values))
    sums: Counts = before[ends] - before[firsts]
    return sums


def _check(
    logs: Counts, total: int, num_items: int, chunks: Extent, cursor: Cursor, width: int
) -> None:
    """Refuse words that do not share out the bytes of the chunks, or the values."""
    offset = cursor.offset - len(logs) * width
    if total != chunks.size:
        raise CorruptPage(
            "L.page.miniblock.chunk-bytes",
            cursor.ctx.at(offset, len(logs) * width),
            found=f"chunks of {total} bytes",
            wanted=f"{chunks.size}, the size of the chunk buffer",
        )
    before = int(np.left_shift(1, logs[:-1]).sum())
    _check_logs(logs, before, width, num_items, offset, cursor.ctx)


def _check_logs(
    logs: Counts, before: int, width: int, num_items: int, offset: int, ctx: Context
) -> None:
    """Refuse words that do not share out the values; `before` of them are not in the last chunk."""
    if not logs[:-1].all():
        zero = int(np.flatnonzero(logs == 0)[0])
        raise CorruptPage(
            "L.page.miniblock.log",
            ctx.at(offset + zero * width, width),
            found=f"log 0 in chunk {zero} of {len(logs)}",
            wanted="1 to 15 in every chunk but the last",
        )
    last = ctx.at(offset + max(0, len(logs) - 1) * width, width)
    rest = num_items - before
    if not 0 <= rest <= MAX_CHUNK_VALUES or (len(logs) == 0 and rest):
        raise CorruptPage(
            "L.page.miniblock.num-items",
            last,
            found=f"{num_items} values in {len(logs)} chunks, {before} of them before the last",
            wanted=f"at most {MAX_CHUNK_VALUES} left for the last chunk",
        )
    if rest == 0 and before:
        ctx.refuse(
            CorruptPage("L.page.miniblock.num-items", last, found="none", wanted="a value at least")
        )
    if len(logs) and logs[-1] and 1 << int(logs[-1]) != rest:
        raise CorruptPage(
            "L.page.miniblock.last-log", last, found=int(logs[-1]), wanted=f"0, or log2 of {rest}"
        )
