"""Odd containers: buffers in any order, between them more room than they need.

The buffers of all pages are mixed, gaps of whole blocks stand between them, buffers of the
application before and behind the descriptor, and every message is spelled as `odd_wire` likes. With
`sloppy` the file breaks rules that bind writers alone: other bytes as padding, two buffers of the
same bytes stored once, column metadata in any order and apart from each other, in 2.0 buffers that
begin anywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from lanceref.cursor import Extent
from lanceref.file.column_writer import Buffer, EncodedColumn
from lanceref.file.columns import ALIGNMENT, COLUMN_TYPE
from lanceref.file.footer import MAGIC
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_write import schema_message
from lanceref.file.versions import FOOTER_WORDS, PAGE_TYPE, V2_0, FileVersion
from lanceref.proto import file2_pb2, file_pb2
from lanceref.storage import Sink
from lanceref.testing.odd_wire import spell

HOSTS = ("", "", "type.googleapis.com")
"""What may stand before the name of a message in an `Any`."""

Slot = tuple[int, int, int]
"""Where a buffer is listed: column, page (-1 is the column itself), number in its list."""


class OddContainer:
    """Writes the bytes of a file around pages that are encoded already."""

    def __init__(self, sink: Sink, rng: Random, version: FileVersion, *, sloppy: bool) -> None:
        self._sink, self._rng, self._version, self._sloppy = sink, rng, version, sloppy
        self._known: dict[bytes, Extent] = {}

    def write(self, data: Buffer) -> Extent:
        """Write a buffer where buffers may begin, after a gap or not; return where it lies."""
        stored = bytes(memoryview(pa.py_buffer(data)))
        if self._sloppy and stored in self._known:
            return self._known[stored]
        self._pad(ALIGNMENT * self._rng.choice((0, 0, 0, 0, 1, 3)))
        self._known[stored] = self._append(stored)
        if not (self._sloppy and self._version == V2_0 and self._rng.random() < 0.5):
            self._pad(-self._sink.position % ALIGNMENT)
        return self._known[stored]

    def _append(self, data: bytes) -> Extent:
        extent = Extent(self._sink.position, len(data))
        self._sink.write(data)
        return extent

    def _pad(self, size: int) -> None:
        self._sink.write(self._rng.randbytes(size) if self._sloppy else b"H" * size)

    def finish(self, schema: LanceSchema, columns: Sequence[EncodedColumn], num_rows: int) -> None:
        """Write the buffers of all columns and the description of the file."""
        rng = self._rng
        placed = self._place(columns)
        messages = [self._column(column, i, placed) for i, column in enumerate(columns)]
        user = [rng.randbytes(rng.choice((0, 1, 64, 100))) for _ in range(rng.choice((0, 0, 1, 3)))]
        before = [self.write(data) for data in user]
        descriptor = file_pb2.FileDescriptor(schema=schema_message(schema), length=num_rows)
        self._pad(-self._sink.position % ALIGNMENT)
        first = self._append(spell(rng, descriptor))
        if rng.random() < 0.3:
            self._pad(-self._sink.position % ALIGNMENT)
            before.append(self._append(rng.randbytes(70)))
        start = self._sink.position
        metadata = self._metadata(messages)
        if self._sloppy:
            self._pad(rng.randint(0, 9))
        tables = [self._table(metadata), self._table([first, *before])]
        if self._sloppy:
            self._pad(rng.choice((0, 0, 5)))
        counts = (1 + len(before), len(metadata))
        words = FOOTER_WORDS[self._version]
        self._append(struct.pack("<QQQIIHH4s", start, *tables, *counts, *words, MAGIC))

    def _place(self, columns: Sequence[EncodedColumn]) -> dict[Slot, Extent]:
        """Write the buffers of pages and columns in any order."""
        slots: list[tuple[Slot, Buffer]] = []
        for number, column in enumerate(columns):
            slots += [((number, -1, i), data) for i, data in enumerate(column.buffers)]
            for at, page in enumerate(column.pages):
                slots += [((number, at, i), data) for i, data in enumerate(page.buffers)]
        if self._rng.random() < 0.7:
            self._rng.shuffle(slots)
        return {slot: self.write(data) for slot, data in slots}

    def _column(
        self, column: EncodedColumn, number: int, placed: dict[Slot, Extent]
    ) -> file2_pb2.ColumnMetadata:
        def listed(at: int, count: int) -> dict[str, list[int]]:
            extents = [placed[number, at, i] for i in range(count)]
            return {
                "buffer_offsets": [extent.offset for extent in extents],
                "buffer_sizes": [extent.size for extent in extents],
            }

        message = file2_pb2.ColumnMetadata(
            encoding=self._direct(column.encoding, COLUMN_TYPE), **listed(-1, len(column.buffers))
        )
        for at, page in enumerate(column.pages):
            message.pages.add(
                length=page.num_rows,
                encoding=self._direct(page.encoding, PAGE_TYPE[self._version]),
                priority=page.priority,
                **listed(at, len(page.buffers)),
            )
        return message

    def _direct(self, message: Message, type_name: str) -> file2_pb2.Encoding:
        url = f"{self._rng.choice(HOSTS)}/{type_name}"
        packed = AnyMessage(type_url=url, value=spell(self._rng, message))
        stored = file2_pb2.DirectEncoding(encoding=spell(self._rng, packed))
        return file2_pb2.Encoding(direct=stored)

    def _metadata(self, messages: Sequence[Message]) -> list[Extent]:
        """Write the column metadata, in any order and apart when sloppy."""
        order = list(range(len(messages)))
        if self._sloppy:
            self._rng.shuffle(order)
        extents: dict[int, Extent] = {}
        for index in order:
            if self._sloppy:
                self._pad(self._rng.choice((0, 0, 7)))
            extents[index] = self._append(spell(self._rng, messages[index]))
        return [extents[index] for index in range(len(messages))]

    def _table(self, extents: Sequence[Extent]) -> int:
        """Write an offset table; return where it begins."""
        return self._append(
            b"".join(struct.pack("<QQ", extent.offset, extent.size) for extent in extents)
        ).offset
