"""Page of a 2.0 column: its buffers, and what every array encoding offers.

An encoding names its buffers by index: into the page's own buffers, or into those of the column.
Buffers of the file are in the grammar, but no reader is given any.

Clauses: L.array.buffer.index, L.array.buffer.type, L.array.buffer.shared, L.array.buffer.named
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from google.protobuf.message import Message

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, OutOfRange, Place, UnknownEncoding
from lanceref.encodings_2_0.rows import RowRanges
from lanceref.file.columns import ColumnMetadata, PageMetadata
from lanceref.proto import encodings_v2_0_pb2 as pb


class PageArray(Protocol):
    """One array encoding over the rows of one page.

    A read has two steps, so that requests of several encodings and pages can be planned together:
    `plan` names the extents, `decode` consumes one cursor for each of them, in the same order.
    """

    def plan(self, rows: RowRanges) -> list[Extent]:
        """Return the extents that `decode` needs first for these rows."""

    def decode(self, rows: RowRanges, parts: Iterator[Cursor]) -> pa.Array:
        """Return the rows, range after range, as one array."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the file and column around it."""

    file: FileBytes
    column: ColumnMetadata
    metadata: PageMetadata

    @property
    def ctx(self) -> Context:
        """Context of the read."""
        return self.file.ctx

    @property
    def place(self) -> Place:
        """Where the description of the page lies."""
        return self.metadata.place

    def extent(self, buffer: pb.Buffer) -> Extent:
        """Return the extent of the buffer an encoding names."""
        if buffer.buffer_type == pb.Buffer.page:
            extents = self.metadata.extents
        elif buffer.buffer_type == pb.Buffer.column:
            extents = self.column.extents
        else:  # L.array.buffer.type
            raise UnknownEncoding(
                "L.array.buffer.type",
                self.place,
                found=f"buffer type {buffer.buffer_type}",
                wanted="a buffer of the page (0) or of the column (1)",
            )
        if buffer.buffer_index >= len(extents):  # L.array.buffer.index
            raise OutOfRange(
                "L.array.buffer.index",
                self.place,
                found=f"buffer {buffer.buffer_index}",
                wanted=f"a buffer below {len(extents)}",
            )
        return extents[buffer.buffer_index]

    def check_buffers(self) -> None:
        """Refuse an encoding of which two parts name one buffer of the page."""
        if len(self.metadata.extents) < 2:
            return
        named = list(_page_buffers(self.metadata.encoding))
        if len(set(named)) != len(named):  # L.array.buffer.shared
            raise CorruptPage(
                "L.array.buffer.shared",
                self.place,
                found=f"buffers {named[:8]}",
                wanted="a buffer for each part",
            )

    def lint_buffers(self) -> None:
        """Lint: every buffer of the page belongs to exactly one part of its encoding."""
        if not self.ctx.validating:
            return
        named = Counter(_page_buffers(self.metadata.encoding))
        for index, extent in enumerate(self.metadata.extents):
            if named[index] != 1:
                self.ctx.lint(
                    "L.array.buffer.named",
                    self.at(extent),
                    found=f"buffer {index} of the page named {named[index]} times",
                    wanted="once",
                )

    def at(self, extent: Extent) -> Place:
        """Name the bytes of an extent."""
        return self.ctx.at(extent.offset, extent.size)


def _page_buffers(message: Message) -> Iterator[int]:
    """Yield the index of every page buffer that an encoding names, at any depth."""
    if isinstance(message, pb.PackedStruct):  # its children repeat its buffer
        message = message.buffer
    if isinstance(message, pb.Buffer):
        if message.buffer_type == pb.Buffer.page:
            yield message.buffer_index
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in [value] if isinstance(value, Message) else value:
            yield from _page_buffers(inner)


def read(array: PageArray, page: Page, rows: RowRanges) -> pa.Array:
    """Plan, read and decode in one go."""
    extents = array.plan(rows)
    return array.decode(
        rows, iter(page.file.cursors(extents, "page buffer", "L.file.pages.extent"))
    )
