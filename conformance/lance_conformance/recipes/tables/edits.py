"""What negative cases of data files are made of: their names, and the usual single changes."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import Message

from lance_conformance.recipes.model import Change, MessageEdit, Negative, SpanPatch


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


def byte(*path: str, at: int, new: int, nth: int = 0) -> SpanPatch:
    """Set one byte of a leaf; `at` may count from its end."""

    def patch(old: bytes) -> bytes:
        changed = bytearray(old)
        changed[at] = new
        return bytes(changed)

    return SpanPatch(path, patch, nth)


def page(edit: Callable[[Message], None], column: int = 0) -> MessageEdit:
    """Change the encoding of the first page of a column."""
    return MessageEdit(f"page {column}.0", edit)


def column(edit: Callable[[Message], None], number: int = 0) -> MessageEdit:
    """Change the metadata of a column."""
    return MessageEdit(f"column {number}", edit)


def descriptor(edit: Callable[[Message], None]) -> MessageEdit:
    """Change the file descriptor."""
    return MessageEdit("descriptor", edit)


def inner(message: Message, path: str) -> Message:
    """Return the message that `path` names with dots; a number picks from a list."""
    found = message
    for name in path.split(".") if path else ():
        found = found[int(name)] if name.isdigit() else getattr(found, name)  # type: ignore[index]
    return found


def assign(path: str, value: object, number: int = 0) -> MessageEdit:
    """Set a field of the first page's encoding; `path` names the way to it with dots."""
    way, _, last = path.rpartition(".")
    return page(lambda message: setattr(inner(message, way), last, value), number)


def clear(path: str, number: int = 0) -> MessageEdit:
    """Take a field of the first page's encoding away."""
    way, _, last = path.rpartition(".")
    return page(lambda message: inner(message, way).ClearField(last), number)


def resize(buffer: int, by: int, number: int = 0) -> MessageEdit:
    """State another size of a buffer of the first page: `by` bytes more or less."""

    def edit(message: Message) -> None:
        message.pages[0].buffer_sizes[buffer] += by  # type: ignore[attr-defined]

    return column(edit, number)


def spare_buffer(number: int = 0) -> MessageEdit:
    """Give the first page one buffer without bytes more."""

    def edit(message: Message) -> None:
        first = message.pages[0]  # type: ignore[attr-defined]
        first.buffer_offsets.append(0)
        first.buffer_sizes.append(0)

    return column(edit, number)


def no_buffers(number: int = 0) -> MessageEdit:
    """Take all buffers of the first page away."""

    def edit(message: Message) -> None:
        first = message.pages[0]  # type: ignore[attr-defined]
        del first.buffer_offsets[:]
        del first.buffer_sizes[:]

    return column(edit, number)


def field(index: int, **values: object) -> MessageEdit:
    """Set fields of one field of the descriptor's schema."""

    def edit(message: Message) -> None:
        one = message.schema.fields[index]  # type: ignore[attr-defined]
        for name, value in values.items():
            setattr(one, name, value)

    return descriptor(edit)


def damage_table(fsst: Message, at: int, new: int) -> None:
    """Set one byte of the symbol table of an FSST encoding."""
    table = bytearray(fsst.symbol_table)  # type: ignore[attr-defined]
    table[at] = new
    fsst.symbol_table = bytes(table)  # type: ignore[attr-defined]
