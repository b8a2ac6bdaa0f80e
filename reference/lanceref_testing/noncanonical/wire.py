"""Wire format: other serializations of a protobuf message that parse as the same message.

Fields in any order, varints longer than necessary, repeated numbers packed or not, explicit default
values, a message split into two that a parser merges, unknown fields.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeAlias

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lanceref_testing.noncanonical.variations import VariationSampler

Scalar: TypeAlias = bool | int | float | str | bytes
"""Value of a field that is not a message."""

UNKNOWN = range(2000, 3000)
"""Field numbers that no message of the format has."""

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


def serialize(rng: VariationSampler, message: Message) -> bytes:
    """Serialize a message with random variations; it parses as the same message."""
    spare = [
        [_scalar(rng, field, field.default_value)]
        for field in _absent(message)
        if rng.varies("explicit default values", 0.1)
    ]
    if rng.varies("unknown fields", 0.2):
        spare.append([_unknown(rng)])
    return _join_fields(rng, message, spare)


def _join_fields(rng: VariationSampler, message: Message, spare: list[list[bytes]]) -> bytes:
    """Serialize the fields of a message, and `spare` fields among them."""
    fields = [_field(rng, message, field) for field, _ in message.ListFields()]
    return b"".join(_shuffled(rng, [parts for parts in (*fields, *spare) if parts]))


def _shuffled(rng: VariationSampler, fields: list[list[bytes]]) -> list[bytes]:
    """Shuffle the fields; the parts of one field keep their order."""
    if not rng.varies("fields in any order"):
        return [part for parts in fields for part in parts]
    owners = [number for number, parts in enumerate(fields) for _ in parts]
    rng.shuffle(owners)
    rest = [iter(parts) for parts in fields]
    return [next(rest[owner]) for owner in owners]


def _field(rng: VariationSampler, message: Message, field: FieldDescriptor) -> list[bytes]:
    """Return the bytes of a present field, in one or more parts."""
    value = getattr(message, field.name)
    if field.message_type is None:
        return _numbers(rng, field, value) if field.is_repeated else [_scalar(rng, field, value)]
    if field.message_type.GetOptions().map_entry:
        # no unknown fields in entries: some libraries drop such an entry
        values = [_join_fields(rng, entry, []) for entry in _entries(message, field)]
    elif field.is_repeated:
        values = [serialize(rng, one) for one in value]
    else:
        halves = _split(rng, value)
        values = [_join_fields(rng, half, []) for half in halves] or [serialize(rng, value)]
    return [_sized(rng, field.number, part) for part in values]


def _numbers(
    rng: VariationSampler, field: FieldDescriptor, values: Sequence[Scalar]
) -> list[bytes]:
    """Return repeated values: strings one by one, numbers packed or the first of them unpacked."""
    if _wire_type(field) == _SIZED:
        return [_scalar(rng, field, one) for one in values]
    is_unpacked = rng.varies("repeated numbers not packed", 0.3)
    first = rng.choice((len(values), rng.randint(0, len(values)))) if is_unpacked else 0
    unpacked = [_scalar(rng, field, one) for one in values[:first]]
    packed = b"".join(_number(rng, field, one) for one in values[first:])
    return [*unpacked, _sized(rng, field.number, packed)]


def _split(rng: VariationSampler, message: Message) -> list[Message]:
    """Return two messages that merge into this one, or nothing where it is not split."""
    set_fields = message.ListFields()
    if len(set_fields) < 2 or not rng.varies("split messages", 0.2):
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
    """Return the scalar fields that are absent because they have their default value."""
    present = {field.number for field, _ in message.ListFields()}
    fields: Sequence[FieldDescriptor] = message.DESCRIPTOR.fields  # type: ignore[assignment]
    scalars = [one for one in fields if one.message_type is None and not one.is_repeated]
    return [one for one in scalars if not one.has_presence and one.number not in present]


def _unknown(rng: VariationSampler) -> bytes:
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


def _scalar(rng: VariationSampler, field: FieldDescriptor, value: Scalar) -> bytes:
    """Return tag and value of a field that is not a message."""
    if isinstance(value, str | bytes):
        return _sized(rng, field.number, value.encode() if isinstance(value, str) else value)
    return varint(rng, field.number << 3 | _wire_type(field), 5) + _number(rng, field, value)


def _number(rng: VariationSampler, field: FieldDescriptor, value: Scalar) -> bytes:
    """Return a number without its tag."""
    if field.type in _FIXED:
        return struct.pack(_FIXED[field.type][0], value)
    return varint(rng, int(value) % 2**64, 10)


def _sized(rng: VariationSampler, number: int, data: bytes) -> bytes:
    return varint(rng, number << 3 | _SIZED, 5) + varint(rng, len(data), 5) + data


def varint(rng: VariationSampler, number: int, most: int) -> bytes:
    """Return a number as a varint, shortest or padded with zero groups, of up to `most` bytes."""
    groups = [number >> shift & 0x7F for shift in range(0, max(1, number.bit_length()), 7)]
    if len(groups) < most and rng.varies("longer varints", 0.1):
        groups += [0] * rng.randint(1, most - len(groups))
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
