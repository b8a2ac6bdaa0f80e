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

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from struct import calcsize, unpack_from
from typing import TypeVar

import numpy as np
import pyarrow as pa

from lanceref.codecs.buffers import Buffer, remaining_buffer
from lanceref.codecs.compressive import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    num_buffers,
)
from lanceref.codecs.values import Ints
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

INSIDE = ""
"""Clause of what a chunk consists of: that of the chunk, which encloses it."""

Size = TypeVar("Size", int, Ints)
"""Bytes of one buffer, or of one in each chunk."""


@dataclass(frozen=True)
class ChunkTable:
    """The chunks of a page, or some of them: `numbers` (ascending), offsets, bytes and values."""

    numbers: Ints
    starts: Ints
    sizes: Ints
    counts: Ints

    @property
    def num_chunks(self) -> int:
        """Number of chunks that the table lists."""
        return len(self.sizes)

    @property
    def ends(self) -> Ints:
        """Offset of the first byte after each chunk: (chunks,)."""
        return self.starts + self.sizes

    @property
    def extent(self) -> Extent:
        """The bytes from the first of the chunks to the last."""
        start = int(self.starts[0])
        return Extent(start, int(self.ends[-1]) - start)

    @cached_property
    def value_ends(self) -> Ints:
        """Values up to and with each chunk: (chunks,)."""
        return np.cumsum(self.counts)

    @property
    def extents(self) -> list[Extent]:
        """Where the bytes of each chunk lie."""
        return list(map(Extent, self.starts.tolist(), self.sizes.tolist()))

    def choose(self, numbers: Ints) -> ChunkTable:
        """Select chunks of a whole page by their numbers. `numbers` (n,), ascending."""
        return ChunkTable(numbers, self.starts[numbers], self.sizes[numbers], self.counts[numbers])


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


def parse_words(cursor: Cursor, width: int) -> Ints:
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
    def header_fields(self) -> list[tuple[str, int]]:
        """Name and bytes of each integer in the header of a chunk."""
        fields = [("levels", 2)]
        fields += [("size of repetition", 2)] * (self.rep is not None)
        fields += [("size of definition", 2)] * (self.definition is not None)
        width = 4 if self.wide else 2
        return [*fields, *((f"size of value buffer {i}", width) for i in range(self.num_buffers))]

    @property
    def header_format(self) -> str:
        """The integers in the header of a chunk, for `struct`."""
        return f"<{1 + self.num_levels}H{self.num_buffers}{'I' if self.wide else 'H'}"

    @property
    def header_bytes(self) -> int:
        """Size of the header of a chunk without its padding."""
        return calcsize(self.header_format)


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


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk whose header was parsed: how many levels and values it has, and their buffers."""

    number: int
    num_levels: int
    count: int
    levels: Sequence[Buffer]
    values: Sequence[Buffer]

    @property
    def num_entries(self) -> int:
        """Number of entries: a page without levels has one for each value."""
        return self.num_levels if self.levels else self.count


def parse_chunk(cursor: Cursor, mini: MiniBlock, number: int, count: int) -> Chunk:
    """Parse the header of the chunk of `count` values that fills the cursor, and cut its buffers.

    Raises CorruptPage for a header that does not fill its chunk, or counts other levels.
    """
    ctx, start, size = cursor.ctx, cursor.offset, cursor.remaining
    header, name = padded(mini.header_bytes), f"chunk {number}"
    clause = "L.page.miniblock.chunk-header"
    if size < header:
        found, wanted = f"{name} of {size} bytes", f"at least {header}"
        raise CorruptPage(clause, ctx.at(start, size), found, wanted)
    num_levels, *sizes = unpack_from(mini.header_format, cursor.data)
    end = header + sum(map(padded, sizes))
    if end != size:
        found = f"buffers of {sizes} bytes, {end} with header and padding"
        place, wanted = ctx.at(start, header), f"{size} bytes in {name}"
        raise CorruptPage("L.page.miniblock.chunk-fill", place, found, wanted)
    _check_num_levels(num_levels, mini, count, name, ctx.at(start, 2))
    with ctx.group(name, clause):
        for field_name, width in mini.header_fields:
            (cursor.u16 if width == 2 else cursor.u32)(field_name, INSIDE)
        _skip_padding(cursor, start)
        buffers = list[Buffer]()
        for part in sizes:
            buffers.append(remaining_buffer(cursor.window(part, "buffer", clause)))
            _skip_padding(cursor, start)
    return Chunk(number, num_levels, count, buffers[: mini.num_levels], buffers[mini.num_levels :])


def _check_num_levels(
    num_levels: int, mini: MiniBlock, count: int, name: str, place: Place
) -> None:
    """Raise CorruptPage unless a chunk has a level for each value, or more where there are lists.

    A chunk without levels says 0.
    """
    wanted, clause = count if mini.num_levels else 0, "L.page.miniblock.num-levels"
    found = f"{num_levels} levels in {name}"
    if mini.rep is None:
        if num_levels != wanted:
            raise CorruptPage(clause, place, found, wanted)
    elif num_levels < max(count, 1):
        raise CorruptPage(clause, place, found, f"{wanted} or more")


def _skip_padding(cursor: Cursor, start: int) -> None:
    """Cut the bytes up to a whole unit after `start`, and lint them."""
    size, clause = -(cursor.offset - start) % CHUNK_UNIT, "L.page.miniblock.padding"
    if size:
        place = cursor.ctx.at(cursor.offset, size)
        padding = bytes(cursor.take(size, "padding", INSIDE, "padding"))
        if padding.strip(bytes([FILL])):
            cursor.ctx.lint(clause, place, padding.hex(), f"bytes {FILL:02x}")


def padded(size: Size) -> Size:
    """Return sizes rounded up to whole units of eight bytes."""
    return (size + CHUNK_UNIT - 1) & -CHUNK_UNIT
