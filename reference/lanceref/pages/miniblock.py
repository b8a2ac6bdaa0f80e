"""Mini-block pages: small values, a few thousand to a chunk.

The usual layout of narrow values. Levels and values of each chunk are compressed on their own, so a
chunk is what random access must decode. Dictionary-coded pages store indices in the chunks.

Layout (page buffers): 0 chunk table, 1 chunks, then the dictionary when there is one, then the
repetition index when there are list layers.

Clauses: L.page.miniblock.values-present, L.page.miniblock.large-chunk,
L.page.miniblock.num-buffers, L.page.miniblock.buffers, L.page.miniblock.repetition,
L.page.repindex.depth, L.page.dictionary.num-items, L.page.limits.items

Divergences: D.page.num-items-visible
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.compressive import check_encoding, check_levels, decode_block, num_buffers
from lanceref.cursor import Cursor, Extent, FileBytes
from lanceref.errors import BytesError, CorruptPage, Place, UnknownEncoding
from lanceref.file.column_reader import RUN_BYTES
from lanceref.file.columns import PageMetadata
from lanceref.file.versions import V2_1, FileVersion
from lanceref.pages.chunk_entries import ChunkDecoder, ChunkEntries
from lanceref.pages.chunks import ChunkShape, ChunkTable, Counts, parse_table
from lanceref.pages.expect import expect
from lanceref.pages.layers import Layers
from lanceref.pages.leafvalues import (
    check_leaf_encoding,
    leaf_array,
    value_type,
    width_bits,
)
from lanceref.pages.nested import Nested
from lanceref.pages.repdef import row_starts, select, unravel
from lanceref.pages.repindex import RepetitionIndex, parse_index
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, MiniBlockLayout

DICTIONARY_ROW_BYTES = 8
"""Assumed size of a value that is looked up in a dictionary: cuts runs of 256 Ki rows."""


@dataclass(frozen=True, slots=True)
class MiniBlock:
    """The description of a mini-block page, in the words of any version."""

    layers: Layers
    rep: CompressiveEncoding | None
    definition: CompressiveEncoding | None
    values: CompressiveEncoding
    dictionary: CompressiveEncoding | None
    num_dictionary_items: int
    num_buffers: int
    num_items: int
    wide: bool
    index_depth: int


def describe(
    layout: MiniBlockLayout, layers: Layers, version: FileVersion, place: Place
) -> MiniBlock:
    """Take over the message of 2.1 and 2.2."""
    if layout.has_large_chunk != (version > V2_1):
        raise UnknownEncoding(
            "L.page.miniblock.large-chunk",
            place,
            found=f"has_large_chunk {layout.has_large_chunk} in a file of version {version}",
            wanted=f"{version > V2_1}",
        )
    if not layout.HasField("value_compression"):
        raise CorruptPage("L.page.miniblock.values-present", place, found="none", wanted="values")
    return MiniBlock(
        layers=layers,
        rep=layout.rep_compression if layout.HasField("rep_compression") else None,
        definition=layout.def_compression if layout.HasField("def_compression") else None,
        values=layout.value_compression,
        dictionary=layout.dictionary if layout.HasField("dictionary") else None,
        num_dictionary_items=layout.num_dictionary_items,
        num_buffers=layout.num_buffers,
        num_items=layout.num_items,
        wide=layout.has_large_chunk,
        index_depth=layout.repetition_index_depth,
    )


def check_description(
    mini: MiniBlock, page: PageMetadata, type_: pa.DataType, version: FileVersion, file: FileBytes
) -> None:
    """The gates of a mini-block page: everything its description alone can break."""
    ctx, place = file.ctx, page.place
    for levels in (mini.rep, mini.definition):
        if levels is not None:
            check_levels(levels, version, ctx, place)
    for encoding in (mini.values, mini.dictionary):
        if encoding is not None:
            check_encoding(encoding, version, ctx, place)
    expect("L.page.miniblock.num-buffers", mini.num_buffers, num_buffers(mini.values), place)
    has_lists = mini.layers.max_rep > 0
    expect("L.page.miniblock.repetition", mini.rep is not None, has_lists, place)
    expect("L.page.repindex.depth", mini.index_depth, int(has_lists), place)
    buffers = 2 + (mini.dictionary is not None) + has_lists
    expect("L.page.miniblock.buffers", len(page.extents), buffers, place)
    if mini.dictionary is not None:
        check_leaf_encoding(value_type(type_), mini.dictionary, place)
    elif pa.types.is_dictionary(type_):
        raise CorruptPage("L.page.leaf.kind", place, found="no dictionary", wanted=f"{type_}")
    else:
        check_leaf_encoding(type_, mini.values, place)
    for count in (mini.num_items, mini.num_dictionary_items):
        if count > ctx.limits.page_rows:
            raise CorruptPage(
                "L.page.limits.items", place, found=count, wanted=f"{ctx.limits.page_rows} at most"
            )
    if not has_lists:
        expect("L.page.miniblock.num-items", mini.num_items, page.num_rows, place)


class MiniBlockPage:
    """A mini-block page whose description has passed the gates."""

    def __init__(
        self,
        file: FileBytes,
        page: PageMetadata,
        mini: MiniBlock,
        type_: pa.DataType,
        version: FileVersion,
    ) -> None:
        check_description(mini, page, type_, version, file)
        self._file = file
        self._page = page
        self._mini = mini
        self._type = type_
        self._decoder = ChunkDecoder(
            layers=mini.layers,
            shape=ChunkShape(
                mini.rep is not None, mini.definition is not None, mini.num_buffers, mini.wide
            ),
            rep=mini.rep,
            definition=mini.definition,
            values=mini.values,
            type=type_,
            version=version,
            max_bytes=file.ctx.limits.expanded(file.size),
        )
        self.num_rows = page.num_rows // mini.layers.scale

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the page, about RUN_BYTES at a time."""
        while start < end:
            row = np.array([start])
            first, last = self._chunks_of(row, row)
            stop = max(self._run_end(int(first[0])), int(last[0]) + 1)
            rows = np.array([min(end, int(self._slot_ends[stop - 1]) // self._mini.layers.scale)])
            _, last = self._chunks_of(row, rows - 1)
            yield self._rows(row, rows, np.arange(int(first[0]), int(last[0]) + 1))
            start = int(rows[0])

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows (ascending, each once), decoding only their chunks."""
        first, last = self._chunks_of(rows, rows)
        widths = last - first + 1
        spread = np.repeat(first - (np.cumsum(widths) - widths), widths)
        numbers = np.unique(spread + np.arange(int(widths.sum())))
        return self._rows(rows, rows + 1, numbers)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        table, start = self._table, 0
        while start < table.num_chunks:
            stop = self._run_end(start)
            self._decode(np.arange(start, stop))
            start = stop

    @cached_property
    def _buffers(self) -> list[Cursor]:
        """Everything but the chunks, read together."""
        extents = [self._page.extents[0], *self._page.extents[2:]]
        return self._file.cursors(extents, "page tables", "L.page.miniblock.buffers")

    @cached_property
    def _table(self) -> ChunkTable:
        mini = self._mini
        return parse_table(self._buffers[0], mini.wide, mini.num_items, self._page.extents[1].size)

    @cached_property
    def _index(self) -> RepetitionIndex | None:
        if self._mini.layers.max_rep == 0:
            return None
        return parse_index(self._buffers[-1], self._table.num_chunks, self._page.num_rows)

    @cached_property
    def _dictionary(self) -> pa.Array | None:
        mini = self._mini
        if mini.dictionary is None:
            return None
        cursor = self._buffers[1]
        place = self._file.ctx.at(cursor.offset, cursor.remaining)
        values = decode_block(mini.dictionary, cursor, mini.num_dictionary_items)
        expect("L.page.dictionary.num-items", values.count, mini.num_dictionary_items, place)
        return leaf_array(value_type(self._type), values, None, place)

    @property
    def _slot_ends(self) -> Counts:
        """Page slots that end up to and with each chunk."""
        return self._table.value_ends if self._index is None else self._index.ends

    def _chunks_of(self, first: Counts, last: Counts) -> tuple[Counts, Counts]:
        """Return the chunk where each row of `first` starts, and where each of `last` ends."""
        scale = self._mini.layers.scale
        first, last = first * scale, (last + 1) * scale - 1
        if self._index is not None:
            return self._index.chunks_of(first, last)
        return self._slot_chunks(first), self._slot_chunks(last)

    def _run_end(self, start: int) -> int:
        """Return where a run of chunks from `start` ends: about RUN_BYTES of values.

        Stored bytes, among them headers and padding, may be somewhat more.
        """
        table = self._table
        bits = None if self._mini.dictionary is not None else width_bits(self._type)
        value_bytes = max(1, (bits or 8) // 8)
        if self._mini.dictionary is not None:
            value_bytes = DICTIONARY_ROW_BYTES
        values = int(table.value_ends[start] - table.counts[start]) + RUN_BYTES // value_bytes
        size = int(table.ends[start] - table.sizes[start]) + RUN_BYTES + RUN_BYTES // 4
        stop = min(
            np.searchsorted(table.value_ends, values, "right"),
            np.searchsorted(table.ends, size, "right"),
        )
        return max(start + 1, int(stop))

    def _rows(self, first: Counts, last: Counts, numbers: Counts) -> Nested:
        """Decode the chunks `numbers` and return the ranges of rows `first`..`last` in them."""
        decoded, layers = self._decode(numbers), self._mini.layers
        starts, ends = self._entry_ranges(
            decoded, numbers, first * layers.scale, last * layers.scale - 1
        )
        chosen = select(decoded.entries, layers, starts, ends)
        return unravel(layers, chosen, int((last - first).sum()), decoded.place)

    def _entry_ranges(
        self, decoded: ChunkEntries, numbers: Counts, first: Counts, last: Counts
    ) -> tuple[Counts, Counts]:
        """Return where the entries of the slots `first`..`last` lie in the decoded chunks."""
        first_entry, levels = decoded.first_entry, decoded.entries.levels
        if self._index is None:
            chunks, last_chunks = self._slot_chunks(first), self._slot_chunks(last)
            shift = first_entry - (self._table.value_ends - self._table.counts)[numbers]
            return (
                first + shift[np.searchsorted(numbers, chunks)],
                last + shift[np.searchsorted(numbers, last_chunks)] + 1,
            )
        index, starts = self._index, row_starts(levels, self._mini.layers)
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
        return np.searchsorted(self._table.value_ends, slots, "right")

    def _decode(self, numbers: Counts) -> ChunkEntries:
        """Read and decode chunks (ascending numbers)."""
        groups = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
        starts = self._table.ends - self._table.sizes
        base = self._page.extents[1].offset
        extents = [
            Extent(base + int(starts[g[0]]), int(self._table.ends[g[-1]] - starts[g[0]]))
            for g in groups
        ]
        cursors = self._file.cursors(extents, "chunks", "L.page.miniblock.chunk-bytes")
        if len(groups) == 1:
            return self._decode_run(cursors[0], numbers)
        joined = b"".join(cursor.data for cursor in cursors)
        together = Cursor(memoryview(joined), extents[0].offset, self._file.ctx)
        try:
            return self._decode_run(together, numbers)
        except BytesError:
            for cursor, group in zip(cursors, groups, strict=True):
                self._decode_run(cursor, group)  # raises again, with the right offset
            raise

    def _decode_run(self, cursor: Cursor, numbers: Counts) -> ChunkEntries:
        decoded = self._decoder.decode(cursor, self._table, numbers, self._dictionary)
        if self._index is not None:
            levels = decoded.entries.levels
            starts = row_starts(levels, self._mini.layers)
            self._index.check(numbers, decoded.first_entry, starts, levels.count)
        return decoded
