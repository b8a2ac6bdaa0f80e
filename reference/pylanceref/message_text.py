"""Texts of messages: a value below its name, a step further in.

A field that may be left out is `Some` or `None`, one of several is shown under the name they share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

INDENT = "    "

_ESCAPES = {0: r"\0", 9: r"\t", 10: r"\n", 13: r"\r", 34: r"\"", 92: r"\\"}
"""Bytes that are written in two letters."""

_NAMES = {"DataFragment": "Fragment", "MapEntry": "Entry"}
"""Messages that go by another name."""


@dataclass(frozen=True, slots=True)
class Struct:
    """A name, and values by theirs."""

    name: str
    held: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Variant:
    """A name, and one value without any."""

    name: str
    value: object


@dataclass(frozen=True, slots=True)
class Word:
    """A name alone."""

    name: str


def shown(message: Message) -> Struct:
    """Return a message: every field, those that may be left out as such."""
    descriptor = message.DESCRIPTOR
    held: dict[str, object] = {}
    for field in descriptor.fields:
        choice = field.containing_oneof
        if choice is None or len(choice.fields) == 1:
            held[field.name] = _field(message, field)  # type: ignore[arg-type]
        elif choice.name not in held:
            held[choice.name] = _chosen(message, choice.name)
    return Struct(_NAMES.get(descriptor.name, descriptor.name), held)


def _chosen(message: Message, choice: str) -> Variant | Word:
    """Return the one of several fields that is there, under its own name."""
    name = message.WhichOneof(choice)
    if name is None:
        return some(None)
    field = message.DESCRIPTOR.fields_by_name[name]
    return some(Variant(_camel(name), _value(getattr(message, name), field)))  # type: ignore[arg-type]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _field(message: Message, field: FieldDescriptor) -> object:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        below = field.message_type.fields_by_name["value"]
        return {key: _value(value[key], below) for key in sorted(value)}
    if field.is_repeated:
        return [_value(one, field) for one in value]
    if field.has_presence:
        return some(_value(value, field) if message.HasField(field.name) else None)
    return _value(value, field)


def _value(value: object, field: FieldDescriptor) -> object:
    if isinstance(value, Message):
        return shown(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)  # type: ignore[call-overload]
        return Word(_camel(known.name) if known is not None else str(value))
    return value


def some(value: object) -> Variant | Word:
    return Word("None") if value is None else Variant("Some", value)


def text_of(value: object) -> str:
    """Return a value at length, its parts a step further in."""
    if isinstance(value, Word):
        return value.name
    if isinstance(value, Variant):
        return _block(f"{value.name}(", [text_of(value.value)], ")")
    if isinstance(value, Struct):
        lines = [f"{name}: {text_of(one)}" for name, one in value.held.items()]
        return _block(f"{value.name} {{", lines, "}")
    if isinstance(value, Mapping):
        return _block("{", [f"{text_of(key)}: {text_of(one)}" for key, one in value.items()], "}")
    if isinstance(value, list):
        return _block("[", [text_of(one) for one in value], "]")
    if isinstance(value, bytes):
        return f'b"{"".join(map(_letter, value))}"'
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def _letter(byte: int) -> str:
    """Return a byte as a letter, or as it is written where it is none."""
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


def _block(start: str, parts: list[str], end: str) -> str:
    if not parts:
        return f"{start}{end}"
    below = "".join(f"{part},\n" for part in parts).splitlines(keepends=True)
    return "".join([f"{start}\n", *(f"{INDENT}{line}" for line in below), end])
