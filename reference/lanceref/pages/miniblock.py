"""Mini-block pages: small values, a few thousand to a chunk.

The usual layout of narrow values. Levels and values of each chunk are compressed on their own, so a
chunk is what random access must decode. Dictionary-coded pages store indices in the chunks.

Layout (page buffers): 0 chunk table, 1 chunks (see `chunks`), then the dictionary when there is
one, then the repetition index when there are list layers.

Clauses: L.page.miniblock.values-present, L.page.miniblock.large-chunk,
L.page.miniblock.num-buffers, L.page.miniblock.buffers, L.page.miniblock.repetition,
L.page.miniblock.num-levels, L.page.repindex.depth, L.page.dictionary.num-items,
L.page.limits.items

Divergences: D.page.num-items-visible
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.choose import encode_levels
from lanceref.codecs.compressive import decode_block, num_buffers
from lanceref.codecs.description_checks import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
)
from lanceref.codecs.values import MiniBlocks, Part
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.column_io import Buffer
from lanceref.file.container import PageMetadata, StoredPage
from lanceref.pages.chunk_rows import ChunkRows
from lanceref.pages.chunks import FILL, Counts, MiniBlock, frame_chunks, parse_table
from lanceref.pages.layers import Layers, Nested
from lanceref.pages.leafvalues import check_leaf_encoding, leaf_array, value_type
from lanceref.pages.repindex import parse_index, repetition_index
from lanceref.pages.shred import LevelArray, RavelledLevels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, MiniBlockLayout

BUFFERS = "L.page.miniblock.buffers"
"""The clause that says which buffers a page has."""


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


class MiniBlockPage:
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
        if known is not None and mini.is_like(known.shared):
            self.shared, self.type = known.shared, known.type
        else:
            check_description(mini, stored)
        check_page(mini, self.page, self.file.ctx)

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        return self.rows.scan(start, end)

    def take(self, rows: Counts) -> Nested:
        """Return the given rows (ascending, each once), decoding only their chunks."""
        return self.rows.take(rows)

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
        return ChunkRows(file, self.shared, self.type, table, index, self._parse_items(tables))

    @property
    def tables(self) -> list[Extent]:
        """Where the buffers beside the chunks are."""
        return [self.page.extents[0], *self.page.extents[2:]]

    def _parse_items(self, tables: Sequence[Cursor]) -> pa.Array | None:
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
        return self.type is other.type and self.mini.is_like(other.mini)


Coded = tuple[CompressiveEncoding, NDArray[np.uint8], Counts]
"""A description, the bytes of all chunks joined, and the size in each chunk."""

LevelEncoder = Callable[[LevelArray, Counts, FileVersion], Coded]
"""Encodes the levels of a page, with the number of them in each chunk."""


StoredDictionary = tuple[CompressiveEncoding, Buffer, int]
"""The items of a page's dictionary: description, bytes, and how many they are."""


def miniblock_page(
    levels: RavelledLevels,
    values: MiniBlocks,
    dictionary: StoredDictionary | None,
    version: FileVersion,
    encode: LevelEncoder = encode_levels,
    fill: int = FILL,
) -> tuple[list[Buffer], MiniBlockLayout]:
    """Return the buffers of a page, and its description.

    `encode` chooses the codec of levels; `fill` pads the parts of chunks.
    """
    layout = MiniBlockLayout(
        value_compression=values.encoding,
        layers=levels.codes,  # type: ignore[arg-type]
        num_buffers=len(values.buffers),
        num_items=int(values.counts.sum()),
        has_large_chunk=version > V2_1,
    )
    ends = chunk_ends(levels, values.counts)
    num_levels, parts = np.diff(ends, prepend=0), list[Part]()
    for stored, target in (
        (levels.rep, layout.rep_compression),
        (levels.definition, layout.def_compression),
    ):
        if stored is not None:
            encoding, data, sizes = encode(stored, num_levels, version)
            target.CopyFrom(encoding)
            parts.append((data, sizes))
    counted = num_levels if parts else np.zeros_like(num_levels)
    wide = "<u2" if version == V2_1 else "<u4"
    buffers: list[Buffer] = [*frame_chunks(counted, parts, values, wide, fill)]
    if dictionary is not None:
        described, items, layout.num_dictionary_items = dictionary
        layout.dictionary.CopyFrom(described)
        buffers.append(items)
    if levels.rep is not None:
        layout.repetition_index_depth = 1
        index = repetition_index(levels.rep, levels.max_rep, ends)
        buffers.append(index.reshape(-1).view(np.uint8))
    return buffers, layout


def chunk_ends(levels: RavelledLevels, counts: Counts) -> Counts:
    """Return where the entries of each chunk end: placeholders after its values belong to it.

    `counts` and the result (chunks,).
    """
    ends, visible = np.cumsum(counts), levels.visible
    if visible is not None:
        ends = np.flatnonzero(visible)[ends - 1] + 1
        ends[-1] = levels.num_entries
    return ends
