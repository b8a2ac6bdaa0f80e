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

import pyarrow as pa

from lanceref.codecs.compressive import (
    check_chunks,
    check_encoding,
    check_items,
    check_levels,
    decode_block,
    num_buffers,
)
from lanceref.cursor import Cursor, Extent, FileBytes
from lanceref.errors import CorruptPage, Place, UnknownEncoding
from lanceref.file.columns import PageMetadata
from lanceref.file.versions import V2_1, FileVersion
from lanceref.pages.chunk_entries import ChunkDecoder, Items
from lanceref.pages.chunk_rows import ChunkRows
from lanceref.pages.chunk_table import Counts, parse_table
from lanceref.pages.chunks import ChunkShape
from lanceref.pages.expect import expect
from lanceref.pages.layers import Layers
from lanceref.pages.leafvalues import (
    check_leaf_encoding,
    leaf_array,
    value_type,
)
from lanceref.pages.nested import Nested
from lanceref.pages.repindex import parse_index
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
    check_chunks(mini.values, place)
    expect("L.page.miniblock.num-buffers", mini.num_buffers, num_buffers(mini.values), place)
    has_lists = mini.layers.max_rep > 0
    expect("L.page.miniblock.repetition", mini.rep is not None, has_lists, place)
    expect("L.page.repindex.depth", mini.index_depth, int(has_lists), place)
    buffers = 2 + (mini.dictionary is not None) + has_lists
    expect("L.page.miniblock.buffers", len(page.extents), buffers, place)
    if mini.dictionary is not None:
        check_items(mini.dictionary, place)
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
        self.file = file
        self.page = page
        self.mini = mini
        self.type = type_
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
        start = min(extent.offset for extent in self.page.extents)
        return Extent(start, max(extent.end for extent in self.page.extents) - start)

    @property
    def rows(self) -> ChunkRows:
        """The chunks, once their tables are read."""
        if self._opened is None:
            self._opened = self.open_rows(self.file)
        return self._opened

    def open_rows(self, file: FileBytes) -> ChunkRows:
        """Read and parse chunk table, dictionary and repetition index."""
        return self._parse(file, file.cursors(self.tables, "page tables", BUFFERS))

    @property
    def tables(self) -> list[Extent]:
        """Where the buffers beside the chunks are."""
        return [self.page.extents[0], *self.page.extents[2:]]

    def _parse(self, file: FileBytes, buffers: list[Cursor]) -> ChunkRows:
        mini, page = self.mini, self.page
        table = parse_table(buffers[0], mini.wide, mini.num_items, page.extents[1])
        index = None
        if mini.layers.max_rep:
            index = parse_index(buffers[-1], table.num_chunks, page.num_rows)
        items = None
        if mini.dictionary is not None:
            values = self._parse_dictionary(mini.dictionary, buffers[1])
            items = Items(values, mini.num_dictionary_items)
        return ChunkRows(file, self._decoder, table, index, items)

    def open_with(self, buffers: list[Cursor]) -> None:
        """Parse the tables, which lie in `buffers`."""
        self._opened = self._parse(self.file, buffers)

    def is_like(self, other: MiniBlockPage) -> bool:
        """Whether the pages differ in nothing but their number of items."""
        if pa.types.is_dictionary(self.type):
            return False
        return self.type is other.type and self.mini.is_like(other.mini)

    @property
    def is_open(self) -> bool:
        """Whether the tables are read."""
        return self._opened is not None

    def _parse_dictionary(self, encoding: CompressiveEncoding, cursor: Cursor) -> pa.Array:
        place, count = (
            cursor.ctx.at(cursor.offset, cursor.remaining),
            self.mini.num_dictionary_items,
        )
        values = decode_block(encoding, cursor, count)
        expect("L.page.dictionary.num-items", values.count, count, place)
        return leaf_array(value_type(self.type), values, None, place)
