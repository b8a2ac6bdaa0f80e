"""Costs of messages: the memory that each field of a type takes once it is parsed."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
"""Wire types."""

FIXED = {FIXED64: 8, FIXED32: 4}
"""Bytes of a number of fixed width; groups begin and end with nothing but their tag."""

CONTINUED = bytes(range(0x80, 0x100))
"""Bytes of varints after which another one follows."""

MESSAGE_BYTES = 320
"""Memory of a message inside a message, and of what is made of it, when its type is not listed."""

TYPE_BYTES = {
    "lance.table.DataFragment": 900,
    "lance.table.DataFile": 450,
    "lance.table.IndexMetadata": 800,
    "lance.file.Field": 1600,
    "lance.file.v2.ColumnMetadata.Page": 700,
}
"""The same of types of which much is made."""

NUMBER_BYTES, PACKED_BYTES, TEXT_BYTES = 40, 8, 80
"""Memory of a number of a repeated field, in the message and in a list; of one in packed bytes that
were seen before, which share what is made of them; of a string, without its letters."""


class Cost(NamedTuple):
    """What a field takes: once, for each number in it, and the fields of the message below.

    `width` is the bytes of a number, 0 for varints.
    """

    size: int
    number_size: int
    width: int
    below: Costs | None


Costs: TypeAlias = dict[int, Cost]
"""What the fields of a type take, by tag."""

UNKNOWN = Cost(500, 0, 0, None)
"""What a field that no type knows takes, while it is looked at."""


@cache
def costs_of(type_name: str) -> Costs:
    """Return what the fields of a type take."""
    return _fill(descriptor_pool.Default().FindMessageTypeByName(type_name), {})


def _fill(descriptor: Descriptor, known: dict[str, Costs]) -> Costs:
    """Collect the fields of a type; `known` are the types above it, which it may hold again."""
    if descriptor.full_name in known:
        return known[descriptor.full_name]
    costs: Costs = {}
    known[descriptor.full_name] = costs
    for field in descriptor.fields:
        if field.message_type is not None:
            size = TYPE_BYTES.get(field.message_type.full_name, MESSAGE_BYTES)
            below = _fill(field.message_type, known)
            costs[field.number << 3 | LENGTH] = Cost(size, 0, 0, below)
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
            size = TEXT_BYTES if field.is_repeated else 0
            costs[field.number << 3 | LENGTH] = Cost(size, 0, 0, None)
        else:
            size, width = NUMBER_BYTES if field.is_repeated else 0, fixed_width(field)
            wire_type = {4: FIXED32, 8: FIXED64}.get(width, VARINT)
            costs[field.number << 3 | wire_type] = Cost(size, 0, 0, None)
            if field.is_repeated:
                costs[field.number << 3 | LENGTH] = Cost(0, size, width, None)
    return costs


def fixed_width(field: FieldDescriptor) -> int:
    """Return the bytes of one number of a field; 0 when it is a varint."""
    is_short = field.type in (field.TYPE_FIXED32, field.TYPE_SFIXED32, field.TYPE_FLOAT)
    is_long = field.type in (field.TYPE_FIXED64, field.TYPE_SFIXED64, field.TYPE_DOUBLE)
    return 4 * is_short + 8 * is_long
