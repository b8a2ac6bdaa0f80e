"""Protobuf messages: values from the library, spans from a walk over the same bytes.

`parse_message` lets the protobuf library build the message. When spans or findings are collected it
also walks the bytes, guided by the generated descriptors: every field becomes a span, every message
a group whose value is the full name of its type, and fields that the descriptors do not know become
findings. The walk descends into sub-messages, into `Any`
values whose type is known, and into the few `bytes` fields that hold a message themselves.

Layout of a field: varint tag (number << 3 | wire type), then by wire type: 0 varint, 1 eight bytes,
2 varint length and bytes, 5 four bytes; 3 and 4 open and close a group.

Clauses: L.wire.message, L.wire.unknown-field
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from lanceref.core.budget import Budget, fixed_width
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadProto, LimitExceeded, Place

M = TypeVar("M", bound=Message)

VARINT_BYTES = 10
"""Bytes of a varint at most."""

EMBEDDED = {
    "lance.file.v2.DirectEncoding.encoding": "google.protobuf.Any",
    "lance.table.DataFragment.inline_row_ids": "lance.table.RowIdSequence",
    "lance.table.DataFragment.inline_last_updated_at_versions": (
        "lance.table.RowDatasetVersionSequence"
    ),
    "lance.table.DataFragment.inline_created_at_versions": "lance.table.RowDatasetVersionSequence",
}
"""`bytes` fields that hold a serialized message."""

SIGNED = (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_ENUM)
"""Types whose negative numbers are stored as varints of 64 bits."""

MESSAGES_PER_LEVEL = 2
"""Messages that one level of nesting takes: a type or encoding holds the next in a message."""

PACKED_SHOWN = 64
"""Packed numbers that the value of a span holds; more are left out."""


def parse_message(
    cursor: Cursor, cls: type[M], name: str, clause: str, embedded_in: Place | None = None
) -> M:
    """Parse the rest of `cursor` as a `cls`. Raises BadProto, LimitExceeded.

    With `embedded_in` the bytes lie inside a message that was walked already: no spans are
    recorded.
    """
    start, data = cursor.offset, bytes(cursor.skip(cursor.remaining, name, clause))
    place, wanted = embedded_in or cursor.ctx.at(start, len(data)), f"a {cls.DESCRIPTOR.full_name}"
    ctx = cursor.ctx
    budget = Budget(ctx.limits) if ctx.budget is None else ctx.budget
    budget.admit(data, cls, place)
    try:
        message, known = cls.FromString(data), cls.FromString(data)
    except DecodeError as error:
        raise BadProto(clause, place, found="bytes that do not parse", wanted=wanted) from error
    known.DiscardUnknownFields()
    if known.ByteSize() < message.ByteSize():
        for misfit in _misfits(message):
            raise BadProto(clause, place, found=misfit, wanted=wanted)
    del known
    if embedded_in is None and (ctx.spans is not None or ctx.validating):
        with ctx.group(name, clause, cls.DESCRIPTOR.full_name):
            _walk(data, start, ctx, _named(cls.DESCRIPTOR.full_name), 0, 0)
    return message


def _misfits(message: Message) -> Iterator[str]:
    """Yield the fields that are known by their number, but not of the wire type of their type.

    The library keeps them as unknown fields, though they may be all that a damaged byte left; and
    so it keeps an entry of a map that holds more than key and value.
    """
    fields = UnknownFieldSet(message)
    for unknown in map(fields.__getitem__, range(len(fields))):
        field = message.DESCRIPTOR.fields_by_number.get(unknown.field_number)
        if field is None:
            continue
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry and unknown.wire_type == 2:
            yield f"{field.full_name} with more than a key and a value"
        else:
            yield f"{field.full_name} with wire type {unknown.wire_type}"
    for field, value in message.ListFields():
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for inner in value if field.is_repeated else [value]:
                yield from _misfits(inner)


def _walk(
    data: bytes, base: int, ctx: Context, descriptor: Descriptor | None, depth: int, position: int
) -> int:
    """Record the fields of the message in `data`, which lies at `base`, from `position` on.

    Return where the message ends, or the group around the position. `depth` counts the messages and
    groups around it. Raises LimitExceeded.
    """
    most = MESSAGES_PER_LEVEL * ctx.limits.depth
    if depth > most:
        raise LimitExceeded(
            "L.wire.message",
            ctx.at(base + position, len(data) - position),
            found=f"messages nested deeper than {most}",
            wanted=f"at most {most}; limits=Limits(depth=...) allows more",
        )
    inner = _any_type(data) if descriptor is not None and _is_any(descriptor) else None
    while position < len(data):
        start = position
        tag, position = _varint(data, position, base, ctx)
        number, wire_type = tag >> 3, tag & 7
        field = descriptor.fields_by_number.get(number) if descriptor is not None else None
        if wire_type == 4:
            ctx.leaf(base + start, base + position, "end group", "proto unknown")
            return position
        if descriptor is not None and field is None:
            ctx.lint(
                "L.wire.unknown-field",
                ctx.at(base + start),
                found=f"field {number} in {descriptor.full_name}",
                wanted="a field number of this message",
                severity="note",
            )
        name = field.name if field is not None else f"unknown field {number}"
        if wire_type == 3:
            with ctx.group(name):
                ctx.leaf(base + start, base + position, "start group", "proto unknown")
                position = _walk(data, base, ctx, None, depth + 1, position)
        elif wire_type == 2:
            position = _sized(data, base, ctx, (start, position), name, field, inner, depth)
        else:
            value, position = _number(data, position, base, ctx, field, wire_type)
            kind = "proto field" if field is not None else "proto unknown"
            ctx.leaf(base + start, base + position, name, kind, value=value)
    return position


def _sized(
    data: bytes,
    base: int,
    ctx: Context,
    tag: tuple[int, int],
    name: str,
    field: FieldDescriptor | None,
    inner: Descriptor | None,
    depth: int,
) -> int:
    """Record a field with a length, whose tag begins and ends at two positions; return its end."""
    size, position = _varint(data, tag[1], base, ctx)
    end, start = _after(data, position, size, base, ctx), base + tag[0]
    part = data[position:end]
    below = _message_type(field, inner, part)
    if below is not None:
        with ctx.group(f"{name}: {below.name}", value=below.full_name):
            label = f"tag and length of {name}"
            ctx.leaf(start, base + position, label, "proto tag", value=size)
            _walk(part, base + position, ctx, below, depth + 1, 0)
    elif ctx.spans is not None:
        kind = "proto field" if field is not None else "proto unknown"
        ctx.leaf(start, base + end, name, kind, value=_plain(part, base + position, ctx, field))
    return end


def _plain(
    data: bytes, base: int, ctx: Context, field: FieldDescriptor | None
) -> str | bytes | list[int]:
    """Return the value of a field that has a length and is no message: text, bytes or numbers."""
    if field is not None and field.type == field.TYPE_STRING:
        return data.decode()
    if field is None or field.type == field.TYPE_BYTES or not field.is_repeated:
        return data
    wire_type = {4: 5, 8: 1}.get(fixed_width(field), 0)
    numbers, position = list[int](), 0
    while position < len(data) and len(numbers) < PACKED_SHOWN:
        value, position = _number(data, position, base, ctx, field, wire_type)
        numbers.append(value)
    return numbers


def _number(
    data: bytes,
    position: int,
    base: int,
    ctx: Context,
    field: FieldDescriptor | None,
    wire_type: int,
) -> tuple[int, int]:
    """Return a number and where it ends; a negative one of a signed field is told as such."""
    if wire_type != 0:
        end = _after(data, position, 8 if wire_type == 1 else 4, base, ctx)
        return int.from_bytes(data[position:end], "little"), end
    value, position = _varint(data, position, base, ctx)
    if value >= 2**63 and field is not None and field.type in SIGNED:
        value -= 2**64
    return value, position


def _message_type(
    field: FieldDescriptor | None, inner: Descriptor | None, data: bytes
) -> Descriptor | None:
    """Return the type of the message in `data`, or None when it is a plain value."""
    if field is None:
        return None
    if field.message_type is not None:
        return field.message_type
    if field.full_name == "google.protobuf.Any.value":
        below = inner
    elif field.full_name in EMBEDDED:
        below = _named(EMBEDDED[field.full_name])
    else:
        return None
    if below is None:
        return None
    try:
        message_factory.GetMessageClass(below).FromString(data)
    except DecodeError:
        return None
    return below


def _is_any(descriptor: Descriptor) -> bool:
    return bool(descriptor.full_name == "google.protobuf.Any")


def _any_type(data: bytes) -> Descriptor | None:
    return _named(AnyMessage.FromString(data).type_url.rpartition("/")[2])


def _named(full_name: str) -> Descriptor | None:
    try:
        return descriptor_pool.Default().FindMessageTypeByName(full_name)
    except KeyError:
        return None


def _after(data: bytes, position: int, size: int, base: int, ctx: Context) -> int:
    """Return where `size` bytes end. Raises BadProto when there are fewer."""
    end = position + size
    if end > len(data):
        place = ctx.at(base + position, len(data) - position)
        found, wanted = f"{len(data) - position} bytes left", f"{size} bytes"
        raise BadProto("L.wire.message", place, found=found, wanted=wanted)
    return end


def _varint(data: bytes, position: int, base: int, ctx: Context) -> tuple[int, int]:
    """Return a number in as many bytes as it needs, and where it ends. Raises BadProto."""
    if position < len(data) and data[position] < 0x80:
        return data[position], position + 1
    value, start = 0, position
    for shift in range(0, 7 * VARINT_BYTES, 7):
        position = _after(data, position, 1, base, ctx)
        byte = data[position - 1]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    place = ctx.at(base + start, VARINT_BYTES)
    raise BadProto("L.wire.message", place, found="a longer varint", wanted="ten bytes at most")
