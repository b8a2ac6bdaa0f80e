"""Fast forms of what reads data files; importing this module registers all of them.

The plain form of a mini-block page decodes a fixed number of chunks at a time; here a run has about
as many bytes as the cache holds. Lists are written in pages of about 64 Ki items, and a take has
rows in many pages and few in each. What a page costs however small it is, more than its values do,
is paid once for many of them: their tables are read together, and pages that follow each other in
the file and differ in nothing but their number of items are decoded as if they were one. Where
bytes break a clause, the pages are read one after the other: that names the right place. Single
values of chunks are found by their numbers without the others.

Pieces of bytes are copied each as wide as the longest: they are written in order, and each
overwrites what the one before it wrote too much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby, pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import bitpack, compressive, variable
from lanceref.codecs import values as codec_values
from lanceref.codecs.values import Bools, Bytes, ChunkRun, Fixed, Ints, Values
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import BytesError
from lanceref.core.limits import RUN_BYTES
from lanceref.fast.codecs import GROWTH
from lanceref.pages import column, miniblock
from lanceref.pages.chunks import BUFFERS, ChunkTable, Counts
from lanceref.pages.layers import Nested
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.miniblock import ChunkRows, MiniBlockPage
from lanceref.pages.repindex import RepetitionIndex
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

DICTIONARY_ROW_BYTES = 8
"""Assumed size of a value that is looked up in a dictionary: cuts runs of 256 Ki rows."""

COALESCED_BYTES = 4 * 2**20
"""Bytes of pages, stored and decoded, that are scanned together."""

MiniBlockRows = tuple[MiniBlockPage, Counts]
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
        first, last = self._pages[0].extent.offset, self._pages[-1].extent.end
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
            with suppress(BytesError):  # page by page, each error has its own place
                pieces = _read_together([(cast(MiniBlockPage, one), rows) for one, rows in wanted])
        yield from pieces


def _read_together(wanted: list[MiniBlockRows]) -> list[Nested]:
    """Read the chunks of all pages, and decode as one those that are alike."""
    file = wanted[0][0].file
    cold = [page for page, _ in wanted if page.opened is None]
    for page, opened in zip(cold, open_tables(file, cold) if cold else [], strict=True):
        page.opened = opened
    groups = [_concat_wanted(group) for group in _alike(wanted)]
    chosen = [chunks.table.choose(chunks.chunks_with(rows, rows + 1)) for chunks, rows in groups]
    starts = np.concatenate([one.starts for one in chosen])
    sizes = np.concatenate([one.sizes for one in chosen])
    data, at = file.gather(starts, sizes, "chunks", "L.page.miniblock.chunk-bytes")
    pieces, cuts = [], np.cumsum([len(one.numbers) for one in chosen])[:-1]
    for (together, rows), one, own in zip(groups, chosen, np.split(at, cuts), strict=True):
        cursor = Cursor(data.data, int(one.starts[0]), file.ctx)
        decoded = together.decode(cursor, one.moved(own - one.starts))
        pieces.append(together.read(rows, rows + 1, decoded))
    return pieces


def _alike(wanted: list[MiniBlockRows]) -> Iterator[list[MiniBlockRows]]:
    """Yield pages that may be decoded together: alike, one after the other in the file."""
    cuts = [
        number
        for number, ((one, _), (other, _)) in enumerate(pairwise(wanted), 1)
        if one.mini.dictionary is not None
        or not (one.is_like(other) and one.extent.end <= other.extent.offset)
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
    """Read at once and parse the tables of pages of one column: one of them, at least."""
    cursors = iter(file.cursors([one for page in pages for one in page.tables], "tables", BUFFERS))
    return [page.parse(file, [next(cursors) for _ in page.tables]) for page in pages]


def concat_rows(file: FileBytes, parts: Sequence[ChunkRows]) -> ChunkRows:
    """Return the rows of pages that follow each other in `file` and share their description."""
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
    return ChunkRows(file, first.mini, first.type, table, index, None)


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
    stop = min(
        int(np.searchsorted(table.value_ends, values, "right")),
        start + int(np.searchsorted(np.cumsum(table.sizes[start:]), stored + stored // 4, "right")),
    )
    return max(start + 1, stop)


@compressive.pick.replaced_by
def pick(encoding: CompressiveEncoding, run: ChunkRun, slots: Ints) -> Values | None:
    """Return the values of the run with the numbers `slots` (n,), ascending, without the others.

    Plain values and packed blocks let each be found by its number; of coded strings the offsets
    do. None for codecs whose values cannot be found singly.
    """
    if encoding.HasField("fsst"):
        offsets = encoding.fsst.values.variable.offsets
        codes = compressive.decode_variable(offsets, run, variable.CODES)
        table = variable.parse_symbol_table(encoding.fsst.symbol_table, run.place())
        return variable.decode_codes(table, codes.take(slots), run.place())
    ends = np.cumsum(run.counts)
    chunks = np.searchsorted(ends, slots, "right")
    at = slots - (ends - run.counts)[chunks]
    if encoding.HasField("flat"):
        return _pick_flat(run, encoding.flat.bits_per_value, chunks, at)
    if encoding.HasField("inline_bitpacking"):
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return _pick_packed(run, bits, chunks, at)
    return None


def _pick_flat(run: ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    run.want_sizes(0, -(-run.counts * bits // 8), "L.codec.flat.size")
    starts = run.starts[0][chunks]
    if bits == 1:
        flags = run.data[starts + at // 8] >> (at % 8).astype(np.uint8) & np.uint8(1)
        return Fixed(1, len(at), np.packbits(flags, bitorder="little"))
    size = bits // 8
    return Fixed(bits, len(at), gather_rows(run.data, starts + at * size, size).reshape(-1))


def _pick_packed(run: ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    """Find each value in one word of its block, or in two words of a lane."""
    size, lanes = bits // 8, bitpack.BLOCK // bits
    row_of, row_starts, masks = _rows_of(bits)
    rows, width = row_of[at], bitpack.inline_widths(run, bits)[chunks]
    word, shift = np.divmod(rows * width, bits)
    inside = size + (word * lanes + at - row_starts[rows]) * size
    places = run.starts[0][chunks] + np.where(width > 0, inside, 0)
    over = shift + width > bits
    values = _words_at(run.data, places, size) >> shift.astype(np.uint64)
    high = _words_at(run.data, places[over] + lanes * size, size)
    values[over] |= high << (bits - shift[over]).astype(np.uint64)
    values &= masks[width]
    return Fixed(bits, len(at), values.astype(f"<u{size}").view(np.uint8))


@lru_cache
def _rows_of(bits: int) -> tuple[Ints, Ints, NDArray[np.uint64]]:
    """Return the row of each value of a block of words of `bits`, where rows start, and masks."""
    starts = np.array(bitpack.ROW_STARTS[:bits])
    rows = np.empty(bitpack.BLOCK, np.int64)
    rows[starts[:, None] + np.arange(bitpack.BLOCK // bits)] = np.arange(bits)[:, None]
    return rows, starts, np.array([(1 << width) - 1 for width in range(65)], np.uint64)


def _words_at(data: Bytes, places: Ints, size: int) -> NDArray[np.uint64]:
    return gather_rows(data, places, size).view(f"<u{size}").reshape(-1).astype(np.uint64)


SPARE_BYTES = 2048
"""How much shorter than the longest the mean piece may be: more costs more than single copies."""

SLAB_BYTES = 2**18
"""Bytes copied at a time: they stay in the cache."""


def windows(data: Bytes, size: int) -> NDArray[np.void]:
    """Return the `size` bytes (at least one) from each byte of `data` on that has them: a view.

    The result is (bytes - size + 1,).
    """
    return np.ndarray((max(0, len(data) - size + 1),), f"V{size}", data.data, 0, (1,))


@codec_values.gather_rows.replaced_by
def gather_rows(data: Bytes, starts: Ints, size: int) -> Bytes:
    """Return `size` bytes from each of `starts`, inside `data`: uint8 (len(starts), size).

    `starts` (n,).
    """
    if not 0 < size <= SLAB_BYTES:
        return join_pieces(data, starts, starts + size).reshape(len(starts), size)
    rows: Bytes = windows(data, size)[starts].view(np.uint8).reshape(-1, size)
    return rows


@codec_values.join_pieces.replaced_by
def join_pieces(data: Bytes, starts: Ints, ends: Ints) -> Bytes:
    """Return the byte ranges `starts`..`ends` of `data`, inside it, joined.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    sizes = ends - starts
    total = int(sizes.sum())
    if len(sizes) > 1 and (sizes[:-1] == sizes[0]).all():
        body, size, step = len(sizes) - 1, int(sizes[0]), int(starts[1] - starts[0])
        if step >= size and (np.diff(starts) == step).all():  # pieces at equal distances
            out = np.empty(total, np.uint8)
            rows = np.ndarray((body, size), np.uint8, data.data, int(starts[0]), (step, 1))
            out[: body * size].reshape(body, size)[:] = rows
            out[body * size :] = data[int(starts[-1]) : int(ends[-1])]
            return out
    out = np.empty(total + SLAB_BYTES, np.uint8)
    _put(out, np.cumsum(sizes) - sizes, data, starts, sizes)
    return out[:total]


def _put(out: Bytes, at: Ints, data: Bytes, starts: Ints, sizes: Ints) -> None:
    """Copy `sizes` bytes from each of `starts` to `at` (ascending); what follows them may change.

    `out` has room for SLAB_BYTES after the last.
    """
    width = int(sizes.max(initial=0))
    spare = width - int(sizes.sum()) // max(1, len(sizes))
    together = np.zeros(len(starts), np.bool_)
    if 0 < width <= SLAB_BYTES and spare <= SPARE_BYTES:
        together = starts <= len(data) - width
        sources, targets = windows(data, width), windows(out, width)
        from_, to = starts[together], at[together]
        step = SLAB_BYTES // width
        for first in range(0, len(to), step):
            some = slice(first, first + step)
            targets[to[some]] = sources[from_[some]]  # assigned in the order of the indices
    alone = ~together
    source, target = data.data, out.data
    for begin, start, size in zip(
        at[alone].tolist(), starts[alone].tolist(), sizes[alone].tolist()
    ):
        target[begin : begin + size] = source[start : start + size]


@codec_values.count_before.replaced_by
def count_before(flags: Bools, at: Ints) -> Ints:
    """Return how many of `flags` are set before each of the positions `at`.

    `flags` (n,); `at` and the result (m,).
    """
    words = np.zeros(len(flags) // 64 + 1, np.uint64)
    packed = np.packbits(flags, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    counts = np.bitwise_count(words)
    word, bit = at >> 6, (at & 63).astype(np.uint64)
    below = words[word] & ((np.uint64(1) << bit) - np.uint64(1))
    before: Ints = np.cumsum(counts, dtype=np.int64)[word] - counts[word]
    before += np.bitwise_count(below)
    return before
