"""Rows of chunks: which chunks hold the wanted rows, and these rows cut out of them.

The chunks are those of one mini-block page, or of pages that follow each other and are alike. A
scan decodes as many of them at a time as make a run, a take just those that its rows lie in.

Layout: see `chunk_table` and `chunks`.

Clauses: L.page.miniblock.chunk-bytes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lanceref.codecs.fsst import GROWTH
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import BytesError
from lanceref.core.integers import unique_inverse
from lanceref.file.column_reader import RUN_BYTES
from lanceref.pages.chunk_entries import ChunkDecoder, ChunkEntries, Items, join_items
from lanceref.pages.chunk_table import Chosen, ChunkTable, Counts, join_tables
from lanceref.pages.layers import Nested
from lanceref.pages.leafvalues import width_bits
from lanceref.pages.repdef import Entries, cut, row_starts, select, unravel
from lanceref.pages.repindex import RepetitionIndex, join_indices

DICTIONARY_ROW_BYTES = 8
"""Assumed size of a value that is looked up in a dictionary: cuts runs of 256 Ki rows."""

ONE_RUN = 2**15
"""Rows up to which a scan is taken to be one run."""


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """Chunks, how they are decoded, and what finds rows in them.

    `index` is there with list layers, `items` are the values that the chunks number.
    """

    file: FileBytes
    decoder: ChunkDecoder
    table: ChunkTable
    index: RepetitionIndex | None
    items: Items | None

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""
        held, known = self, start
        while start < end:
            if start >= known and end - start > ONE_RUN:
                held, known = self._ahead(start, end)
            if self.index is None:
                run, stop = held._slots(start, end)
            else:
                run, stop = held._lists(start, end)
            yield run
            start = stop

    def _ahead(self, start: int, end: int) -> tuple[ChunkRows, int]:
        """Return the same with bytes of several runs from `start` on, and the first row behind.

        They are read together up to RUN_BYTES: stored values may be much shorter.
        """
        table, row = self.table, np.array([start])
        first, last = (int(one[0]) for one in self._chunks_of(row, np.array([end - 1])))
        most = int(table.ends[first] - table.sizes[first]) + RUN_BYTES
        stop = runs = self._run_end(first)
        while stop <= last and table.ends[self._run_end(stop) - 1] <= most:
            stop = self._run_end(stop)
        if stop == runs:
            return self, start + 1
        extent = _extent(table.part(slice(first, min(stop, last + 1))))
        window = self.file.with_window(extent, "chunks", "L.page.miniblock.chunk-bytes")
        scale = self.decoder.layers.scale
        return replace(self, file=window), int(self._slot_ends[stop - 1]) // scale

    def _slots(self, start: int, end: int) -> tuple[Nested, int]:
        """Return rows from `start` on, each a fixed number of entries, and where they end."""
        table, layers = self.table, self.decoder.layers
        scale = layers.scale
        ends = np.array([start * scale, (start + 1) * scale - 1, end * scale - 1])
        first, last, wanted = self._slot_chunks(ends).tolist()
        chunks = slice(first, max(min(self._run_end(first), wanted + 1), last + 1))
        rows = min(end, int(table.value_ends[chunks.stop - 1]) // scale) - start
        decoded = self._decode_near(table.part(chunks))
        skipped = start * scale - int(table.value_ends[first] - table.counts[first])
        levels, slots = cut(decoded.levels, layers, skipped, skipped + rows * scale)
        entries = Entries(levels, decoded.leaf(slots))
        return unravel(layers, entries, rows, decoded.place), start + rows

    def _lists(self, start: int, end: int) -> tuple[Nested, int]:
        """Return rows from `start` on, and where they end, when the index must tell."""
        row = np.array([start])
        first, last = self._chunks_of(row, row)
        stop = max(self._run_end(int(first[0])), int(last[0]) + 1)
        rows = np.array([min(end, int(self._slot_ends[stop - 1]) // self.decoder.layers.scale)])
        _, last = self._chunks_of(rows - 1, rows - 1)
        numbers = np.arange(int(first[0]), int(last[0]) + 1)
        return self._rows(row, rows, numbers), int(rows[0])

    def take(self, rows: Counts) -> Nested:
        """Return the given rows (ascending, each once), decoding only their chunks."""
        return self._rows(rows, rows + 1, self.chunks_with(rows))

    def chunks_with(self, rows: Counts) -> Counts:
        """Return the chunks that hold some rows."""
        first, last = self._chunks_of(rows, rows)
        widths = last - first + 1
        spread = np.repeat(first - (np.cumsum(widths) - widths), widths)
        return unique_inverse(spread + np.arange(int(widths.sum())))[0]

    def take_from(self, cursor: Cursor, chosen: Chosen, rows: Counts) -> Nested:
        """Return the given rows of chunks that start at positions of `cursor`."""
        return self._cut(self.decode(cursor, chosen), chosen.numbers, rows, rows + 1)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        start = 0
        while start < self.table.num_chunks:
            stop = self._run_end(start)
            _ = self._decode(np.arange(start, stop)).entries
            start = stop

    @property
    def _slot_ends(self) -> Counts:
        """Page slots that end up to and with each chunk."""
        return self.table.value_ends if self.index is None else self.index.ends

    def _chunks_of(self, first: Counts, last: Counts) -> tuple[Counts, Counts]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends."""
        scale = self.decoder.layers.scale
        first, last = first * scale, (last + 1) * scale - 1
        if self.index is not None:
            return self.index.chunks_of(first, last)
        return self._slot_chunks(first), self._slot_chunks(last)

    def _run_end(self, start: int) -> int:
        """Return where a run of chunks from `start` ends: about RUN_BYTES of values.

        Stored bytes, among them headers and padding, may be somewhat more.
        """
        table = self.table
        value_bytes = max(1, (width_bits(self.decoder.type) or 8) // 8)
        if self.items is not None:
            value_bytes = DICTIONARY_ROW_BYTES
        values = int(table.value_ends[start] - table.counts[start]) + RUN_BYTES // value_bytes
        stored = RUN_BYTES
        if self.decoder.values.WhichOneof("compression") == "fsst":
            stored //= GROWTH
        size = int(table.ends[start] - table.sizes[start]) + stored + stored // 4
        stop = min(
            np.searchsorted(table.value_ends, values, "right"),
            np.searchsorted(table.ends, size, "right"),
        )
        return max(start + 1, int(stop))

    def _rows(self, first: Counts, last: Counts, numbers: Counts) -> Nested:
        """Decode the chunks `numbers` and return the ranges of rows `first`..`last` in them."""
        return self._cut(self._decode(numbers), numbers, first, last)

    def _cut(self, decoded: ChunkEntries, numbers: Counts, first: Counts, last: Counts) -> Nested:
        """Return the ranges of rows `first`..`last` of the decoded chunks `numbers`."""
        layers = self.decoder.layers
        starts, ends = self._entry_ranges(
            decoded, numbers, first * layers.scale, last * layers.scale - 1
        )
        levels, slots = select(decoded.levels, layers, starts, ends)
        chosen = Entries(levels, decoded.leaf(slots))
        return unravel(layers, chosen, int((last - first).sum()), decoded.place)

    def _entry_ranges(
        self, decoded: ChunkEntries, numbers: Counts, first: Counts, last: Counts
    ) -> tuple[Counts, Counts]:
        """Return where the entries of the slots `first`..`last` lie in the decoded chunks."""
        first_entry, levels = decoded.first_entry, decoded.levels
        if self.index is None:
            chunks, last_chunks = self._slot_chunks(first), self._slot_chunks(last)
            shift = first_entry - (self.table.value_ends - self.table.counts)[numbers]
            return (
                first + shift[np.searchsorted(numbers, chunks)],
                last + shift[np.searchsorted(numbers, last_chunks)] + 1,
            )
        index, starts = self.index, row_starts(levels, self.decoder.layers)
        before = np.searchsorted(starts, first_entry)

        def rank(slots: Counts, chunks: Counts) -> Counts:
            at = np.searchsorted(numbers, chunks)
            return before[at] + slots - index.first_start[chunks]

        first_chunk, _ = index.chunks_of(first, first)
        last_chunk, end_chunk = index.chunks_of(last, last)
        chunk_end = np.append(first_entry, levels.count)[np.searchsorted(numbers, end_chunk) + 1]
        next_start = np.append(starts, levels.count)[rank(last, last_chunk) + 1]
        return starts[rank(first, first_chunk)], np.minimum(next_start, chunk_end)

    def _slot_chunks(self, slots: Counts) -> Counts:
        return np.searchsorted(self.table.value_ends, slots, "right")

    def _decode(self, numbers: Counts) -> ChunkEntries:
        """Read and decode chunks (ascending numbers); near ones come with what is between them."""
        chosen = self.table.choose(numbers)
        if len(numbers) == 0 or not (chosen.starts[1:] - chosen.ends[:-1] > MERGE_GAP_BYTES).any():
            return self._decode_near(chosen)
        data, at = self.file.gather(
            chosen.starts, chosen.sizes, "chunks", "L.page.miniblock.chunk-bytes"
        )
        together = Cursor(data.data, int(chosen.starts[0]), self.file.ctx)
        try:
            return self.decode(together, chosen.moved(at - chosen.starts))
        except BytesError:
            for number in range(len(numbers)):
                self._decode_near(chosen.part(slice(number, number + 1)))  # with the right offset
            raise

    def _decode_near(self, chosen: Chosen) -> ChunkEntries:
        cursor = self.file.cursor(_extent(chosen), "chunks", "L.page.miniblock.chunk-bytes")
        return self.decode(cursor, chosen.moved(-cursor.base))

    def decode(self, cursor: Cursor, chosen: Chosen) -> ChunkEntries:
        """Decode chunks that start at positions of `cursor`."""
        decoded = self.decoder.decode(cursor, chosen, self.items)
        if self.index is not None:
            levels = decoded.levels
            starts = row_starts(levels, self.decoder.layers)
            self.index.check(chosen.numbers, decoded.first_entry, starts, levels.count)
        return decoded


def _extent(chosen: Chosen) -> Extent:
    """Return the bytes from the first of the chunks to the last."""
    start = int(chosen.starts[0])
    return Extent(start, int(chosen.starts[-1] + chosen.sizes[-1]) - start)


def join_rows(file: FileBytes, parts: Sequence[ChunkRows]) -> ChunkRows:
    """Return the rows of pages that follow each other in `file` and share their description."""
    indices = [part.index for part in parts if part.index is not None]
    items = [(part.items, part.table.num_chunks) for part in parts if part.items is not None]
    return ChunkRows(
        file,
        parts[0].decoder,
        join_tables([part.table for part in parts]),
        join_indices(indices) if indices else None,
        join_items(items) if items else None,
    )
