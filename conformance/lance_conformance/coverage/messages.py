"""Coverage of messages: every protobuf message in an explained file, and its fields.

The span tree has a group for each message, whose value is the full name of its type; the message is
parsed again from the bytes of the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import Message
from lanceref.core.spans import Span
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

Fact = tuple[str, str]
"""An axis and one of its members."""

COVERED: tuple[FileDescriptor, ...] = tuple(
    module.DESCRIPTOR
    for module in (
        file_pb2,
        file2_pb2,
        encodings_v2_0_pb2,
        encodings_v2_1_pb2,
        encodings_v2_3_pb2,
        table_pb2,
        rowids_pb2,
        transaction_pb2,
        index_pb2,
        index_details_pb2,
        mem_wal_pb2,
    )
)
"""Message definitions whose every field should occur."""


def messages(root: Span, data: bytes) -> Iterator[Message]:
    """Yield every message below a span of the file `data`, outer ones first."""
    if isinstance(root.value, str) and not root.is_leaf:
        descriptor = descriptor_pool.Default().FindMessageTypeByName(root.value)
        if not descriptor.GetOptions().map_entry:
            start = root.start
            if root.children and root.children[0].kind == "proto tag":
                start = root.children[0].end
            yield message_factory.GetMessageClass(descriptor).FromString(data[start : root.end])
    for child in root.children:
        yield from messages(child, data)


def field_facts(message: Message) -> Iterator[Fact]:
    """Yield the stored fields of a message, and the values of its enumerations."""
    for field, value in message.ListFields():
        yield _field_fact(field)
        if field.enum_type is not None:
            for number in value if field.is_repeated else [value]:
                yield _enum_fact(field.enum_type, number)
    for declared in message.DESCRIPTOR.fields:
        always = not (declared.is_repeated or declared.has_presence)
        if always and declared.enum_type is not None and getattr(message, declared.name) == 0:
            enum = cast(EnumDescriptor, declared.enum_type)
            yield _enum_fact(enum, 0)  # the default is not stored


def declared_fields(files: tuple[FileDescriptor, ...]) -> Iterator[Fact]:
    """Yield every declared field and enumeration value."""
    for file in files:
        for enum in file.enum_types_by_name.values():
            yield from (_enum_fact(enum, number) for number in enum.values_by_number)
        for descriptor in file.message_types_by_name.values():
            yield from _declared(descriptor)


def _declared(descriptor: Descriptor) -> Iterator[Fact]:
    if descriptor.GetOptions().map_entry:
        return
    yield from map(_field_fact, descriptor.fields)
    for enum in descriptor.enum_types:
        yield from (_enum_fact(enum, number) for number in enum.values_by_number)
    for nested in descriptor.nested_types:
        yield from _declared(nested)


def file_name(file: FileDescriptor) -> str:
    """Return the name of a definition file without its folder."""
    return str(file.name).rpartition("/")[2]


def _field_fact(field: FieldDescriptor) -> Fact:
    assert field.containing_type is not None  # no message of the format is an extension
    file = field.containing_type.file
    return f"fields of {file_name(file)}", field.full_name.removeprefix(f"{file.package}.")


def _enum_fact(enum: EnumDescriptor, number: int) -> Fact:
    name = enum.full_name.removeprefix(f"{enum.file.package}.")
    value = enum.values_by_number.get(number)
    return f"values of {name} in {file_name(enum.file)}", value.name if value else str(number)
