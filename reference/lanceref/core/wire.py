"""Wire format of protobuf messages: which byte is which field, and fields the library left out.

`parse_message` (see `cursor`) lets the library build a message. When spans or findings are
collected the bytes are walked too, guided by the generated descriptors: every field becomes a span,
every message a group whose value is the full name of its type, and fields that the descriptors do
not know become findings. The walk descends into sub-messages, into `Any` values whose type is
known, and into the few `bytes` fields that hold a message themselves.

Layout of a field: varint tag (number << 3 | wire type), then by wire type: 0 varint, 1 eight bytes,
2 varint length and bytes, 5 four bytes; 3 and 4 open and close a group.

Clauses: L.wire.message, L.wire.unknown-field
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from lanceref.core.context import Context
from lanceref.core.errors import BadProto, LimitExceeded, Place
from lanceref.core.message_costs import fixed_width


def misfits(message: Message) -> Iterator[str]:
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
                yield from misfits(inner)


_CLAUSE = "L.wire.message"

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


class Walk:
    """The bytes of a message, which lie at `base` in the file, and a position in them."""

    def __init__(self, data: bytes, base: int, ctx: Context) -> None:
        self.data, self.base, self.ctx, self.at = data, base, ctx, 0

    def fields(self, descriptor: Descriptor | None, depth: int) -> None:
        """Record the fields up to the end of the message, or of the group around the position.

        `depth` counts the messages and groups around it. Raises LimitExceeded, BadProto.
        """
        most, ctx = MESSAGES_PER_LEVEL * self.ctx.limits.depth, self.ctx
        if depth > most:
            place, found = self._place(), f"messages nested deeper than {most}"
            wanted = f"at most {most}; limits=Limits(depth=...) allows more"
            raise LimitExceeded(_CLAUSE, place, found, wanted)
        inner = None
        if descriptor is not None and descriptor.full_name == "google.protobuf.Any":
            inner = type_named(AnyMessage.FromString(self.data).type_url.rpartition("/")[2])
        while self.at < len(self.data):
            start = self.at
            tag = self._varint()
            number, wire_type = tag >> 3, tag & 7
            field = descriptor.fields_by_number.get(number) if descriptor is not None else None
            if wire_type == 4:
                self._leaf(start, "end group", None, None)
                return
            if descriptor is not None and field is None:
                place = ctx.at(self.base + start)
                found = f"field {number} in {descriptor.full_name}"
                clause, wanted = "L.wire.unknown-field", "a field number of this message"
                ctx.lint(clause, place, found, wanted, severity="note")
            name = field.name if field is not None else f"unknown field {number}"
            if wire_type == 3:
                with ctx.group(name):
                    self._leaf(start, "start group", None, None)
                    self.fields(None, depth + 1)
            elif wire_type == 2:
                self._sized(start, name, field, inner, depth)
            else:
                self._leaf(start, name, field, self._number(field, wire_type))

    def _sized(
        self,
        start: int,
        name: str,
        field: FieldDescriptor | None,
        inner: Descriptor | None,
        depth: int,
    ) -> None:
        """Record a field with a length, whose tag begins at `start`."""
        size = self._varint()
        at = self.at
        part = self._take(size)
        below = _message_type(field, inner, part)
        walk = Walk(part, self.base + at, self.ctx)
        if below is not None:
            with self.ctx.group(f"{name}: {below.name}", value=below.full_name):
                label, tag = f"tag and length of {name}", self.base + start
                self.ctx.leaf(tag, self.base + at, label, "proto tag", value=size)
                walk.fields(below, depth + 1)
        elif self.ctx.spans is not None:
            self._leaf(start, name, field, walk.plain(field))

    def plain(self, field: FieldDescriptor | None) -> str | bytes | list[int]:
        """Return the value of a field that has a length and is no message."""
        if field is not None and field.type == field.TYPE_STRING:
            return self.data.decode()
        if field is None or field.type == field.TYPE_BYTES or not field.is_repeated:
            return self.data
        wire_type, numbers = {4: 5, 8: 1}.get(fixed_width(field), 0), list[int]()
        while self.at < len(self.data) and len(numbers) < PACKED_SHOWN:
            numbers.append(self._number(field, wire_type))
        return numbers

    def _leaf(self, start: int, name: str, field: FieldDescriptor | None, value: object) -> None:
        kind = "proto field" if field is not None else "proto unknown"
        self.ctx.leaf(self.base + start, self.base + self.at, name, kind, value=value)

    def _number(self, field: FieldDescriptor | None, wire_type: int) -> int:
        """Return a number; it may be negative when its field is signed."""
        if wire_type != 0:
            return int.from_bytes(self._take(8 if wire_type == 1 else 4), "little")
        value = self._varint()
        is_negative = value >= 2**63 and field is not None and field.type in SIGNED
        return value - 2**64 if is_negative else value

    def _varint(self) -> int:
        """Return a number in as many bytes as it needs. Raises BadProto."""
        value, start = 0, self.at
        if start < len(self.data) and self.data[start] < 0x80:  # most of them
            self.at += 1
            return self.data[start]
        for shift in range(0, 7 * VARINT_BYTES, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        place = self.ctx.at(self.base + start, VARINT_BYTES)
        raise BadProto(_CLAUSE, place, "a longer varint", "ten bytes at most")

    def _take(self, size: int) -> bytes:
        """Return the next bytes. Raises BadProto when there are fewer."""
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            raise BadProto(_CLAUSE, self._place(), f"{len(part)} bytes left", f"{size} bytes")
        self.at += size
        return part

    def _place(self) -> Place:
        return self.ctx.at(self.base + self.at, len(self.data) - self.at)


def _message_type(
    field: FieldDescriptor | None, inner: Descriptor | None, data: bytes
) -> Descriptor | None:
    """Return the type of the message in `data`, or None when it is a plain value."""
    if field is None:
        return None
    if field.message_type is not None:
        return field.message_type
    below = inner if field.full_name == "google.protobuf.Any.value" else None
    if field.full_name in EMBEDDED:
        below = type_named(EMBEDDED[field.full_name])
    if below is not None:
        try:
            message_factory.GetMessageClass(below).FromString(data)
        except DecodeError:
            return None
    return below


def type_named(full_name: str) -> Descriptor | None:
    """Return the type of a message by its full name; None for one that is not known."""
    try:
        return descriptor_pool.Default().FindMessageTypeByName(full_name)
    except KeyError:
        return None
