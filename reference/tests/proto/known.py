"""Which fields of a message the generated modules know, at any depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from lanceref.proto import (
    encodings_v2_0_pb2,
    encodings_v2_1_pb2,
    encodings_v2_3_pb2,
    file2_pb2,
    file_pb2,
    index_details_pb2,
    index_pb2,
    mem_wal_pb2,
    rowids_pb2,
    table_pb2,
    transaction_pb2,
)

MODULES = (
    encodings_v2_0_pb2,
    encodings_v2_1_pb2,
    encodings_v2_3_pb2,
    file2_pb2,
    file_pb2,
    index_details_pb2,
    index_pb2,
    mem_wal_pb2,
    rowids_pb2,
    table_pb2,
    transaction_pb2,
)
"""Imported, so that the descriptor pool has every type that an Any may name."""

HELD_IN_BYTES = {
    "lance.file.v2.DirectEncoding.encoding": "google.protobuf.Any",
    "lance.table.DataFragment.inline_row_ids": "lance.table.RowIdSequence",
    "lance.table.DataFragment.inline_last_updated_at_versions": (
        "lance.table.RowDatasetVersionSequence"
    ),
    "lance.table.DataFragment.inline_created_at_versions": "lance.table.RowDatasetVersionSequence",
}


@dataclass
class Seen:
    """What came up: how many messages, which fields held a value, what was not known."""

    messages: int = 0
    fields: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def shows(self, name: str) -> bool:
        """Whether a field was seen, named as `Message.field`."""
        return any(seen.endswith(f".{name}") for seen in self.fields)


def examine(message: Message, at: str, seen: Seen) -> None:
    """Note the fields of the message and of the messages inside it."""
    seen.messages += 1
    descriptor = message.DESCRIPTOR
    for unknown in UnknownFieldSet(message):
        seen.faults.append(f"{at}: field {unknown.field_number} of {descriptor.full_name}")
    for known, value in message.ListFields():
        seen.fields.add(known.full_name)
        for element in _elements(known, value):
            if known.enum_type is not None and element not in known.enum_type.values_by_number:
                seen.faults.append(f"{at}: value {element} of {known.full_name}")
            elif isinstance(element, Message):
                examine(element, f"{at} > {known.name}", seen)
            elif known.full_name in HELD_IN_BYTES:
                inside = _parse(HELD_IN_BYTES[known.full_name], element)
                examine(inside, f"{at} > {known.name}", seen)
    if isinstance(message, AnyMessage):
        _examine_any(message, at, seen)


def _examine_any(message: AnyMessage, at: str, seen: Seen) -> None:
    name = message.type_url.rpartition("/")[2]
    try:
        inside = _parse(name, message.value)
    except KeyError:
        seen.faults.append(f"{at}: type {message.type_url!r}")
    else:
        examine(inside, f"{at} > {name}", seen)


def _elements(known: FieldDescriptor, value: object) -> Iterator[object]:
    if known.message_type is not None and known.message_type.GetOptions().map_entry:
        yield from value.values()
    elif known.is_repeated:
        yield from value
    else:
        yield value


def _parse(name: str, data: bytes) -> Message:
    descriptor = descriptor_pool.Default().FindMessageTypeByName(name)
    return message_factory.GetMessageClass(descriptor).FromString(data)


def field_names() -> Iterator[str]:
    """Yield the full name of every field of every message."""
    for module in MODULES:
        for descriptor in module.DESCRIPTOR.message_types_by_name.values():
            yield from _names_below(descriptor)


def _names_below(descriptor: Descriptor) -> Iterator[str]:
    yield from (known.full_name for known in descriptor.fields)
    for nested in descriptor.nested_types:
        yield from _names_below(nested)
