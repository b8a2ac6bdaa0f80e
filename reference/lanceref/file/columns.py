"""Column metadata: the description of one physical column.

One `ColumnMetadata` message per column, in column order, back to back before the offset tables. It
lists the column's pages: where their buffers lie, how many rows they hold and how they are encoded.

Layout (message lance.file.v2.ColumnMetadata): 1 encoding, 2 pages {1 buffer_offsets, 2
buffer_sizes, 3 length, 4 encoding, 5 priority}, 3 buffer_offsets, 4 buffer_sizes. An encoding is an
`Any` wrapped in `Encoding.direct`; its type decides the grammar of the page and depends on the file
version.

Clauses: L.file.columns.message, L.file.columns.encoding, L.file.pages.extents-pair,
L.file.pages.extent, L.file.pages.encoding, L.file.pages.type-url, L.file.pages.length,
L.file.alignment.buffers

Divergences: D.file.deferred-encoding-unread
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage, OutOfRange, Place, UnknownEncoding
from lanceref.core.file_versions import PAGE_TYPE, V2_0, FileVersion
from lanceref.core.wire import parse_message
from lanceref.proto import encodings_v2_0_pb2, encodings_v2_1_pb2, encodings_v2_3_pb2, file2_pb2

ALIGNMENT = 64
"""Every buffer starts at a multiple of this many bytes."""

COLUMN_TYPE = "lance.encodings.ColumnEncoding"
"""Message of a column's encoding, in every version."""

_MESSAGES: dict[str, type[Message]] = {
    COLUMN_TYPE: encodings_v2_0_pb2.ColumnEncoding,
    "lance.encodings.ArrayEncoding": encodings_v2_0_pb2.ArrayEncoding,
    "lance.encodings21.PageLayout": encodings_v2_1_pb2.PageLayout,
    "lance.encodings23.PlanarLayout": encodings_v2_3_pb2.PlanarLayout,
}

Buffers: TypeAlias = file2_pb2.ColumnMetadata | file2_pb2.ColumnMetadata.Page
"""Messages that list buffers."""


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """One page: absolute buffer extents, rows (or items), first row, parsed encoding message.

    `place` is where the column's metadata lies, for errors about the description.
    """

    extents: tuple[Extent, ...]
    num_rows: int
    priority: int
    encoding: Message
    place: Place


@dataclass(frozen=True, slots=True)
class ColumnMetadata:
    """One physical column: its pages and the column-level buffers (never written by the oracle)."""

    index: int
    pages: tuple[PageMetadata, ...]
    encoding: Message
    extents: tuple[Extent, ...]
    place: Place

    @property
    def num_rows(self) -> int:
        """Sum of the page lengths."""
        return sum(page.num_rows for page in self.pages)


def parse_column(cursor: Cursor, index: int, version: FileVersion, data_end: int) -> ColumnMetadata:
    """Parse the message that fills `cursor`; buffers must lie in bytes 0..`data_end`."""
    ctx, place = cursor.ctx, cursor.ctx.at(cursor.offset, cursor.remaining)
    message = parse_message(
        cursor, file2_pb2.ColumnMetadata, f"column metadata {index}", "L.file.columns.message"
    )
    encoding = _encoding(message.encoding, COLUMN_TYPE, "L.file.columns.encoding", ctx, place)
    of_column = _extents(message, version, data_end, ctx, place)
    pages = []
    shared: dict[bytes, Message] = {}  # pages with the same bytes share their encoding
    first_row = 0
    for page in message.pages:
        if page.length > ctx.limits.page_rows:
            clause, wanted = "L.file.pages.length", f"at most {ctx.limits.page_rows} rows"
            raise OutOfRange(clause, place, f"a page of {page.length} rows", wanted)
        key, type_name = page.encoding.direct.encoding, PAGE_TYPE[version]
        own = _extents(page, version, data_end, ctx, place)
        if key not in shared:
            clause = "L.file.pages.encoding"
            shared[key] = _encoding(page.encoding, type_name, clause, ctx, place)
        pages.append(PageMetadata(own, page.length, page.priority, shared[key], place))
    for one in pages:  # 0 in 2.0, never decreasing later
        if one.priority < first_row or (version == V2_0 and one.priority != 0):
            ctx.lint("L.file.pages.priority", place, one.priority, f"{first_row} or more")
        first_row = 0 if version == V2_0 else max(first_row, one.priority)
    return ColumnMetadata(index, tuple(pages), encoding, of_column, place)


def _extents(
    owner: Buffers, version: FileVersion, data_end: int, ctx: Context, place: Place
) -> tuple[Extent, ...]:
    """Return where the buffers of a column or page lie."""
    offsets, sizes = owner.buffer_offsets, owner.buffer_sizes
    if len(offsets) != len(sizes):
        clause, found = "L.file.pages.extents-pair", f"{len(sizes)} sizes"
        raise CorruptPage(clause, place, found, f"{len(offsets)}, one for each offset")
    extents = tuple(map(Extent, offsets, sizes))
    for offset, size in extents:
        if offset + size > data_end:
            clause, found = "L.file.pages.extent", f"a buffer of {size} bytes at {offset}"
            raise OutOfRange(clause, place, found, f"at most {data_end} bytes")
        if offset % ALIGNMENT:
            clause, found = "L.file.alignment.buffers", f"a buffer at {offset}"
            misaligned = OutOfRange(clause, place, found, f"a multiple of {ALIGNMENT}")
            if version > V2_0:
                ctx.refuse(misaligned)
            else:
                ctx.lint(clause, place, found, misaligned.wanted)
    return extents


def _encoding(
    encoding: file2_pb2.Encoding, type_name: str, clause: str, ctx: Context, place: Place
) -> Message:
    """Unwrap `Encoding.direct` into the message named `type_name`."""
    arm = encoding.WhichOneof("location")
    if arm != "direct":
        raise UnknownEncoding(clause, place, f"encoding {arm or 'missing'}", "direct")
    packed = parse_any(encoding.direct.encoding, ctx, place)
    name = packed.type_url.rpartition("/")[2]
    if name != type_name or "/" not in packed.type_url:
        found, wanted = repr(packed.type_url), f"/{type_name}"
        raise UnknownEncoding("L.file.pages.type-url", place, found, wanted)
    value = Cursor(memoryview(packed.value), place.offset, ctx)
    return parse_message(value, _MESSAGES[type_name], type_name, clause, embedded_in=place)


def parse_any(data: bytes, ctx: Context, place: Place) -> AnyMessage:
    """Parse the `Any` that an encoding is stored as."""
    cursor, clause = Cursor(memoryview(data), place.offset, ctx), "L.file.pages.encoding"
    return parse_message(cursor, AnyMessage, "encoding", clause, embedded_in=place)
