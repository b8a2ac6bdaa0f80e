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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from lanceref.codecs.compressive import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    decode_block,
    num_buffers,
)
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place, UnknownEncoding
from lanceref.core.file_versions import V2_1, FileVersion
from lanceref.file.columns import PageMetadata
from lanceref.pages.chunk_entries import ChunkDecoder, Items
from lanceref.pages.chunk_rows import ChunkRows
from lanceref.pages.chunk_table import Counts, parse_tables
from lanceref.pages.chunks import ChunkShape
from lanceref.pages.layers import Layers, Nested, expect
from lanceref.pages.leafvalues import check_leaf_encoding, leaf_array, value_type
from lanceref.pages.repindex import parse_indices
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, MiniBlockLayout

BUFFERS = "L.page.miniblock.buffers"
"""The clause that says which buffers a page has."""


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

    def is_like(self, other: MiniBlock) -> bool:
        """Whether nothing but the number of items differs."""
        return self._shape == other._shape

    @property
    def _shape(self) -> tuple[object, ...]:
        whole = self.layers, self.rep, self.definition, self.values, self.dictionary
        return *whole, self.num_dictionary_items, self.num_buffers, self.wide, self.index_depth


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
    mini: MiniBlock, type_: pa.DataType, version: FileVersion, ctx: Context, place: Place
) -> None:
    """The gates of mini-block pages that are alike: what their description alone can break."""
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
        raise CorruptPage("L.page.leaf.kind", place, found="no dictionary", wanted=f"{type_}")
    else:
        check_leaf_encoding(type_, mini.values, place)


def check_page(mini: MiniBlock, page: PageMetadata, ctx: Context) -> None:
    """The gates of one page: its buffers and how many items it has."""
    place, has_lists = page.place, mini.layers.max_rep > 0
    buffers = 2 + (mini.dictionary is not None) + has_lists
    expect("L.page.miniblock.buffers", len(page.extents), buffers, place)
    for count in (mini.num_items, mini.num_dictionary_items):
        if count > ctx.limits.page_rows:
            raise CorruptPage(
                "L.page.limits.items", place, found=count, wanted=f"{ctx.limits.page_rows} at most"
            )
    if not has_lists:
        expect("L.page.miniblock.num-items", mini.num_items, page.num_rows, place)


def _decoder(
    mini: MiniBlock, type_: pa.DataType, version: FileVersion, file: FileBytes
) -> ChunkDecoder:
    return ChunkDecoder(
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


class MiniBlockPage:
    """A mini-block page whose description has passed the gates.

    `known` is a page of the same column that has: what is like it has passed them too, and shares
    its description (but for the number of items) and its decoder.
    """

    def __init__(
        self,
        file: FileBytes,
        page: PageMetadata,
        mini: MiniBlock,
        type_: pa.DataType,
        version: FileVersion,
        known: MiniBlockPage | None = None,
    ) -> None:
        if known is not None and mini.is_like(known.shared):
            shared, type_, decoder = known.shared, known.type, known.decoder
        else:
            check_description(mini, type_, version, file.ctx, page.place)
            shared, decoder = mini, _decoder(mini, type_, version, file)
        check_page(mini, page, file.ctx)
        self.file = file
        self.page = page
        self.mini = mini
        self.shared: MiniBlock = shared
        self.type: pa.DataType = type_
        self.decoder: ChunkDecoder = decoder
        self.num_rows = page.num_rows // mini.layers.scale
        self._opened: ChunkRows | None = None

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end` of the page, about RUN_BYTES at a time."""
        return self.rows.scan(start, end)

    def take(self, rows: Counts) -> Nested:
        """Return the given rows (ascending, each once), decoding only their chunks."""
        return self.rows.take(rows)

    def check(self) -> None:
        """Decode every chunk once, in order, holding the repetition index against them."""
        self.rows.check()

    @cached_property
    def extent(self) -> Extent:
        """Bytes from the first buffer of the page to the last."""
        extents = self.page.extents
        start = min(extents).offset
        return Extent(start, max([offset + size for offset, size in extents]) - start)

    @property
    def rows(self) -> ChunkRows:
        """The chunks, once their tables are read."""
        if self._opened is None:
            self._opened = self.open_rows(self.file)
        return self._opened

    def open_rows(self, file: FileBytes) -> ChunkRows:
        """Read and parse chunk table, dictionary and repetition index."""
        return open_tables(file, [self])[0]

    @property
    def tables(self) -> list[Extent]:
        """Where the buffers beside the chunks are."""
        return [self.page.extents[0], *self.page.extents[2:]]

    def keep(self, opened: ChunkRows) -> None:
        """Keep the chunks, whose tables were read with those of other pages."""
        self._opened = opened

    def is_like(self, other: MiniBlockPage) -> bool:
        """Whether the pages differ in nothing but their number of items."""
        if pa.types.is_dictionary(self.type):
            return False
        if self.shared is other.shared:
            return True
        return self.type is other.type and self.mini.is_like(other.mini)

    @property
    def is_open(self) -> bool:
        """Whether the tables are read."""
        return self._opened is not None

    def parse_items(self, tables: Sequence[Cursor]) -> Items | None:
        """Parse the dictionary, if the page has one, which fills the second of its `tables`."""
        if self.mini.dictionary is None:
            return None
        cursor, count = tables[1], self.mini.num_dictionary_items
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        values = decode_block(self.mini.dictionary, cursor, count)
        expect("L.page.dictionary.num-items", values.count, count, place)
        return Items(leaf_array(value_type(self.type), values, None, place), count)


def open_tables(file: FileBytes, pages: Sequence[MiniBlockPage]) -> list[ChunkRows]:
    """Read and parse at once the tables of pages of one column: one of them, at least."""
    read = iter(
        file.cursors([one for page in pages for one in page.tables], "page tables", BUFFERS)
    )
    buffers = [[next(read) for _ in page.tables] for page in pages]
    tables = parse_tables(
        [own[0] for own in buffers],
        pages[0].mini.wide,
        [page.mini.num_items for page in pages],
        [page.page.extents[1] for page in pages],
    )
    listed = [at for at, page in enumerate(pages) if page.mini.layers.max_rep]
    indices = parse_indices(
        [buffers[at][-1] for at in listed],
        [tables[at].num_chunks for at in listed],
        [pages[at].page.num_rows for at in listed],
    )
    index_of = dict(zip(listed, indices, strict=True))
    return [
        ChunkRows(file, page.decoder, table, index_of.get(at), page.parse_items(own))
        for at, (page, table, own) in enumerate(zip(pages, tables, buffers, strict=True))
    ]
