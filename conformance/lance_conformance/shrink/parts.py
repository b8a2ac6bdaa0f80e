"""Parts: the fields and pages of a 2.x data file, and files with fewer of them.

Nothing is decoded: buffers are copied, and metadata is written with their new offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import Field, FileDescriptor
from lanceref.storage import BytesSource

ALIGNMENT = 64
"""Alignment of buffers, in bytes."""

_FOOTER_SIZE = 40


@dataclass(frozen=True, slots=True)
class Parts:
    """A file: its descriptor, the metadata of its columns, and its bytes.

    `column_of` maps ids of fields to columns; `others` are the global buffers except the
    descriptor.
    """

    data: bytes
    descriptor: FileDescriptor
    columns: tuple[ColumnMetadata, ...]
    others: tuple[bytes, ...]
    column_of: Mapping[int, int]

    @property
    def num_fields(self) -> int:
        """Number of top-level fields."""
        return sum(field.parent_id < 0 for field in self.descriptor.schema.fields)

    @property
    def num_pages(self) -> int:
        """Number of pages of every column; 0 if columns have different page boundaries."""
        cuts = {tuple(page.length for page in column.pages) for column in self.columns}
        return len(next(iter(cuts))) if len(cuts) == 1 else 0


def parse_file(data: bytes) -> Parts:
    """Return the parts of a file. Raises LanceError if it is no data file of 2.x."""
    file = open_file(BytesSource(data), Context("shrinking"))
    first, *others = file.global_buffers
    descriptor = FileDescriptor.FromString(data[first.offset : first.end])
    metadata = (data[extent.offset : extent.end] for extent in file.column_extents)
    columns = tuple(ColumnMetadata.FromString(one) for one in metadata)
    more = tuple(data[one.offset : one.end] for one in others)
    return Parts(data, descriptor, columns, more, file.assigned)


def with_fields(parts: Parts, numbers: Sequence[int]) -> Parts:
    """Return the file with some of its top-level fields, by number, and their columns."""
    descriptor = FileDescriptor()
    descriptor.CopyFrom(parts.descriptor)
    del descriptor.schema.fields[:]
    chosen = [one for number, one in enumerate(_subtrees(parts.descriptor)) if number in numbers]
    fields = [field for subtree in chosen for field in subtree]
    descriptor.schema.fields.extend(fields)
    numbers = sorted({parts.column_of[one.id] for one in fields if one.id in parts.column_of})
    columns = tuple(parts.columns[number] for number in numbers)
    return replace(parts, descriptor=descriptor, columns=columns)


def with_pages(parts: Parts, numbers: Sequence[int]) -> Parts:
    """Return the file with some of the pages of every column."""
    columns = []
    for column in parts.columns:
        fewer = ColumnMetadata()
        fewer.CopyFrom(column)
        del fewer.pages[:]
        fewer.pages.extend(column.pages[number] for number in numbers)
        columns.append(fewer)
    descriptor = FileDescriptor()
    descriptor.CopyFrom(parts.descriptor)
    descriptor.length = sum(page.length for page in columns[0].pages)
    return replace(parts, descriptor=descriptor, columns=tuple(columns))


def assemble(parts: Parts) -> bytes:
    """Return the file of the parts: referenced buffers, metadata, offset tables, footer."""
    out = bytearray()
    columns = [_move_buffers(column, parts.data, out) for column in parts.columns]
    buffers = [_append(out, one) for one in (_bytes(parts.descriptor), *parts.others)]
    entries = [_append(out, _bytes(column), align=1) for column in columns]
    starts = [entries[0][0] if entries else len(out)]
    for table in (entries, buffers):
        starts.append(len(out))
        for position, size in table:
            out += position.to_bytes(8, "little") + size.to_bytes(8, "little")
    out += b"".join(start.to_bytes(8, "little") for start in starts)
    out += len(buffers).to_bytes(4, "little") + len(columns).to_bytes(4, "little")
    return bytes(out + parts.data[-8:])


def data_end(data: bytes) -> int:
    """Return the offset at which the buffers of a file end and its metadata begins."""
    first = int.from_bytes(data[-_FOOTER_SIZE : -_FOOTER_SIZE + 8], "little")
    return min(first, len(data))


def _move_buffers(column: ColumnMetadata, data: bytes, out: bytearray) -> ColumnMetadata:
    """Append the buffers of a column to `out`; return the metadata with their new offsets."""
    moved = ColumnMetadata()
    moved.CopyFrom(column)
    owners: list[ColumnMetadata | ColumnMetadata.Page] = [moved, *moved.pages]
    for owner in owners:
        spans = list(zip(owner.buffer_offsets, owner.buffer_sizes, strict=True))
        offsets = [_append(out, data[offset : offset + size])[0] for offset, size in spans]
        owner.buffer_offsets[:] = offsets
    return moved


def _append(out: bytearray, data: bytes, align: int = ALIGNMENT) -> tuple[int, int]:
    out += bytes(-len(out) % align)
    out += data
    return len(out) - len(data), len(data)


def _bytes(part: Message) -> bytes:
    return bytes(part.SerializeToString(deterministic=True))


def _subtrees(descriptor: FileDescriptor) -> Iterator[list[Field]]:
    """Yield each top-level field with its descendants; fields are in depth-first order."""
    subtree: list[Field] = []
    for field in descriptor.schema.fields:
        if field.parent_id < 0 and subtree:
            yield subtree
            subtree = []
        subtree.append(field)
    if subtree:
        yield subtree
