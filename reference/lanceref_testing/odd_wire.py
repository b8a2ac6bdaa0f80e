"""Odd spellings of protobuf messages: other bytes that say the same.

Fields in any order, numbers longer than they need to be, repeated numbers packed or not, zeros that
could be left out, a message cut into two that a parser puts together again, fields that nobody
knows.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeAlias

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lanceref_testing.oddities import Chance

Scalar: TypeAlias = bool | int | float | str | bytes
"""Value of a field that is no message."""

UNKNOWN = range(2000, 3000)
"""Numbers of fields that no message of the format has."""

_VARINT, _EIGHT_BYTES, _SIZED, _FOUR_BYTES = 0, 1, 2, 5

_FIXED = {
    FieldDescriptor.TYPE_DOUBLE: ("<d", _EIGHT_BYTES),
    FieldDescriptor.TYPE_FIXED64: ("<Q", _EIGHT_BYTES),
    FieldDescriptor.TYPE_SFIXED64: ("<q", _EIGHT_BYTES),
    FieldDescriptor.TYPE_FLOAT: ("<f", _FOUR_BYTES),
    FieldDescriptor.TYPE_FIXED32: ("<I", _FOUR_BYTES),
    FieldDescriptor.TYPE_SFIXED32: ("<i", _FOUR_BYTES),
}
"""Types of fixed width: their struct format and wire type."""


def spell(rng: Chance, message: Message) -> bytes:
    """Serialize a message in a spelling of chance."""
    spare = [
        [_scalar(rng, field, field.default_value)]
        for field in _absent(message)
        if rng.odd("zeros spelled out", 0.1)
    ]
    if rng.odd("unknown fields", 0.2):
        spare.append([_unknown(rng)])
    return _mixed(rng, message, spare)


def _mixed(rng: Chance, message: Message, spare: list[list[bytes]]) -> bytes:
    """Serialize what a message has, and among it fields that say nothing."""
    fields = [_field(rng, message, field) for field, _ in message.ListFields()]
    return b"".join(_shuffled(rng, [parts for parts in (*fields, *spare) if parts]))


def _shuffled(rng: Chance, fields: list[list[bytes]]) -> list[bytes]:
    """Mix the fields; the parts of one field keep their order."""
    if not rng.odd("fields in any order"):
        return [part for parts in fields for part in parts]
    owners = [number for number, parts in enumerate(fields) for _ in parts]
    rng.shuffle(owners)
    rest = [iter(parts) for parts in fields]
    return [next(rest[owner]) for owner in owners]


def _field(rng: Chance, message: Message, field: FieldDescriptor) -> list[bytes]:
    """Return what lies in the message for a field that it has, in one or more parts."""
    value = getattr(message, field.name)
    if field.message_type is None:
        return _numbers(rng, field, value) if field.is_repeated else [_scalar(rng, field, value)]
    if field.message_type.GetOptions().map_entry:
        # nothing unknown in here: some libraries drop such an entry
        spelled = [_mixed(rng, entry, []) for entry in _entries(message, field)]
    elif field.is_repeated:
        spelled = [spell(rng, one) for one in value]
    else:
        halves = _cut(rng, value)
        spelled = [_mixed(rng, half, []) for half in halves] or [spell(rng, value)]
    return [_sized(rng, field.number, part) for part in spelled]


def _numbers(rng: Chance, field: FieldDescriptor, values: Sequence[Scalar]) -> list[bytes]:
    """Return repeated values: strings one by one, numbers packed but for some of the first."""
    if _wire_type(field) == _SIZED:
        return [_scalar(rng, field, one) for one in values]
    loose = rng.odd("repeated numbers not packed", 0.3)
    first = rng.choice((len(values), rng.randint(0, len(values)))) if loose else 0
    apart = [_scalar(rng, field, one) for one in values[:first]]
    packed = b"".join(_bare(rng, field, one) for one in values[first:])
    return [*apart, _sized(rng, field.number, packed)]


def _cut(rng: Chance, message: Message) -> list[Message]:
    """Return two messages that merge into one, or none when it stays whole."""
    set_fields = message.ListFields()
    if len(set_fields) < 2 or not rng.odd("messages cut in two", 0.2):
        return []
    first, second = type(message)(), type(message)()
    first.CopyFrom(message)
    second.CopyFrom(message)
    for field, _ in set_fields:
        rng.choice((first, second)).ClearField(field.name)
    return [first, second]


def _entries(message: Message, field: FieldDescriptor) -> list[Message]:
    """Return the entries of a map of scalars as messages."""
    assert field.message_type is not None
    entry = message_factory.GetMessageClass(field.message_type)
    stored = getattr(message, field.name)
    return [entry(key=key, value=stored[key]) for key in sorted(stored)]


def _absent(message: Message) -> list[FieldDescriptor]:
    """Return the scalar fields that are absent because they are zero."""
    present = {field.number for field, _ in message.ListFields()}
    fields: Sequence[FieldDescriptor] = message.DESCRIPTOR.fields  # type: ignore[assignment]
    scalars = [one for one in fields if one.message_type is None and not one.is_repeated]
    return [one for one in scalars if not one.has_presence and one.number not in present]


def _unknown(rng: Chance) -> bytes:
    number = rng.choice(UNKNOWN)
    wire_type = rng.choice((_VARINT, _EIGHT_BYTES, _SIZED, _FOUR_BYTES))
    if wire_type == _SIZED:
        return _sized(rng, number, rng.randbytes(rng.randint(0, 9)))
    tag = varint(rng, number << 3 | wire_type, 5)
    if wire_type == _VARINT:
        return tag + varint(rng, rng.getrandbits(60), 10)
    return tag + rng.randbytes(8 if wire_type == _EIGHT_BYTES else 4)


def _wire_type(field: FieldDescriptor) -> int:
    if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        return _SIZED
    return _FIXED.get(field.type, ("", _VARINT))[1]


def _scalar(rng: Chance, field: FieldDescriptor, value: Scalar) -> bytes:
    """Return tag and value of a field that is no message."""
    if isinstance(value, str | bytes):
        return _sized(rng, field.number, value.encode() if isinstance(value, str) else value)
    return varint(rng, field.number << 3 | _wire_type(field), 5) + _bare(rng, field, value)


def _bare(rng: Chance, field: FieldDescriptor, value: Scalar) -> bytes:
    """Return a number without its tag."""
    if field.type in _FIXED:
        return struct.pack(_FIXED[field.type][0], value)
    return varint(rng, int(value) % 2**64, 10)


def _sized(rng: Chance, number: int, data: bytes) -> bytes:
    return varint(rng, number << 3 | _SIZED, 5) + varint(rng, len(data), 5) + data


def varint(rng: Chance, number: int, most: int) -> bytes:
    """Write a number in its shortest form, or with zeros above it, in up to `most` bytes."""
    groups = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    if len(groups) < most and rng.odd("numbers longer than they need", 0.1):
        groups += [0] * rng.randint(1, most - len(groups))
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
