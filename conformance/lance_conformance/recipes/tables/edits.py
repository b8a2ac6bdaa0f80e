"""What negative cases of data files are made of: their names, and the usual single changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, cast

from google.protobuf.message import Message
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import column
from lance_conformance.recipes.model import Change, MessageEdit, Negative, SpanPatch


class Fsst(Protocol):
    """What the FSST encodings of 2.0 and of later versions share."""

    symbol_table: bytes


def fault(
    parent: str,
    slug: str,
    title: str,
    clause: str,
    change: Change,
    *,
    stage: str = "any",
    kind: str = "negative-file",
    flags: tuple[str, ...] = (),
) -> Negative:
    """Name a case after its parent and its fault: `neg-<parent>-<slug>` in the parent's folder."""
    area, version, topic, name = parent.split("/")
    prefix = "lint" if kind == "lint" else "neg"
    return Negative(
        id=f"{area}/{version}/{topic}/{prefix}-{name}-{slug}",
        title=title,
        clause=clause,
        parent=parent,
        change=change,
        meaning=title,
        stage=stage,
        kind=kind,
        flags=flags,
    )


def table_fault(
    parent: str,
    slug: str,
    title: str,
    clause: str,
    change: Change,
    *,
    stage: str = "any",
    kind: str = "negative-dataset",
) -> Negative:
    """Name a case of tables after its fault alone: `neg-<slug>` in the parent's folder."""
    made = fault(parent, slug, title, clause, change, stage=stage, kind=kind)
    folder, _, _ = made.id.rpartition("/")
    prefix = "lint" if kind == "lint" else "neg"
    return replace(made, id=f"{folder}/{prefix}-{slug}")


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

    return column(edit, number)


def spare_buffer(number: int = 0) -> MessageEdit:
    """Give the first page one buffer without bytes more."""

    def edit(message: ColumnMetadata) -> None:
        first = message.pages[0]
        first.buffer_offsets.append(0)
        first.buffer_sizes.append(0)

    return column(edit, number)


def no_buffers(number: int = 0) -> MessageEdit:
    """Take all buffers of the first page away."""

    def edit(message: ColumnMetadata) -> None:
        first = message.pages[0]
        del first.buffer_offsets[:]
        del first.buffer_sizes[:]

    return column(edit, number)


def damage_table(fsst: Fsst, at: int, new: int) -> None:
    """Set one byte of the symbol table of an FSST encoding."""
    table = bytearray(fsst.symbol_table)
    table[at] = new
    fsst.symbol_table = bytes(table)
