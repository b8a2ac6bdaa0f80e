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

from lanceref.cursor import Cursor
from lanceref.errors import BadProto, Place

M = TypeVar("M", bound=Message)

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

PACKED_SHOWN = 64
"""Packed numbers that the value of a span holds; more are left out."""


def parse_message(
    cursor: Cursor, cls: type[M], name: str, clause: str, embedded_in: Place | None = None
) -> M:
    """Parse the rest of `cursor` as a `cls`. Raises BadProto.

    With `embedded_in` the bytes lie inside a message that was walked already: no spans are
    recorded.
    """
    start, data = cursor.offset, bytes(cursor.skip(cursor.remaining, name, clause))
    place, wanted = embedded_in or cursor.ctx.at(start, len(data)), f"a {cls.DESCRIPTOR.full_name}"
    try:
        message, known = cls.FromString(data), cls.FromString(data)
    except DecodeError as error:
        raise BadProto(clause, place, found="bytes that do not parse", wanted=wanted) from error
    known.DiscardUnknownFields()
    if known.ByteSize() < message.ByteSize():
        for misfit in _misfits(message):
            raise BadProto(clause, place, found=misfit, wanted=wanted)
    ctx = cursor.ctx
    if embedded_in is None and (ctx.spans is not None or ctx.validating):
        with ctx.group(name, clause, cls.DESCRIPTOR.full_name):
            inside = Cursor(memoryview(data), start, ctx)
            _walk(inside, _named(cls.DESCRIPTOR.full_name), data)
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


def _walk(cursor: Cursor, descriptor: Descriptor | None, data: bytes) -> None:
    """Record the fields of the message that fills `cursor`; stop after the end of a group."""
    inner = _any_type(data) if descriptor is not None and _is_any(descriptor) else None
    while cursor.remaining:
        start = cursor.offset
        tag = _varint(cursor)
        number, wire_type = tag >> 3, tag & 7
        field = descriptor.fields_by_number.get(number) if descriptor is not None else None
        if wire_type == 4:
            cursor.ctx.leaf(start, cursor.offset, "end group", "proto unknown")
            return
        if descriptor is not None and field is None:
            cursor.ctx.lint(
                "L.wire.unknown-field",
                cursor.ctx.at(start),
                found=f"field {number} in {descriptor.full_name}",
                wanted="a field number of this message",
                severity="note",
            )
        _value(cursor, start, wire_type, number, field, inner)


def _value(
    cursor: Cursor,
    start: int,
    wire_type: int,
    number: int,
    field: FieldDescriptor | None,
    inner: Descriptor | None,
) -> None:
    name = field.name if field is not None else f"unknown field {number}"
    kind = "proto field" if field is not None else "proto unknown"
    ctx = cursor.ctx
    if wire_type == 3:
        with ctx.group(name):
            ctx.leaf(start, cursor.offset, "start group", kind)
            _walk(cursor, None, b"")
        return
    if wire_type != 2:
        value = _number(cursor, field, wire_type)
        ctx.leaf(start, cursor.offset, name, kind, value=value)
        return
    size = _varint(cursor)
    header_end = cursor.offset
    data = bytes(cursor.skip(size, name, "L.wire.message"))
    below = _message_type(field, inner, data)
    if below is None:
        shown = _plain(data, header_end, field, cursor) if ctx.spans is not None else None
        ctx.leaf(start, cursor.offset, name, kind, value=shown)
        return
    with ctx.group(f"{name}: {below.name}", value=below.full_name):
        ctx.leaf(start, header_end, f"tag and length of {name}", "proto tag", value=size)
        _walk(Cursor(memoryview(data), header_end, ctx), below, data)


def _plain(
    data: bytes, start: int, field: FieldDescriptor | None, cursor: Cursor
) -> str | bytes | list[int]:
    """Return the value of a field that has a length and is no message: text, bytes or numbers."""
    if field is not None and field.type == field.TYPE_STRING:
        return data.decode()
    if field is None or field.type == field.TYPE_BYTES or not field.is_repeated:
        return data
    packed = Cursor(memoryview(data), start, cursor.ctx)
    wire_type = {4: 5, 8: 1}.get(_fixed_width(field), 0)
    numbers: list[int] = []
    while packed.remaining and len(numbers) < PACKED_SHOWN:
        numbers.append(_number(packed, field, wire_type))
    return numbers


def _fixed_width(field: FieldDescriptor) -> int:
    """Return the bytes of one number of a field; 0 when it is a varint."""
    if field.type in (field.TYPE_FIXED32, field.TYPE_SFIXED32, field.TYPE_FLOAT):
        return 4
    if field.type in (field.TYPE_FIXED64, field.TYPE_SFIXED64, field.TYPE_DOUBLE):
        return 8
    return 0


def _number(cursor: Cursor, field: FieldDescriptor | None, wire_type: int) -> int:
    """Read one number; a negative one of a signed field is told as such."""
    if wire_type != 0:
        return _fixed(cursor, 8 if wire_type == 1 else 4)
    value = _varint(cursor)
    if field is not None and field.type in SIGNED and value >= 2**63:
        return value - 2**64
    return value


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


def _fixed(cursor: Cursor, width: int) -> int:
    return int.from_bytes(cursor.skip(width, "fixed field", "L.wire.message"), "little")


def _varint(cursor: Cursor) -> int:
    value = shift = 0
    while True:
        byte = cursor.skip(1, "varint", "L.wire.message")[0]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value
