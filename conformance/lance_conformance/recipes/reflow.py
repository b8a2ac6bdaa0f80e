"""Editing a message inside a file and recomputing the lengths and offsets around it.

Everything that describes a data file lies after its data, so the data keep their place: the
descriptor, the column metadata, the two tables and the footer are laid out anew. A manifest is a
row of length-prefixed sections and a footer that points at the last; so is what describes a 0.1
file, and a vector index of a single file. Another global buffer than the descriptor moves after
this when its message is edited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import DataFile, open_metadata
from lanceref.proto import (
    encodings_v2_0_pb2,
    encodings_v2_1_pb2,
    encodings_v2_3_pb2,
    file2_pb2,
    file_pb2,
    index_pb2,
    table_pb2,
    transaction_pb2,
)
from lanceref.storage import BytesSource

_PAGE_MESSAGES: dict[str, type[Message]] = {
    "ArrayEncoding": encodings_v2_0_pb2.ArrayEncoding,
    "PageLayout": encodings_v2_1_pb2.PageLayout,
    "PlanarLayout": encodings_v2_3_pb2.PlanarLayout,
}

PADDING = b"H"
"""What lies between buffers."""

_BUFFERS: dict[str, type[Message]] = {"IVF": index_pb2.IVF, "Tensor": index_pb2.Tensor}

_SECTIONS: dict[str, type[Message]] = {
    "manifest": table_pb2.Manifest,
    "transaction": transaction_pb2.Transaction,
    "index section": table_pb2.IndexSection,
}


@dataclass(frozen=True, slots=True)
class Edited:
    """The new file, and the edited message before and after; `at` is where it stood."""

    data: bytes
    at: int
    was: bytes
    now: bytes


def edit_message(name: str, data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    """Apply `edit` to the message `where` names in the file `name`."""
    if name.endswith(".manifest"):
        return _edit_manifest(data, where, edit)
    if name.endswith(".txn"):
        return _edit_bare(data, transaction_pb2.Transaction, edit)
    if where == "metadata":
        return _edit_prefixed(data, file_pb2.Metadata, edit)
    if where == "index":
        return _edit_prefixed(data, index_pb2.Index, edit)
    return _edit_data_file(data, where, edit)


def _changed(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> bytes:
    message = cls.FromString(data)
    edit(message)
    return bytes(message.SerializeToString(deterministic=True))


def _edit_bare(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> Edited:
    now = _changed(data, cls, edit)
    return Edited(now, 0, data, now)


def _edit_prefixed(data: bytes, cls: type[Message], edit: Callable[[Message], None]) -> Edited:
    """Edit the message that only the footer stands after."""
    at = int.from_bytes(data[-16:-8], "little")
    was = _section(data, at)
    now = _changed(was, cls, edit)
    changed = data[:at] + len(now).to_bytes(4, "little") + now + data[-16:]
    return Edited(changed, at + 4, was, now)


def _edit_data_file(data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    file = open_metadata(BytesSource(data), Context("parent", findings=[]))
    descriptor_at = file.global_buffers[0]
    descriptor = data[descriptor_at.offset : descriptor_at.end]
    columns = [data[extent.offset : extent.end] for extent in file.column_extents]
    kind, _, number = where.partition(" ")
    if kind == "buffer":
        return _edit_buffer(data, file, number, edit)
    if kind == "descriptor":
        was, at = descriptor, descriptor_at.offset
        now = descriptor = _changed(was, file_pb2.FileDescriptor, edit)
    else:
        index = int(number.partition(".")[0])
        was, at = columns[index], file.column_extents[index].offset
        if kind == "page":
            page = int(number.partition(".")[2])
            now = _changed(was, file2_pb2.ColumnMetadata, lambda m: _edit_page(m, page, edit))
        else:
            now = _changed(was, file2_pb2.ColumnMetadata, edit)
        columns[index] = now
    return Edited(_lay_out(data, file, descriptor, columns), at, was, now)


def _edit_buffer(data: bytes, file: DataFile, told: str, edit: Callable[[Message], None]) -> Edited:
    """Edit the message in a global buffer, told as its number and its type."""
    number, _, name = told.partition(" ")
    extent, descriptor = file.global_buffers[int(number)], file.global_buffers[0]
    was = data[extent.offset : extent.end]
    now = _changed(was, _BUFFERS[name], edit)
    first = data[descriptor.offset : descriptor.end]
    columns = [data[one.offset : one.end] for one in file.column_extents]
    cleared = data[: extent.offset] + PADDING * len(was) + data[extent.end :]
    moved = _lay_out(cleared, file, first, columns, {int(number): now})
    return Edited(moved, extent.offset, was, now)


def _edit_page(message: Message, page: int, edit: Callable[[Message], None]) -> None:
    assert isinstance(message, file2_pb2.ColumnMetadata)
    direct = message.pages[page].encoding.direct
    packed = AnyMessage.FromString(direct.encoding)
    cls = _PAGE_MESSAGES[packed.type_url.rpartition(".")[2]]
    packed.value = _changed(packed.value, cls, edit)
    direct.encoding = packed.SerializeToString(deterministic=True)


def _lay_out(
    data: bytes,
    file: DataFile,
    descriptor: bytes,
    columns: list[bytes],
    moved: Mapping[int, bytes] | None = None,
) -> bytes:
    """Return the data area followed by descriptor, columns, tables and footer at new places.

    Global buffers that `moved` come before the columns.
    """
    start = file.global_buffers[0].offset
    buffers = [(start, len(descriptor)), *file.global_buffers[1:]]
    out = bytearray(data[:start] + descriptor)
    for number, buffer in (moved or {}).items():
        buffers[number] = (len(out), len(buffer))
        out += buffer
    first, entries = len(out), []
    for column in columns:
        entries.append((len(out), len(column)))
        out += column
    starts = [first, len(out)]
    for position, size in entries:
        out += position.to_bytes(8, "little") + size.to_bytes(8, "little")
    starts.append(len(out))
    for position, size in buffers:
        out += position.to_bytes(8, "little") + size.to_bytes(8, "little")
    out += b"".join(word.to_bytes(8, "little") for word in starts)
    return bytes(out + data[-16:])


def _edit_manifest(data: bytes, where: str, edit: Callable[[Message], None]) -> Edited:
    """Edit one section; the sections after it move, and what points at them is recomputed."""
    at_manifest = int.from_bytes(data[-16:-8], "little")
    manifest = table_pb2.Manifest.FromString(_section(data, at_manifest))
    places = {"manifest": at_manifest}
    if manifest.HasField("transaction_section"):
        places["transaction"] = manifest.transaction_section
    if manifest.HasField("index_section"):
        places["index section"] = manifest.index_section
    at = places[where]
    was = _section(data, at)
    now = _changed(was, _SECTIONS[where], edit)
    moved = len(now) - len(was)
    tail = bytearray(data[at + 4 + len(was) :])
    if where != "manifest":
        if manifest.HasField("transaction_section") and manifest.transaction_section > at:
            manifest.transaction_section += moved
        at_manifest += moved
        body = manifest.SerializeToString(deterministic=True)
        between = data[at + 4 + len(was) : at_manifest - moved]
        tail = bytearray(between + len(body).to_bytes(4, "little") + body + data[-16:])
    tail[-16:-8] = at_manifest.to_bytes(8, "little")
    return Edited(data[:at] + len(now).to_bytes(4, "little") + now + bytes(tail), at + 4, was, now)


def _section(data: bytes, at: int) -> bytes:
    size = int.from_bytes(data[at : at + 4], "little")
    return data[at + 4 : at + 4 + size]
