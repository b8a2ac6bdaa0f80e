"""Mini-block pages: the chunks that hold the wanted rows, their levels and values, and these rows.

A scan reads a run of chunks, a take just those that its rows lie in; each is decoded by itself. Its
levels are decoded first, its values (or keys in the page's dictionary) after those of all chunks.

Clauses: L.page.miniblock.chunk-bytes, L.page.miniblock.visible, L.page.limits.levels
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lanceref.codecs.blocks import decode_levels
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.values import Ints, Validity, Values
from lanceref.core.arrow_buffers import whole
from lanceref.core.context import specified
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.integers import arrow_array, unique
from lanceref.file.container import StoredPage
from lanceref.pages.chunks import (
    BUFFERS,
    Chunk,
    ChunkTable,
    MiniBlock,
    check_description,
    check_page,
    parse_chunk,
    parse_table,
)
from lanceref.pages.layers import (
    LEVEL_BYTES,
    Levels,
    Nested,
    Page,
    check_ranges,
    join_levels,
    ranges,
    row_starts,
    select,
    unravel,
)
from lanceref.pages.leafvalues import leaf_array
from lanceref.pages.level_numbering import Layers
from lanceref.pages.page_dictionary import key_array, look_up, parse_items
from lanceref.pages.repindex import RepetitionIndex, parse_index

RUN_CHUNKS = 32
"""Chunks that a scan reads with one request: few enough for any size of values."""


@dataclass(frozen=True, slots=True)
class DecodedChunks:
    """Chunks whose levels are decoded: `levels` of all of them, and the first entry of each.

    `numbers` and `first_entry` (chunks,); `place` is where they lie.
    """

    numbers: Ints
    chunks: Sequence[Chunk]
    levels: Levels
    first_entry: Ints
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
    def layers(self) -> Layers:
        """The layers of the pages, which they share."""
        return self.mini.layers

    @property
    def scale(self) -> int:
        """Page slots that belong to one row of the column."""
        return self.layers.scale

    @property
    def num_rows(self) -> int:  # type: ignore[override]
        """Number of rows that the chunks hold together."""
        ends = self._slot_ends
        return int(ends[-1]) // self.scale if len(ends) else 0

    @property
    def _slot_ends(self) -> Ints:
        """Page slots that end up to and with each chunk: (chunks,)."""
        return self.table.value_ends if self.index is None else self.index.ends

    def run_end(self, start: int) -> int:
        """Return where the rows end of a run of chunks, of which the first holds row `start`."""
        row = np.array([start])
        first, last = (int(one[0]) for one in self.chunks_of(row, row))
        stop = max(run_end(self, first), last + 1)
        return int(self._slot_ends[stop - 1]) // self.scale

    def read(self, starts: Ints, ends: Ints, decoded: DecodedChunks | None = None) -> Nested:
        """Return the rows of the ranges `starts`..`ends` (n,), decoding only their chunks.

        Where these are `decoded` already, the rows are cut out of them.
        """
        if decoded is None:
            decoded = decode_chunks(self, self.chunks_with(starts, ends))
        layers, scale = self.layers, self.scale
        first, last = self._entry_ranges(decoded, starts * scale, ends * scale - 1)
        levels, slots = select(decoded.levels, layers, first, last)
        if isinstance(slots, slice):
            leaf = decode_leaf(self, decoded)[slots]
        else:
            leaf = take_leaf(self, decoded, slots)
        return unravel(layers, levels, leaf, int((ends - starts).sum()), decoded.place)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        start = 0
        while start < self.table.num_chunks:
            stop = run_end(self, start)
            decode_leaf(self, decode_chunks(self, np.arange(start, stop)))
            start = stop

    def chunks_with(self, starts: Ints, ends: Ints) -> Ints:
        """Return the chunks that hold the rows of ranges (n,), ascending; the result (chunks,)."""
        first, last = self.chunks_of(starts, ends - 1)
        chunks = ranges(first, last + 1)
        return unique(chunks) if len(starts) > 1 else chunks

    def chunks_of(self, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends.

        All are (n,).
        """
        first, last = first * self.scale, (last + 1) * self.scale - 1
        if self.index is not None:
            return self.index.chunks_of(first, last)
        ends = self.table.value_ends
        return np.searchsorted(ends, first, "right"), np.searchsorted(ends, last, "right")

    def _entry_ranges(self, decoded: DecodedChunks, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return where the entries of the slots `first`..`last` (n,) lie in the decoded chunks."""
        first_entry, numbers, index = decoded.first_entry, decoded.numbers, self.index
        first_chunk, last_chunk = self._start_chunk(first), self._start_chunk(last)
        if index is None:
            # Ints are entries; those of chunks that were left out are missing before each chunk.
            before = first_entry - (self.table.value_ends - self.table.counts)[numbers]
            starts = first + before[np.searchsorted(numbers, first_chunk)]
            return starts, last + before[np.searchsorted(numbers, last_chunk)] + 1
        # Of the slots that start in the decoded chunks, a slot is the first one of its chunk and as
        # many further on as the index says; its entries end where the next slot starts, or with
        # its last chunk, after which chunks may be left out.
        starts = row_starts(decoded.levels, self.layers)
        before = np.searchsorted(starts, first_entry)

        def rank(slots: Ints, chunks: Ints) -> Ints:
            return before[np.searchsorted(numbers, chunks)] + slots - index.first_start[chunks]

        stops = np.append(starts, decoded.levels.count)[rank(last, last_chunk) + 1]
        _, end_chunk = index.chunks_of(last, last)
        chunk_ends = np.append(first_entry, decoded.levels.count)[1:]
        ends = np.minimum(stops, chunk_ends[np.searchsorted(numbers, end_chunk)])
        return starts[rank(first, first_chunk)], ends

    def _start_chunk(self, slots: Ints) -> Ints:
        """Return the chunk in which each slot starts: (n,)."""
        if self.index is None:
            return np.searchsorted(self.table.value_ends, slots, "right")
        return self.index.chunks_of(slots, slots)[0]


@specified
def decode_chunks(rows: ChunkRows, numbers: Ints) -> DecodedChunks:
    """Read chunks, each by itself, and decode their levels. `numbers` (chunks,), ascending.

    Raises CorruptPage, and LimitExceeded for more levels than the file may have.
    """
    chosen, file, clause = rows.table.choose(numbers), rows.file, "L.page.miniblock.chunk-bytes"
    if int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers):  # neighbours: one request
        file = file.with_window(chosen.extent, "chunks", clause)
    chunks = list[Chunk]()
    for number, extent, count in zip(numbers.tolist(), chosen.extents, chosen.counts.tolist()):
        cursor = file.cursor(extent, "chunk", clause)
        chunks.append(parse_chunk(cursor, rows.mini, number, count))
    place, counts = file.ctx.at(*chosen.extent), [chunk.num_entries for chunk in chunks]
    if rows.mini.num_levels:
        size = sum(counts) * LEVEL_BYTES
        file.bound_output(size, "L.page.limits.levels", place, "levels")
    parts = list[Levels]()
    for chunk in chunks:
        parts.append(_chunk_levels(rows, chunk))
    levels = join_levels(parts)
    first_entry = np.cumsum([0, *counts])[:-1]
    levels = with_starts(rows, numbers, levels, first_entry)
    return DecodedChunks(numbers, chunks, levels, first_entry, place)


def _chunk_levels(rows: ChunkRows, chunk: Chunk) -> Levels:
    """Decode the levels of one chunk, in which as many entries are visible as it has values."""
    mini, count, rep, definition = rows.mini, chunk.num_entries, None, None
    if mini.rep is not None:
        rep = decode_levels(mini.rep, chunk.levels[0], count)
    if mini.definition is not None:
        definition = decode_levels(mini.definition, chunk.levels[-1], count)
    levels, place = Levels(count, rep, definition), chunk.values[0].place
    check_ranges(levels, rows.layers, place)
    visible = levels.visible(rows.layers)
    number = count if visible is None else int(np.count_nonzero(visible))
    if number != chunk.count:
        found = f"{number} visible entries in chunk {chunk.number}"
        raise CorruptPage("L.page.miniblock.visible", place, found, f"{chunk.count} values")
    return levels


def with_starts(rows: ChunkRows, numbers: Ints, levels: Levels, first_entry: Ints) -> Levels:
    """Return the levels of chunks with the starts of their rows, as the repetition index has them.

    `numbers` and `first_entry` (chunks,). Raises CorruptPage where it has others.
    """
    if rows.index is None:
        return levels
    starts = row_starts(levels, rows.layers)
    rows.index.check(numbers, first_entry, starts, levels.count)
    return replace(levels, starts=starts)


@specified
def decode_leaf(rows: ChunkRows, decoded: DecodedChunks) -> pa.Array:
    """Decode the values of chunks: one for each visible entry.

    Raises CorruptPage, and LimitExceeded for more bytes than the file may have.
    """
    validity, parts = decoded.levels.leaf_validity(rows.layers), list[pa.Array]()
    at = size = 0
    for chunk in decoded.chunks:
        own = None if validity is None else validity[at : at + chunk.count]
        at += chunk.count
        if chunk.count:  # a chunk of null and empty lists alone has none
            with rows.file.ctx.piece():
                values = decode_mini(rows.mini.values, chunk.values, chunk.count)
                parts.append(leaf_or_keys(rows, values, own, chunk.values[0].place))
                size += parts[-1].nbytes
        if rows.mini.values.HasField("general"):  # a few bytes may stand for very many
            rows.file.bound_output(size, "L.codec.general.size", decoded.place)
    if not parts:
        return pa.nulls(0, rows.type)
    return with_items(rows, pa.concat_arrays(parts))


def leaf_or_keys(rows: ChunkRows, values: Values, validity: Validity, place: Place) -> pa.Array:
    """Return values as their leaf, or as keys in the page's dictionary. `validity` (values,)."""
    if rows.items is None:
        return leaf_array(rows.type, values, validity, place)
    return key_array(rows.type, values, validity, len(rows.items), place)


def with_items(rows: ChunkRows, array: pa.Array) -> pa.Array:
    """Return the array that `leaf_or_keys` made, with the items that its keys stand for."""
    return array if rows.items is None else look_up(rows.type, array, rows.items)


@specified
def take_leaf(rows: ChunkRows, decoded: DecodedChunks, slots: Ints) -> pa.Array:
    """Decode the values of some slots of the visible entries of chunks. `slots` (n,)."""
    return whole(decode_leaf(rows, decoded)).take(arrow_array(slots))


@specified
def run_end(rows: ChunkRows, start: int) -> int:
    """Return where a run of chunks from `start`, which a scan reads together, ends."""
    return min(start + RUN_CHUNKS, rows.table.num_chunks)


@specified
def read_tables(file: FileBytes, extents: Sequence[Extent]) -> list[Cursor]:
    """Read the buffers of a page beside its chunks."""
    return [file.cursor(extent, "page tables", BUFFERS) for extent in extents]


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

    def read(self, starts: Ints, ends: Ints) -> Nested:
        return self.rows.read(starts, ends)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        self.rows.check()

    @property
    def rows(self) -> ChunkRows:
        """The chunks. Chunk table, dictionary and repetition index are read when first needed."""
        if self.opened is None:
            self.opened = self.parse(self.file, read_tables(self.file, self.tables))
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
        encoding = self.mini.dictionary
        if encoding is None:
            return None
        return parse_items(encoding, tables[1], self.mini.num_dictionary_items, self.type)
