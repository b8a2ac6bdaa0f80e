"""Rows of chunks: which chunks hold the wanted rows, their levels and values, and the rows in them.

The chunks are those of one mini-block page, or of pages that follow each other and are alike. A
scan decodes as many of them at a time as make a run, a take just those that its rows lie in. The
level buffers are decoded first, the value buffers (or the indices into the page's dictionary) once
the entries of the rows are known.

Layout: see `chunks`.

Clauses: L.page.miniblock.chunk-bytes, L.page.miniblock.visible, L.page.dictionary.index-width,
L.page.dictionary.index-range, L.page.limits.levels
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.blocks import decode_levels
from lanceref.codecs.chunks import ChunkRun, count_before
from lanceref.codecs.compressive import decode_mini, pick
from lanceref.codecs.values import Fixed, Values
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded, Place
from lanceref.core.integers import arrow_array, unique_inverse
from lanceref.core.nesting import whole
from lanceref.core.plain import specified
from lanceref.pages.chunks import (
    Chunks,
    ChunkSelection,
    ChunkTable,
    Counts,
    MiniBlock,
    parse_chunks,
)
from lanceref.pages.layers import Nested
from lanceref.pages.leafvalues import indexed_array, leaf_array
from lanceref.pages.repdef import (
    LEVEL_BYTES,
    Entries,
    Level,
    Levels,
    check_ranges,
    cut,
    row_starts,
    select,
    unravel,
)
from lanceref.pages.repindex import RepetitionIndex

RUN_CHUNKS = 32
"""Chunks that are decoded together: few enough for any size of values."""

Slots = slice | Counts
"""Values by their numbers: a range, or some of them, ascending."""


@dataclass(frozen=True, slots=True)
class Items:
    """The dictionaries of some pages, each of `count` items, one after the other in `values`.

    `firsts` is for each chunk of the pages where the items of its page begin; None for one page.
    """

    values: pa.Array
    count: int
    firsts: Counts | None = None


@dataclass(frozen=True, slots=True)
class ChunkDecoder:
    """How the chunks of one page are decoded; `max_bytes` is what levels may expand to."""

    mini: MiniBlock
    type: pa.DataType
    max_bytes: int

    def decode(self, cursor: Cursor, chosen: ChunkSelection, items: Items | None) -> ChunkEntries:
        """Decode the levels of chunks that start at positions of `cursor`; values on demand."""
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        chunks = parse_chunks(cursor, self.mini, chosen)
        counts = chunks.num_levels if self.mini.num_levels else chunks.run.counts
        levels = self._levels(chunks, int(counts.sum()), place)
        first_entry = counts.cumsum() - counts
        decoded = ChunkEntries(self, chunks, chosen, items, place, levels, first_entry)
        decoded.check_visible()
        return decoded

    def _levels(self, chunks: Chunks, count: int, place: Place) -> Levels:
        if self.mini.num_levels and count * LEVEL_BYTES > self.max_bytes:
            wanted = f"{self.max_bytes // LEVEL_BYTES} at most"
            raise LimitExceeded("L.page.limits.levels", place, f"{count} in one run", wanted)
        rep = definition = None
        if self.mini.rep is not None:
            rep = _unsigned(decode_levels(self.mini.rep, chunks.level_run(0)))
        if self.mini.definition is not None:
            run = chunks.level_run(self.mini.num_levels - 1)
            definition = _unsigned(decode_levels(self.mini.definition, run))
        levels = Levels(count, rep, definition)
        check_ranges(levels, self.mini.layers, place)
        return (
            levels if rep is None else replace(levels, starts=row_starts(levels, self.mini.layers))
        )


def _unsigned(levels: NDArray[np.uint16] | NDArray[np.bool_]) -> Level:
    """Return levels as unsigned integers: one-bit levels come as booleans."""
    return levels.view(np.uint8) if levels.dtype == np.bool_ else levels.view(np.uint16)


@dataclass(frozen=True, slots=True)
class ChunkEntries:
    """Chunks with decoded levels, and the first entry of each; the values are decoded by `leaf`."""

    decoder: ChunkDecoder
    chunks: Chunks
    chosen: ChunkSelection
    items: Items | None
    place: Place
    levels: Levels
    first_entry: Counts

    def check_visible(self) -> None:
        """Raise CorruptPage unless each chunk has as many visible entries as values."""
        levels, counts = self.levels, self.chunks.run.counts
        visible = levels.visible(self.decoder.mini.layers)
        numbers = self.chunks.num_levels if levels.rep is not None else counts
        if visible is not None:
            numbers = np.diff(count_before(visible, np.append(self.first_entry, len(visible))))
        for at in np.flatnonzero(numbers != counts).tolist():
            place, chunk = self.chunks.run.place(0, at), int(self.chosen.numbers[at])
            found = f"{int(numbers[at])} visible entries in chunk {chunk}"
            raise CorruptPage("L.page.miniblock.visible", place, found, f"{int(counts[at])} values")

    def leaf(self, slots: Slots) -> pa.Array:
        """Decode the values: those of some slots of the visible entries. `slots` (n,)."""
        decoder, run = self.decoder, self.chunks.value_run
        if run.num_values == 0:
            return pa.array([], decoder.type)
        validity = self.levels.leaf_validity(decoder.mini.layers)
        own_validity = None if validity is None else validity[slots]
        picked = None if isinstance(slots, slice) else pick(decoder.mini.values, run, slots)
        values = decode_mini(decoder.mini.values, run) if picked is None else picked
        if self.items is not None:
            indices = self._indices(values, self.items.count)
            indices = indices[slots] if picked is None else indices
            if self.items.firsts is not None:
                indices = indices + self._first_items(run, slots, self.items.firsts)
            return indexed_array(decoder.type, indices, self.items.values, own_validity, self.place)
        if picked is not None:
            return leaf_array(decoder.type, picked, own_validity, self.place)
        array = leaf_array(decoder.type, values, validity, self.place)
        return array[slots] if isinstance(slots, slice) else whole(array).take(arrow_array(slots))

    def _indices(self, values: Values, num_items: int) -> NDArray[np.unsignedinteger]:
        """Return decoded values as indices into `num_items` items of a dictionary."""
        if not isinstance(values, Fixed) or values.bits not in (8, 16, 32, 64):
            clause = "L.page.dictionary.index-width"
            raise CorruptPage(clause, self.place, values, "unsigned integers")
        indices: NDArray[np.unsignedinteger] = values.data.view(f"<u{values.bits // 8}")
        if len(indices) and int(indices.max()) >= num_items:
            clause, found = "L.page.dictionary.index-range", f"an index {int(indices.max())}"
            raise CorruptPage(clause, self.place, found, f"an index below {num_items}")
        return indices

    def _first_items(self, run: ChunkRun, slots: Slots, firsts: Counts) -> NDArray[np.uint64]:
        """Return for each slot where the dictionary of its page begins among all items."""
        at = np.arange(run.num_values)[slots] if isinstance(slots, slice) else slots
        owners = np.searchsorted(np.cumsum(run.counts), at, "right")
        return firsts[self.chosen.numbers[owners]].astype(np.uint64)


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
        source, known = self, start
        while start < end:
            if start >= known:
                source, known = read_ahead(self, start, end)
            if self.index is None:
                run, start = source._scan_slots(start, end)
            else:
                run, start = source._scan_lists(start, end)
            yield run

    def _scan_slots(self, start: int, end: int) -> tuple[Nested, int]:
        """Return rows from `start` on, each a fixed number of entries, and where they end."""
        table, layers, scale = self.table, self.decoder.mini.layers, self.scale
        ends = np.array([start * scale, (start + 1) * scale - 1, end * scale - 1])
        first, last, wanted = np.searchsorted(table.value_ends, ends, "right").tolist()
        chunks = slice(first, max(min(run_end(self, first), wanted + 1), last + 1))
        rows = min(end, int(table.value_ends[chunks.stop - 1]) // scale) - start
        chosen = table.part(chunks)
        cursor = self.file.cursor(chosen.extent, "chunks", "L.page.miniblock.chunk-bytes")
        decoded = self.decoder.decode(cursor, chosen.moved(-cursor.base), self.items)
        skipped = start * scale - int(table.value_ends[first] - table.counts[first])
        levels, slots = cut(decoded.levels, layers, skipped, skipped + rows * scale)
        entries = Entries(levels, decoded.leaf(slots))
        return unravel(layers, entries, rows, decoded.place), start + rows

    def _scan_lists(self, start: int, end: int) -> tuple[Nested, int]:
        """Return rows from `start` on, and where they end, which the index knows."""
        row = np.array([start])
        first, last = self.chunks_of(row, row)
        stop = max(run_end(self, int(first[0])), int(last[0]) + 1)
        rows = np.array([min(end, int(self.slot_ends[stop - 1]) // self.scale)])
        _, last = self.chunks_of(rows - 1, rows - 1)
        numbers = np.arange(int(first[0]), int(last[0]) + 1)
        return self._cut(self._decode(numbers), numbers, row, rows), int(rows[0])

    def take(self, rows: Counts) -> Nested:
        """Return the given rows (ascending, each once), decoding only their chunks."""
        numbers = self.chunks_with(rows)
        return self._cut(self._decode(numbers), numbers, rows, rows + 1)

    def chunks_with(self, rows: Counts) -> Counts:
        """Return the chunks that hold some rows. `rows` (n,), ascending; the result (chunks,)."""
        first, last = self.chunks_of(rows, rows)
        widths = last - first + 1
        spread = np.repeat(first - (np.cumsum(widths) - widths), widths)
        return unique_inverse(spread + np.arange(int(widths.sum())))[0]

    def take_from(self, cursor: Cursor, chosen: ChunkSelection, rows: Counts) -> Nested:
        """Return the given rows of chunks that start at positions of `cursor`.

        `rows` (n,), ascending.
        """
        decoded = self._checked(chosen, self.decoder.decode(cursor, chosen, self.items))
        return self._cut(decoded, chosen.numbers, rows, rows + 1)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        start = 0
        while start < self.table.num_chunks:
            stop = run_end(self, start)
            self._decode(np.arange(start, stop)).leaf(slice(None))
            start = stop

    @property
    def scale(self) -> int:
        """Page slots that belong to one row of the column."""
        return self.decoder.mini.layers.scale

    @property
    def slot_ends(self) -> Counts:
        """Page slots that end up to and with each chunk: (chunks,)."""
        return self.table.value_ends if self.index is None else self.index.ends

    def chunks_of(self, first: Counts, last: Counts) -> tuple[Counts, Counts]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends.

        All are (n,).
        """
        first, last = first * self.scale, (last + 1) * self.scale - 1
        if self.index is not None:
            return self.index.chunks_of(first, last)
        ends = self.table.value_ends
        return np.searchsorted(ends, first, "right"), np.searchsorted(ends, last, "right")

    def _cut(self, decoded: ChunkEntries, numbers: Counts, first: Counts, last: Counts) -> Nested:
        """Return the ranges of rows `first`..`last` of the decoded chunks `numbers`."""
        layers = self.decoder.mini.layers
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
        first_entry, levels, index = decoded.first_entry, decoded.levels, self.index
        if index is None:
            ends = self.table.value_ends
            shift = first_entry - (ends - self.table.counts)[numbers]
            first_chunk, last_chunk = (np.searchsorted(ends, at, "right") for at in (first, last))
            return (
                first + shift[np.searchsorted(numbers, first_chunk)],
                last + shift[np.searchsorted(numbers, last_chunk)] + 1,
            )
        starts = row_starts(levels, self.decoder.mini.layers)
        before = np.searchsorted(starts, first_entry)

        def rank(slots: Counts, chunks: Counts) -> Counts:
            at = np.searchsorted(numbers, chunks)
            return before[at] + slots - index.first_start[chunks]

        first_chunk, _ = index.chunks_of(first, first)
        last_chunk, end_chunk = index.chunks_of(last, last)
        chunk_end = np.append(first_entry, levels.count)[np.searchsorted(numbers, end_chunk) + 1]
        next_start = np.append(starts, levels.count)[rank(last, last_chunk) + 1]
        return starts[rank(first, first_chunk)], np.minimum(next_start, chunk_end)

    def _decode(self, numbers: Counts) -> ChunkEntries:
        """Read and decode chunks (ascending numbers); near ones come with what is between them."""
        chosen, clause = self.table.choose(numbers), "L.page.miniblock.chunk-bytes"
        if not (chosen.starts[1:] - chosen.ends[:-1] > MERGE_GAP_BYTES).any():
            cursor = self.file.cursor(chosen.extent, "chunks", clause)
            near = chosen.moved(-cursor.base)
            return self._checked(near, self.decoder.decode(cursor, near, self.items))
        data, at = self.file.gather(chosen.starts, chosen.sizes, "chunks", clause)
        together = Cursor(data.data, int(chosen.starts[0]), self.file.ctx)
        moved = chosen.moved(at - chosen.starts)
        try:
            return self._checked(moved, self.decoder.decode(together, moved, self.items))
        except BytesError:
            for number in numbers.tolist() if len(numbers) > 1 else []:
                self._decode(np.array([number]))  # raises again, with its own offset
            raise

    def _checked(self, chosen: ChunkSelection, decoded: ChunkEntries) -> ChunkEntries:
        """Hold the repetition index against the levels of decoded chunks."""
        if self.index is not None:
            levels = decoded.levels
            starts = row_starts(levels, self.decoder.mini.layers)
            self.index.check(chosen.numbers, decoded.first_entry, starts, levels.count)
        return decoded


@specified
def run_end(rows: ChunkRows, start: int) -> int:
    """Return where a run of chunks from `start`, which are decoded together, ends."""
    return min(start + RUN_CHUNKS, rows.table.num_chunks)


@specified
def read_ahead(rows: ChunkRows, start: int, end: int) -> tuple[ChunkRows, int]:
    """Return the chunks from row `start` on, up to `end`, as they are read, and the first row that
    they do not hold: here each run reads its own.
    """
    return rows, end
