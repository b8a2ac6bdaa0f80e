"""Odd containers: buffers in any order, between them more room than they need.

The buffers of all pages are mixed, gaps of whole blocks lie between them, buffers of the
application before and after the descriptor, and every message is spelled as `odd_wire` likes. The
sloppy oddities break rules that bind writers alone: other bytes as padding, two buffers of the same
bytes stored once, column metadata in any order and apart from each other, in 2.0 buffers that begin
anywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from lanceref.core.cursor import Extent
from lanceref.core.file_versions import FOOTER_WORDS, PAGE_TYPE, V2_0, FileVersion
from lanceref.file.arrow_schema import schema_message
from lanceref.file.column_io import Buffer, EncodedColumn
from lanceref.file.container import ALIGNMENT, COLUMN_TYPE, MAGIC
from lanceref.file.schema import LanceSchema
from lanceref.proto import file2_pb2, file_pb2
from lanceref.storage import Sink

from lanceref_testing.odd_wire import spell
from lanceref_testing.oddities import Chance

HOST = "type.googleapis.com"
"""What may lie before the name of a message in an `Any`."""

Slot = tuple[int, int, int]
"""Where a buffer is listed: column, page (-1 is the column itself), number in its list."""


class OddContainer:
    """Writes the bytes of a file around pages that are encoded already."""

    def __init__(self, sink: Sink, rng: Chance, version: FileVersion) -> None:
        self._sink, self._rng, self._version = sink, rng, version
        self._known: dict[bytes, Extent] = {}

    def write(self, data: Buffer) -> Extent:
        """Write a buffer where buffers may begin, after a gap or not; return where it lies."""
        stored = bytes(memoryview(pa.py_buffer(data)))
        if stored in self._known and self._rng.odd("equal buffers stored once"):
            return self._known[stored]
        if self._rng.odd("gaps between buffers", 0.2):
            self._pad(ALIGNMENT * self._rng.choice((1, 3)))
        self._known[stored] = self._append(stored)
        if self._version > V2_0 or not self._rng.odd("buffers that begin anywhere"):
            self._pad(-self._sink.position % ALIGNMENT)
        return self._known[stored]

    def _append(self, data: bytes) -> Extent:
        extent = Extent(self._sink.position, len(data))
        self._sink.write(data)
        return extent

    def _pad(self, size: int) -> None:
        odd = size and self._rng.odd("other bytes as padding")
        self._sink.write(self._rng.randbytes(size) if odd else b"H" * size)

    def finish(self, schema: LanceSchema, columns: Sequence[EncodedColumn], num_rows: int) -> None:
        """Write the buffers of all columns and the description of the file."""
        rng = self._rng
        placed = self._place(columns)
        messages = [self._column(column, i, placed) for i, column in enumerate(columns)]
        others = []
        if rng.odd("buffers of the application"):
            sizes = rng.choices((0, 1, 64, 100), k=rng.randint(1, 3))
            others = [self.write(rng.randbytes(size)) for size in sizes]
        descriptor = file_pb2.FileDescriptor(schema=schema_message(schema), length=num_rows)
        self._pad(-self._sink.position % ALIGNMENT)
        first = self._append(spell(rng, descriptor))
        if rng.odd("buffers after the descriptor"):
            self._pad(-self._sink.position % ALIGNMENT)
            others.append(self._append(rng.randbytes(70)))
        start = self._sink.position
        metadata = self._metadata(messages)
        tables = [self._table(metadata), self._table([first, *others])]
        if rng.odd("a gap before the footer"):
            self._pad(rng.randint(1, 9))
        counts = (1 + len(others), len(metadata))
        words = FOOTER_WORDS[self._version]
        self._append(struct.pack("<QQQIIHH4s", start, *tables, *counts, *words, MAGIC))

    def _place(self, columns: Sequence[EncodedColumn]) -> dict[Slot, Extent]:
        """Write the buffers of pages and columns in any order."""
        slots: list[tuple[Slot, Buffer]] = []
        for number, column in enumerate(columns):
            slots += [((number, -1, i), data) for i, data in enumerate(column.buffers)]
            for at, page in enumerate(column.pages):
                slots += [((number, at, i), data) for i, data in enumerate(page.buffers)]
        if self._rng.odd("buffers of pages mixed"):
            self._rng.shuffle(slots)
        return {slot: self.write(data) for slot, data in slots}

    def _column(
        self, column: EncodedColumn, number: int, placed: dict[Slot, Extent]
    ) -> file2_pb2.ColumnMetadata:
        extents = [placed[number, -1, i] for i in range(len(column.buffers))]
        message = file2_pb2.ColumnMetadata(
            encoding=self._direct(column.encoding, COLUMN_TYPE),
            buffer_offsets=[extent.offset for extent in extents],
            buffer_sizes=[extent.size for extent in extents],
        )
        for at, page in enumerate(column.pages):
            extents = [placed[number, at, i] for i in range(len(page.buffers))]
            message.pages.add(
                length=page.num_rows,
                encoding=self._direct(page.encoding, PAGE_TYPE[self._version]),
                priority=page.priority,
                buffer_offsets=[extent.offset for extent in extents],
                buffer_sizes=[extent.size for extent in extents],
            )
        return message

    def _direct(self, message: Message, type_name: str) -> file2_pb2.Encoding:
        host = HOST if self._rng.odd("type urls with a host") else ""
        url = f"{host}/{type_name}"
        packed = AnyMessage(type_url=url, value=spell(self._rng, message))
        stored = file2_pb2.DirectEncoding(encoding=spell(self._rng, packed))
        return file2_pb2.Encoding(direct=stored)

    def _metadata(self, messages: Sequence[Message]) -> list[Extent]:
        """Write the column metadata, most of the time in order and back to back."""
        order = list(range(len(messages)))
        if self._rng.odd("column metadata in any order"):
            self._rng.shuffle(order)
        extents: dict[int, Extent] = {}
        for index in order:
            if self._rng.odd("gaps between column metadata", 0.3):
                self._pad(self._rng.randint(1, 9))
            extents[index] = self._append(spell(self._rng, messages[index]))
        return [extents[index] for index in range(len(messages))]

    def _table(self, extents: Sequence[Extent]) -> int:
        """Write an offset table; return where it begins."""
        return self._append(
            b"".join(struct.pack("<QQ", extent.offset, extent.size) for extent in extents)
        ).offset
