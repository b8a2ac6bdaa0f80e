"""Chunks of a mini-block page: its description, the table of their sizes, and the header of each.

The usual layout of narrow values. A chunk holds the levels and the value buffers of a few thousand
values, compressed on their own: it is what random access must decode. Dictionary-coded pages store
indices in the chunks.

Layout (page buffers): 0 one word per chunk, 1 the chunks back to back, then the dictionary when
there is one, then the repetition index when there are list layers.
Layout of a word (u16 in 2.1, u32 later): bits 0-3 log2 of the values in the chunk (0 in the last
one, which has the rest), the other bits the chunk's size in units of 8 bytes, minus one.

Layout of a chunk::

    u16 entries with levels (0 when the page has none)
    u16 size of the repetition levels, when the page has them
    u16 size of the definition levels, when the page has them
    u16 (2.1) or u32 size of each value buffer
    padding to 8, then each buffer, each padded to 8; padding bytes are 0xfe

Clauses: L.page.miniblock.values-present, L.page.miniblock.large-chunk,
L.page.miniblock.num-buffers, L.page.miniblock.buffers, L.page.miniblock.repetition,
L.page.repindex.depth, L.page.limits.items, L.page.miniblock.table-size, L.page.miniblock.log,
L.page.miniblock.last-log, L.page.miniblock.num-items, L.page.miniblock.chunk-bytes,
L.page.miniblock.chunk-header, L.page.miniblock.chunk-fill, L.page.miniblock.num-levels,
L.page.miniblock.padding

Divergences: D.page.chunk-words-minus-one, D.page.num-items-visible, D.page.chunk-level-count
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.chunk_run import ChunkRun, gather_rows
from lanceref.codecs.compressive import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    num_buffers,
)
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.container import PageMetadata, StoredPage
from lanceref.pages.leafvalues import check_leaf_encoding
from lanceref.pages.level_numbering import Layers
from lanceref.pages.page_dictionary import value_type
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, MiniBlockLayout

CHUNK_UNIT = 8
"""Chunks and the buffers inside them are padded to this many bytes."""
MAX_CHUNK_VALUES = 2**15
"""Values a chunk can hold: the log has four bits."""
FILL = 0xFE
"""What writers pad with."""

BUFFERS = "L.page.miniblock.buffers"
"""The clause that says which buffers a page has."""

Counts = NDArray[np.int64]
"""One number per chunk."""

Size = TypeVar("Size", int, Counts)
"""Bytes of one buffer, or of one in each chunk."""


@dataclass(frozen=True)
class ChunkTable:
    """The chunks of a page, or some of them: `numbers` (ascending), starts, bytes and values.

    `starts` are absolute offsets, unless they were moved.
    """

    numbers: Counts
    starts: Counts
    sizes: Counts
    counts: Counts

    @property
    def num_chunks(self) -> int:
        """Number of chunks that the table lists."""
        return len(self.sizes)

    @property
    def ends(self) -> Counts:
        """Offset of the first byte after each chunk: (chunks,)."""
        return self.starts + self.sizes

    @property
    def extent(self) -> Extent:
        """The bytes from the first of the chunks to the last."""
        start = int(self.starts[0])
        return Extent(start, int(self.ends[-1]) - start)

    @cached_property
    def value_ends(self) -> Counts:
        """Values up to and with each chunk: (chunks,)."""
        return np.cumsum(self.counts)

    def choose(self, numbers: Counts) -> ChunkTable:
        """Select chunks of a whole page by their numbers. `numbers` (n,), ascending."""
        return ChunkTable(numbers, self.starts[numbers], self.sizes[numbers], self.counts[numbers])

    def moved(self, by: Counts | int) -> ChunkTable:
        """Return the chunks at other positions. An offset for all or (chunks,)."""
        return replace(self, starts=self.starts + by)


def parse_table(cursor: Cursor, wide: bool, num_items: int, chunks: Extent) -> ChunkTable:
    """Parse the words of a page with `num_items` values, whose `chunks` are one buffer.

    Raises CorruptPage for words that do not share out the bytes of the chunks, or the values.
    """
    ctx, offset, width = cursor.ctx, cursor.offset, 4 if wide else 2
    words = parse_words(cursor, width)
    logs, sizes = words & 15, ((words >> 4) + 1) * CHUNK_UNIT
    counts, total, number = np.left_shift(1, logs), int(sizes.sum()), len(words)
    if total != chunks.size:
        place = ctx.at(offset, number * width)
        raise CorruptPage("L.page.miniblock.chunk-bytes", place, f"{total} bytes", chunks.size)
    for zero in np.flatnonzero(logs[:-1] == 0).tolist():
        place, found = ctx.at(offset + zero * width, width), f"log 0 in chunk {zero} of {number}"
        raise CorruptPage("L.page.miniblock.log", place, found, "1 to 15 in all but the last")
    place = ctx.at(offset + max(0, number - 1) * width, width)
    before = int(counts[:-1].sum())
    rest, clause = num_items - before, "L.page.miniblock.num-items"
    if not 0 <= rest <= MAX_CHUNK_VALUES or (number == 0 and rest):
        found = f"{num_items} values in {number} chunks, {before} of them before the last"
        raise CorruptPage(clause, place, found, f"at most {MAX_CHUNK_VALUES} in the last chunk")
    if rest == 0 and before:
        ctx.refuse(CorruptPage(clause, place, "no value in the last chunk", "at least one"))
    if number and logs[-1] and 1 << int(logs[-1]) != rest:
        wanted = f"0, or log2 of {rest}"
        raise CorruptPage("L.page.miniblock.last-log", place, int(logs[-1]), wanted)
    counts[-1:] = rest
    return ChunkTable(np.arange(number), chunks.offset + np.cumsum(sizes) - sizes, sizes, counts)


def parse_words(cursor: Cursor, width: int) -> Counts:
    """Read the words of a chunk table, each of `width` bytes. int64 (chunks,).

    Raises CorruptPage.
    """
    ctx, start, clause = cursor.ctx, cursor.offset, "L.page.miniblock.table-size"
    if cursor.remaining % width:
        place, wanted = ctx.at(start, cursor.remaining), f"a multiple of {width}"
        raise CorruptPage(clause, place, f"{cursor.remaining} bytes", wanted)
    words = np.frombuffer(cursor.skip(cursor.remaining, "chunk table", clause), f"<u{width}")
    if ctx.spans is not None:
        with ctx.group("chunk table", clause):
            for chunk, word in enumerate(words.tolist()):
                at = start + chunk * width
                ctx.leaf(at, at + width, f"word of chunk {chunk}", "chunk word", value=word)
    return words.astype(np.int64)


@dataclass(frozen=True, slots=True)
class MiniBlock:
    """The description of a mini-block page of any version, and what its chunk headers hold.

    Two are equal where nothing but the number of items differs.
    """

    layers: Layers
    rep: CompressiveEncoding | None
    definition: CompressiveEncoding | None
    values: CompressiveEncoding
    dictionary: CompressiveEncoding | None
    num_dictionary_items: int
    num_buffers: int
    num_items: int = field(compare=False)
    wide: bool
    index_depth: int

    @property
    def num_levels(self) -> int:
        """Number of level buffers that each chunk has: 0, 1 or 2."""
        return (self.rep is not None) + (self.definition is not None)

    @property
    def header_bytes(self) -> int:
        """Size of the header of a chunk without its padding."""
        return 2 + 2 * self.num_levels + (4 if self.wide else 2) * self.num_buffers


def describe(
    layout: MiniBlockLayout, layers: Layers, version: FileVersion, place: Place
) -> MiniBlock:
    """Return the description in a message of 2.1 or 2.2. Raises CorruptPage, UnknownEncoding."""
    if layout.has_large_chunk != (version > V2_1):
        found = f"has_large_chunk {layout.has_large_chunk} in a file of version {version}"
        raise UnknownEncoding("L.page.miniblock.large-chunk", place, found, f"{version > V2_1}")
    if not layout.HasField("value_compression"):
        raise CorruptPage("L.page.miniblock.values-present", place, "none", "values")
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


def check_description(mini: MiniBlock, stored: StoredPage) -> None:
    """Check what is the same in pages that are alike. Raises CorruptPage, UnknownEncoding."""
    type_, version, ctx = stored.type, stored.version, stored.file.ctx
    place = stored.metadata.place
    for levels in (mini.rep, mini.definition):
        if levels is not None:
            check_levels(levels, version, ctx, place)
    for encoding in (mini.values, mini.dictionary):
        if encoding is not None:
            check_encoding(encoding, version, ctx, place)
    check_chunks(mini.values, place)
    expect("L.page.miniblock.num-buffers", mini.num_buffers, num_buffers(mini.values), place)
    has_lists = mini.layers.max_rep > 0
    expect("L.page.miniblock.repetition", mini.rep is not None, has_lists, place)
    expect("L.page.repindex.depth", mini.index_depth, int(has_lists), place)
    if mini.dictionary is not None:
        check_items(mini.dictionary, place)
        check_leaf_encoding(value_type(type_), mini.dictionary, place)
    elif pa.types.is_dictionary(type_):
        raise CorruptPage("L.page.leaf.kind", place, "no dictionary", f"{type_}")
    else:
        check_leaf_encoding(type_, mini.values, place)


def check_page(mini: MiniBlock, page: PageMetadata, ctx: Context) -> None:
    """Check the buffers of one page and how many items it has. Raises CorruptPage."""
    place, has_lists = page.place, mini.layers.max_rep > 0
    expect(BUFFERS, len(page.extents), 2 + (mini.dictionary is not None) + has_lists, place)
    for count in (mini.num_items, mini.num_dictionary_items):
        if count > ctx.limits.page_rows:
            wanted = f"{ctx.limits.page_rows} at most"
            raise CorruptPage("L.page.limits.items", place, count, wanted)
    if not has_lists:
        expect("L.page.miniblock.num-items", mini.num_items, page.num_rows, place)


def parse_chunks(cursor: Cursor, mini: MiniBlock, chosen: ChunkTable) -> tuple[ChunkRun, Counts]:
    """Parse at once the headers of chunks that start at positions of `cursor`, ascending.

    Return all their buffers (levels first) as one run, and the levels of each: (chunks,).

    Raises CorruptPage for a header that does not fill its chunk, or counts other levels.
    """
    ctx, base, starts, sizes = cursor.ctx, cursor.offset, chosen.starts, chosen.sizes
    size = int(starts[-1] + sizes[-1]) if len(sizes) else 0
    data = np.frombuffer(cursor.skip(size, "chunks", "L.page.miniblock.chunk-bytes"), np.uint8)
    header = padded(mini.header_bytes)
    for at in np.flatnonzero(sizes < header).tolist():
        place = ctx.at(base + int(starts[at]), int(sizes[at]))
        found = f"chunk {int(chosen.numbers[at])} of {int(sizes[at])} bytes"
        raise CorruptPage("L.page.miniblock.chunk-header", place, found, f"at least {header}")
    table, words = gather_rows(data, starts, header), 1 + mini.num_levels
    short = table.view("<u2")[:, :words].astype(np.int64)
    values = np.ascontiguousarray(table[:, 2 * words : mini.header_bytes])
    num_levels = short[:, 0]
    part_sizes = np.empty((mini.num_levels + mini.num_buffers, len(starts)), np.int64)
    part_sizes[: mini.num_levels] = short[:, 1:].T
    part_sizes[mini.num_levels :] = values.view("<u4" if mini.wide else "<u2").T
    padded_sizes = padded(part_sizes)
    part_ends = np.cumsum(padded_sizes, axis=0) + header
    for at in np.flatnonzero(part_ends[-1] != sizes).tolist():
        place, held = ctx.at(base + int(starts[at]), header), part_sizes[:, at].tolist()
        found = f"buffers of {held} bytes, {int(part_ends[-1][at])} with header and padding"
        wanted = f"{int(sizes[at])} bytes in chunk {int(chosen.numbers[at])}"
        raise CorruptPage("L.page.miniblock.chunk-fill", place, found, wanted)
    counts = chosen.counts
    expected = counts if mini.num_levels else np.zeros_like(counts)
    wrong = num_levels < np.maximum(counts, 1) if mini.rep is not None else num_levels != expected
    for at in np.flatnonzero(wrong).tolist():
        place = ctx.at(base + int(starts[at]), 2)
        found = f"{int(num_levels[at])} levels in chunk {int(chosen.numbers[at])}"
        wanted = f"{int(expected[at])}{' or more' if mini.rep is not None else ''}"
        raise CorruptPage("L.page.miniblock.num-levels", place, found, wanted)
    run = ChunkRun(ctx, data, base, part_ends - padded_sizes + starts, part_sizes, counts)
    if ctx.spans is not None or ctx.validating:
        _record(run, mini, chosen, num_levels)
    return run, num_levels


def padded(size: Size) -> Size:
    """Return sizes rounded up to whole units of eight bytes."""
    return (size + CHUNK_UNIT - 1) & -CHUNK_UNIT


def _record(run: ChunkRun, mini: MiniBlock, chosen: ChunkTable, num_levels: Counts) -> None:
    """Own headers and padding, and lint the padding; buffers are owned by their codecs."""
    ctx, kinds = run.ctx, [("levels", "u16", 2)]
    kinds += [("size of repetition", "u16", 2)] * (mini.rep is not None)
    kinds += [("size of definition", "u16", 2)] * (mini.definition is not None)
    wide = ("u32", 4) if mini.wide else ("u16", 2)
    kinds += [(f"size of value buffer {i}", *wide) for i in range(mini.num_buffers)]
    for chunk, (start, size) in enumerate(zip(chosen.starts.tolist(), chosen.sizes.tolist())):
        starts, ends = run.starts[:, chunk], run.starts[:, chunk] + run.sizes[:, chunk]
        values, at = [num_levels[chunk], *run.sizes[:, chunk]], run.base + start
        with ctx.group(f"chunk {int(chosen.numbers[chunk])}", "L.page.miniblock.chunk-header"):
            for (name, kind, width), value in zip(kinds, values, strict=True):
                ctx.leaf(at, at + width, name, kind, value=int(value))
                at += width
            gaps = zip([at - run.base, *ends.tolist()], [*starts.tolist(), start + size])
            for end, following in gaps:
                if end == following:
                    continue
                place, fill = ctx.at(run.base + end, following - end), run.data[end:following]
                ctx.leaf(run.base + end, run.base + following, "padding", "padding")
                if (fill != FILL).any():
                    found, wanted = fill.tobytes().hex(), f"bytes {FILL:02x}"
                    ctx.lint("L.page.miniblock.padding", place, found, wanted)
