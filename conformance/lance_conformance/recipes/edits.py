"""Changes of a parent that cases of several topics make: bytes, fields and sizes of a page."""

from __future__ import annotations

from typing import Any, Protocol, cast

from google.protobuf.message import Message
from lanceref.proto.encodings_v2_1_pb2 import PageLayout, RepDefLayer
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.messages import column_edit, page
from lance_conformance.recipes.model import MessageEdit, Resize, SpanPatch


class Fsst_edits(Protocol):
    """What the FSST encodings of 2.0 and of later versions share."""

    symbol_table: bytes


def byte(*path: str, at: int, new: int, nth: int = 0) -> SpanPatch:
    """Set one byte of a leaf; `at` may count from its end."""

    def patch(old: bytes) -> bytes:
        changed = bytearray(old)
        changed[at] = new
        return bytes(changed)

    return SpanPatch(path, patch, nth)


def inner(message: Message, path: str) -> Message:
    """Return the message that `path` names with dots; a number picks from a list."""
    found: Any = message
    for name in path.split(".") if path else ():
        found = found[int(name)] if name.isdigit() else getattr(found, name)
    return cast(Message, found)


def assign(path: str, value: object, number: int = 0) -> MessageEdit:
    """Set a field of the first page's encoding; `path` names the way to it with dots."""
    way, _, last = path.rpartition(".")

    def edit(message: Message) -> None:
        setattr(inner(message, way), last, value)

    return MessageEdit(f"page {number}.0", edit)


def clear(path: str, number: int = 0) -> MessageEdit:
    """Take a field of the first page's encoding away."""
    way, _, last = path.rpartition(".")

    def edit(message: Message) -> None:
        inner(message, way).ClearField(last)

    return MessageEdit(f"page {number}.0", edit)


def resize(buffer: int, by: int, number: int = 0) -> MessageEdit:
    """State another size of a buffer of the first page: `by` bytes more or less."""

    def edit(message: ColumnMetadata) -> None:
        message.pages[0].buffer_sizes[buffer] += by

    return column_edit(edit, number)


def spare_buffer(number: int = 0) -> MessageEdit:
    """Give the first page one buffer without bytes more."""

    def edit(message: ColumnMetadata) -> None:
        first = message.pages[0]
        first.buffer_offsets.append(0)
        first.buffer_sizes.append(0)

    return column_edit(edit, number)


def no_buffers(number: int = 0) -> MessageEdit:
    """Take all buffers of the first page away."""

    def edit(message: ColumnMetadata) -> None:
        first = message.pages[0]
        del first.buffer_offsets[:]
        del first.buffer_sizes[:]

    return column_edit(edit, number)


def damage_table(fsst: Fsst_edits, at: int, new: int) -> None:
    """Set one byte of the symbol table of an FSST encoding."""
    table = bytearray(fsst.symbol_table)
    table[at] = new
    fsst.symbol_table = bytes(table)


M = "mini_block_layout"
Z = "full_zip_layout"


def more(*path: str, by: int = 1, at: int = 0, nth: int = 0) -> SpanPatch:
    """Add to one byte of a leaf."""

    def patch(old: bytes) -> bytes:
        return old[:at] + bytes([(old[at] + by) % 256]) + old[at + 1 :]

    return SpanPatch(path, patch, nth)


V = f"{M}.value_compression"
LAST = "_versions/1844674407370955161[0-3].manifest"


def anew(data: bytes, target: str) -> Resize:
    """Put other bytes in the place of a file."""
    return Resize(keep=0, append=data, target=target)


VALUES = f"{M}.value_compression"


def layers(*codes: int) -> MessageEdit:

    def edit(message: PageLayout) -> None:
        message.mini_block_layout.layers[:] = cast(tuple[RepDefLayer, ...], codes)

    return page(edit)


def minor(new: int) -> SpanPatch:
    return SpanPatch(("footer", "minor"), new)


def manifest_of(version: int) -> str:
    """Return the path of a manifest."""
    return f"_versions/{2**64 - 1 - version}.manifest"


FOURTH = "_versions/18446744073709551611.manifest"
"""The fourth version, which a table with an index has in the end."""

SIXTH = "_versions/18446744073709551609.manifest"
"""The seventh version, of a table whose rows were moved."""

THIRD = "_versions/18446744073709551612.manifest"
"""The manifest of the last version."""

SECOND = "_versions/18446744073709551613.manifest"
"""The manifest of version 2."""


def forgotten(message: Manifest) -> None:
    """Let nothing say which transaction made a version."""
    message.ClearField("transaction_file")
    message.ClearField("transaction_section")
