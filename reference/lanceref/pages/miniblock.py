"""Mini-block pages: the chunks that hold the wanted rows, their levels and values, and these rows.

A scan decodes as many chunks at a time as make a run, a take just those that its rows lie in. The
level buffers are decoded first, the value buffers (or the indices into the page's dictionary) once
the entries of the rows are known.

Layout: see `chunks`.

Clauses: L.page.miniblock.chunk-bytes, L.page.miniblock.visible, L.page.dictionary.index-width,
L.page.dictionary.index-range, L.page.dictionary.num-items, L.page.limits.levels
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import decode_block, decode_levels, decode_mini, pick
from lanceref.codecs.values import ChunkRun, Fixed, Values, count_before
from lanceref.core.arrow_buffers import whole
from lanceref.core.context import expect, specified
from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor, Extent, FileBytes
from lanceref.core.errors import BytesError, CorruptPage, Place
from lanceref.core.integers import arrow_array, unique
from lanceref.file.container import StoredPage
from lanceref.pages.chunks import (
    BUFFERS,
    ChunkTable,
    Counts,
    MiniBlock,
    check_description,
    check_page,
    parse_chunks,
    parse_table,
)
from lanceref.pages.layers import (
    LEVEL_BYTES,
    Levels,
    Nested,
    Page,
    check_ranges,
    ranges,
    row_starts,
    select,
    unravel,
)
from lanceref.pages.leafvalues import indexed_array, leaf_array, value_type
from lanceref.pages.repindex import RepetitionIndex, parse_index

RUN_CHUNKS = 32
"""Chunks that are decoded together: few enough for any size of values."""


@dataclass(frozen=True, slots=True)
class DecodedChunks:
    """Chunks with decoded levels: the first entry of each chunk, and where the bytes lie."""

    table: ChunkTable
    values: ChunkRun
    levels: Levels
    first_entry: Counts
    place: Place


@dataclass(frozen=True)
class ChunkRows(Page):
    """Chunks, how they are decoded, and what finds rows in them.

    `index` is there with list layers, `items` are the values that the chunks number.
    """

    file: FileBytes
    mini: MiniBlock
    type: pa.DataType
    table: ChunkTable
    index: RepetitionIndex | None
    items: pa.Array | None

    @property
    def scale(self) -> int:
        """Page slots that belong to one row of the column."""
        return self.mini.layers.scale

    @property
    def num_rows(self) -> int:  # type: ignore[override]
        """Number of rows that the chunks hold together."""
        ends = self._slot_ends
        return int(ends[-1]) // self.scale if len(ends) else 0

    @property
    def _slot_ends(self) -> Counts:
        """Page slots that end up to and with each chunk: (chunks,)."""
        return self.table.value_ends if self.index is None else self.index.ends

    def run_end(self, start: int) -> int:
        """Return where the rows end of a run of chunks, of which the first holds row `start`."""
        row = np.array([start])
        first, last = (int(one[0]) for one in self.chunks_of(row, row))
        stop = max(run_end(self, first), last + 1)
        return int(self._slot_ends[stop - 1]) // self.scale

    def read(self, starts: Counts, ends: Counts, decoded: DecodedChunks | None = None) -> Nested:
        """Return the rows of the ranges `starts`..`ends` (n,), decoding only their chunks.

        Where these are `decoded` already, the rows are cut out of them.
        """
        if decoded is None:
            decoded = self._read(self.chunks_with(starts, ends))
        layers, scale = self.mini.layers, self.scale
        first, last = self._entry_ranges(decoded, starts * scale, ends * scale - 1)
        levels, slots = select(decoded.levels, layers, first, last)
        leaf, num_rows = self._leaf(decoded, slots), int((ends - starts).sum())
        return unravel(layers, levels, leaf, num_rows, decoded.place)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        start = 0
        while start < self.table.num_chunks:
            stop = run_end(self, start)
            self._leaf(self._read(np.arange(start, stop)), slice(None))
            start = stop

    def chunks_with(self, starts: Counts, ends: Counts) -> Counts:
        """Return the chunks that hold the rows of ranges (n,), ascending; the result (chunks,)."""
        first, last = self.chunks_of(starts, ends - 1)
        chunks = ranges(first, last + 1)
        return unique(chunks) if len(starts) > 1 else chunks

    def chunks_of(self, first: Counts, last: Counts) -> tuple[Counts, Counts]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends.

        All are (n,).
        """
        first, last = first * self.scale, (last + 1) * self.scale - 1
        if self.index is not None:
            return self.index.chunks_of(first, last)
        ends = self.table.value_ends
        return np.searchsorted(ends, first, "right"), np.searchsorted(ends, last, "right")

    def _read(self, numbers: Counts) -> DecodedChunks:
        """Read and decode chunks (ascending numbers); near ones come with what is between them."""
        chosen, clause = self.table.choose(numbers), "L.page.miniblock.chunk-bytes"
        if not (chosen.starts[1:] - chosen.ends[:-1] > MERGE_GAP_BYTES).any():
            cursor = self.file.cursor(chosen.extent, "chunks", clause)
            return self.decode(cursor, chosen.moved(-cursor.base))
        data, at = self.file.gather(chosen.starts, chosen.sizes, "chunks", clause)
        together = Cursor(data.data, int(chosen.starts[0]), self.file.ctx)
        try:
            return self.decode(together, chosen.moved(at - chosen.starts))
        except BytesError:
            for number in numbers.tolist() if len(numbers) > 1 else []:
                self._read(np.array([number]))  # raises again, with its own offset
            raise

    def decode(self, cursor: Cursor, chosen: ChunkTable) -> DecodedChunks:
        """Decode the levels of chunks that start at positions of `cursor`, and check them."""
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        run, counts = parse_chunks(cursor, self.mini, chosen)
        values = run.buffers(slice(self.mini.num_levels, None))
        if self.mini.num_levels:
            run = run.counting(counts)
        counts, levels = run.counts, self._levels(run, place)
        decoded = DecodedChunks(chosen, values, levels, counts.cumsum() - counts, place)
        self._check_visible(decoded)
        if self.index is not None:
            starts = row_starts(levels, self.mini.layers)
            self.index.check(chosen.numbers, decoded.first_entry, starts, levels.count)
        return decoded

    def _levels(self, run: ChunkRun, place: Place) -> Levels:
        """Decode the levels of a run, whose first buffers they are."""
        count = run.num_values
        if self.mini.num_levels:
            self.file.bound_output(count * LEVEL_BYTES, "L.page.limits.levels", place, "levels")
        rep = definition = None
        if self.mini.rep is not None:
            rep = decode_levels(self.mini.rep, run.only(0))
        if self.mini.definition is not None:
            last = run.only(self.mini.num_levels - 1)
            definition = decode_levels(self.mini.definition, last)
        levels = Levels(count, rep, definition)
        check_ranges(levels, self.mini.layers, place)
        if rep is None:
            return levels
        return replace(levels, starts=row_starts(levels, self.mini.layers))

    def _check_visible(self, decoded: DecodedChunks) -> None:
        """Raise CorruptPage unless each chunk has as many visible entries as values."""
        levels, counts = decoded.levels, decoded.values.counts
        visible, firsts = levels.visible(self.mini.layers), decoded.first_entry
        numbers = counts if levels.rep is None else np.diff(firsts, append=levels.count)
        if visible is not None:
            numbers = np.diff(count_before(visible, np.append(firsts, len(visible))))
        for at in np.flatnonzero(numbers != counts).tolist():
            place, chunk = decoded.values.place(0, at), int(decoded.table.numbers[at])
            found = f"{int(numbers[at])} visible entries in chunk {chunk}"
            raise CorruptPage("L.page.miniblock.visible", place, found, f"{int(counts[at])} values")

    def _entry_ranges(
        self, decoded: DecodedChunks, first: Counts, last: Counts
    ) -> tuple[Counts, Counts]:
        """Return where the entries of the slots `first`..`last` lie in the decoded chunks."""
        first_entry, levels, index = decoded.first_entry, decoded.levels, self.index
        numbers = decoded.table.numbers
        if index is None:
            ends = self.table.value_ends
            shift = first_entry - (ends - self.table.counts)[numbers]
            first_chunk, last_chunk = (np.searchsorted(ends, at, "right") for at in (first, last))
            return (
                first + shift[np.searchsorted(numbers, first_chunk)],
                last + shift[np.searchsorted(numbers, last_chunk)] + 1,
            )
        starts = row_starts(levels, self.mini.layers)
        before = np.searchsorted(starts, first_entry)

        def rank(slots: Counts, chunks: Counts) -> Counts:
            at = np.searchsorted(numbers, chunks)
            return before[at] + slots - index.first_start[chunks]

        first_chunk, _ = index.chunks_of(first, first)
        last_chunk, end_chunk = index.chunks_of(last, last)
        chunk_end = np.append(first_entry, levels.count)[np.searchsorted(numbers, end_chunk) + 1]
        next_start = np.append(starts, levels.count)[rank(last, last_chunk) + 1]
        return starts[rank(first, first_chunk)], np.minimum(next_start, chunk_end)

    def _leaf(self, decoded: DecodedChunks, slots: slice | Counts) -> pa.Array:
        """Decode the values: those of some slots of the visible entries. `slots` (n,)."""
        run, place = decoded.values, decoded.place
        if run.num_values == 0:
            return pa.nulls(0, self.type)
        validity = decoded.levels.leaf_validity(self.mini.layers)
        own_validity = None if validity is None else validity[slots]
        picked = None if isinstance(slots, slice) else pick(self.mini.values, run, slots)
        values = decode_mini(self.mini.values, run) if picked is None else picked
        if self.items is not None:
            indices = _indices(values, len(self.items), place)
            indices = indices[slots] if picked is None else indices
            return indexed_array(self.type, indices, self.items, own_validity, place)
        if picked is not None:
            return leaf_array(self.type, picked, own_validity, place)
        array = leaf_array(self.type, values, validity, place)
        return array[slots] if isinstance(slots, slice) else whole(array).take(arrow_array(slots))


def _indices(values: Values, num_items: int, place: Place) -> NDArray[np.unsignedinteger]:
    """Return decoded values as indices into `num_items` items of a dictionary."""
    if not isinstance(values, Fixed) or values.bits not in (8, 16, 32, 64):
        raise CorruptPage("L.page.dictionary.index-width", place, values, "unsigned integers")
    indices: NDArray[np.unsignedinteger] = values.data.view(f"<u{values.bits // 8}")
    if len(indices) and int(indices.max()) >= num_items:
        clause, found = "L.page.dictionary.index-range", f"an index {int(indices.max())}"
        raise CorruptPage(clause, place, found, f"an index below {num_items}")
    return indices


@specified
def run_end(rows: ChunkRows, start: int) -> int:
    """Return where a run of chunks from `start`, which are decoded together, ends."""
    return min(start + RUN_CHUNKS, rows.table.num_chunks)


class MiniBlockPage(Page):
    """A `Page` in mini-block layout with a checked description.

    A page whose description is like that of the checked page `known` of the same column (but for
    the number of items) shares it.
    """

    def __init__(
        self, stored: StoredPage, mini: MiniBlock, known: MiniBlockPage | None = None
    ) -> None:
        self.file, self.page, self.mini = stored.file, stored.metadata, mini
        self.num_rows = self.page.num_rows // mini.layers.scale
        self.opened: ChunkRows | None = None
        self.shared: MiniBlock = mini
        self.type: pa.DataType = stored.type
        if known is not None and mini == known.shared:
            self.shared, self.type = known.shared, known.type
        else:
            check_description(mini, stored)
        check_page(mini, self.page, self.file.ctx)

    def run_end(self, start: int) -> int:
        return self.rows.run_end(start)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        return self.rows.scan(start, end)

    def read(self, starts: Counts, ends: Counts) -> Nested:
        return self.rows.read(starts, ends)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        self.rows.check()

    @property
    def rows(self) -> ChunkRows:
        """The chunks. Chunk table, dictionary and repetition index are read when first needed."""
        if self.opened is None:
            self.opened = self.parse(
                self.file, self.file.cursors(self.tables, "page tables", BUFFERS)
            )
        return self.opened

    def parse(self, file: FileBytes, tables: Sequence[Cursor]) -> ChunkRows:
        """Parse the buffers beside the chunks, which lie in `file`."""
        mini, index = self.mini, None
        table = parse_table(tables[0], mini.wide, mini.num_items, self.page.extents[1])
        if mini.layers.max_rep:
            index = parse_index(tables[-1], table.num_chunks, self.page.num_rows)
        return ChunkRows(file, self.shared, self.type, table, index, self.parse_items(tables))

    @property
    def tables(self) -> list[Extent]:
        """Where the buffers beside the chunks are."""
        return [self.page.extents[0], *self.page.extents[2:]]

    def parse_items(self, tables: Sequence[Cursor]) -> pa.Array | None:
        """Parse the dictionary, if the page has one, which fills the second of its `tables`."""
        if self.mini.dictionary is None:
            return None
        cursor, count = tables[1], self.mini.num_dictionary_items
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        values = decode_block(self.mini.dictionary, cursor, count)
        expect("L.page.dictionary.num-items", values.count, count, place)
        return leaf_array(value_type(self.type), values, None, place)

    @cached_property
    def extent(self) -> Extent:
        """Bytes from the first buffer of the page to the last."""
        extents = self.page.extents
        start = min(extents).offset
        return Extent(start, max([offset + size for offset, size in extents]) - start)

    def is_like(self, other: MiniBlockPage) -> bool:
        """Whether the pages differ in nothing but their number of items."""
        if pa.types.is_dictionary(self.type):
            return False
        if self.shared is other.shared:
            return True
        return self.type is other.type and self.mini == other.mini
