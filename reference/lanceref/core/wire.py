"""Protobuf messages: values from the library, within the memory that the limits allow.

`parse_message` lets the protobuf library build the message, and refuses fields that it left out.
When spans or findings are collected the bytes are walked too (see `wire_fields`).

Clauses: L.wire.message
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadProto, Place
from lanceref.core.limits import Budget
from lanceref.core.wire_fields import Walk, type_named

M = TypeVar("M", bound=Message)


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
        raise BadProto(clause, place, "bytes that do not parse", wanted) from error
    known.DiscardUnknownFields()
    if known.ByteSize() < message.ByteSize():
        for misfit in _misfits(message):
            raise BadProto(clause, place, misfit, wanted)
    del known
    if embedded_in is None and (ctx.spans is not None or ctx.validating):
        with ctx.group(name, clause, cls.DESCRIPTOR.full_name):
            Walk(data, start, ctx).fields(type_named(cls.DESCRIPTOR.full_name), 0)
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
