"""Container: the parts of a file in any order that is legal, with gaps between them.

The buffers of all pages are shuffled, with gaps of whole blocks between them; application buffers
precede and follow the descriptor; messages are serialized by `noncanonical.wire`. The variations in
`WRITER_VIOLATIONS` break rules that bind writers alone: random bytes as padding, equal buffers
stored once, column metadata in any order with gaps, unaligned buffers in 2.0.
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

from lanceref_testing.noncanonical.variations import VariationSampler
from lanceref_testing.noncanonical.wire import serialize

HOST = "type.googleapis.com"
"""Host that may precede the name of a message in the type URL of an `Any`."""

Slot = tuple[int, int, int]
"""Owner of a buffer: column, page (-1 is the column itself), index in its list."""


class ContainerWriter:
    """Writes encoded pages, and the metadata of their file."""

    def __init__(self, sink: Sink, rng: VariationSampler, version: FileVersion) -> None:
        self._sink, self._rng, self._version = sink, rng, version
        self._known: dict[bytes, Extent] = {}

    def write(self, data: Buffer) -> Extent:
        """Write a buffer, aligned and after a gap or not; return its extent."""
        stored = bytes(memoryview(pa.py_buffer(data)))
        if stored in self._known and self._rng.varies("equal buffers stored once"):
            return self._known[stored]
        if self._rng.varies("gaps between buffers", 0.2):
            self._pad(ALIGNMENT * self._rng.choice((1, 3)))
        self._known[stored] = self._append(stored)
        if self._version > V2_0 or not self._rng.varies("unaligned buffers"):
            self._pad(-self._sink.position % ALIGNMENT)
        return self._known[stored]

    def _append(self, data: bytes) -> Extent:
        extent = Extent(self._sink.position, len(data))
        self._sink.write(data)
        return extent

    def _pad(self, size: int) -> None:
        is_random = size and self._rng.varies("other bytes as padding")
        self._sink.write(self._rng.randbytes(size) if is_random else b"H" * size)

    def finish(self, schema: LanceSchema, columns: Sequence[EncodedColumn], num_rows: int) -> None:
        """Write the buffers of all columns, the metadata and the footer."""
        rng = self._rng
        extents_by_slot = self._write_buffers(columns)
        messages = [
            self._column_metadata(column, i, extents_by_slot) for i, column in enumerate(columns)
        ]
        others = []
        if rng.varies("buffers of the application"):
            sizes = rng.choices((0, 1, 64, 100), k=rng.randint(1, 3))
            others = [self.write(rng.randbytes(size)) for size in sizes]
        descriptor = file_pb2.FileDescriptor(schema=schema_message(schema), length=num_rows)
        self._pad(-self._sink.position % ALIGNMENT)
        first = self._append(serialize(rng, descriptor))
        if rng.varies("buffers after the descriptor"):
            self._pad(-self._sink.position % ALIGNMENT)
            others.append(self._append(rng.randbytes(70)))
        start = self._sink.position
        metadata = self._write_metadata(messages)
        tables = [self._write_table(metadata), self._write_table([first, *others])]
        if rng.varies("a gap before the footer"):
            self._pad(rng.randint(1, 9))
        counts = (1 + len(others), len(metadata))
        words = FOOTER_WORDS[self._version]
        self._append(struct.pack("<QQQIIHH4s", start, *tables, *counts, *words, MAGIC))

    def _write_buffers(self, columns: Sequence[EncodedColumn]) -> dict[Slot, Extent]:
        """Write the buffers of pages and columns in any order; return their extents."""
        slots: list[tuple[Slot, Buffer]] = []
        for number, column in enumerate(columns):
            slots += [((number, -1, i), data) for i, data in enumerate(column.buffers)]
            for at, page in enumerate(column.pages):
                slots += [((number, at, i), data) for i, data in enumerate(page.buffers)]
        if self._rng.varies("shuffled buffers of pages"):
            self._rng.shuffle(slots)
        return {slot: self.write(data) for slot, data in slots}

    def _column_metadata(
        self, column: EncodedColumn, number: int, extents_by_slot: dict[Slot, Extent]
    ) -> file2_pb2.ColumnMetadata:
        extents = [extents_by_slot[number, -1, i] for i in range(len(column.buffers))]
        message = file2_pb2.ColumnMetadata(
            encoding=self._direct_encoding(column.encoding, COLUMN_TYPE),
            buffer_offsets=[extent.offset for extent in extents],
            buffer_sizes=[extent.size for extent in extents],
        )
        for at, page in enumerate(column.pages):
            extents = [extents_by_slot[number, at, i] for i in range(len(page.buffers))]
            message.pages.add(
                length=page.num_rows,
                encoding=self._direct_encoding(page.encoding, PAGE_TYPE[self._version]),
                priority=page.priority,
                buffer_offsets=[extent.offset for extent in extents],
                buffer_sizes=[extent.size for extent in extents],
            )
        return message

    def _direct_encoding(self, message: Message, type_name: str) -> file2_pb2.Encoding:
        host = HOST if self._rng.varies("type urls with a host") else ""
        url = f"{host}/{type_name}"
        packed = AnyMessage(type_url=url, value=serialize(self._rng, message))
        stored = file2_pb2.DirectEncoding(encoding=serialize(self._rng, packed))
        return file2_pb2.Encoding(direct=stored)

    def _write_metadata(self, messages: Sequence[Message]) -> list[Extent]:
        """Write the column metadata, in order and back to back or not; return their extents."""
        order = list(range(len(messages)))
        if self._rng.varies("column metadata in any order"):
            self._rng.shuffle(order)
        extents: dict[int, Extent] = {}
        for index in order:
            if self._rng.varies("gaps between column metadata", 0.3):
                self._pad(self._rng.randint(1, 9))
            extents[index] = self._append(serialize(self._rng, messages[index]))
        return [extents[index] for index in range(len(messages))]

    def _write_table(self, extents: Sequence[Extent]) -> int:
        """Write an offset table; return its offset."""
        return self._append(
            b"".join(struct.pack("<QQ", extent.offset, extent.size) for extent in extents)
        ).offset
