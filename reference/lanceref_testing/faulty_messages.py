"""Faulty messages: changes of a protobuf message that still parses as its type.

A fault is a kind of change of a field anywhere in the tree. The fields follow from the descriptors,
including those of messages that are stored in bytes fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from lanceref.core.wire import EMBEDDED, type_named
from pyroaring import BitMap

Value: TypeAlias = bool | int | float | str | bytes

OUTSIDE = "../outside/table"
"""Path of the outside table, from the root of a table."""

NAMES = (
    *("", ".", "..", "/", OUTSIDE, f"../{OUTSIDE}", "/etc/hostname", "/dev/zero", "data", "a/b"),
    *("%2e%2e", "..\\..", "a\0b", "x" * 300, "x" * 5000, "a\n\x1b[31mb", "file:///etc/hostname"),
    *("data/../..", "_versions", "\u202e\u2028", "-1", "1e999", "9" * 5000, "null"),
    *("0", "1", "1e9d", "9" * 30, "1s", "NaN", "true", "1d 1d", "P1D"),
)
"""Replacements for names, paths, versions and settings."""

KEYS = tuple(f"lance.auto_cleanup.{one}" for one in ("interval", "older_than", "retain_versions"))
"""Keys of the config that change what writers do."""

ANY = "/google.protobuf.Any"

_SIGNED = (0, 1, -1, 2, 7)

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}

_EDGES = (2**15, 2**16, 2**31, 2**32, 2**40, 2**48, 2**53, 2**62, 2**63)

MAX_BYTES = 2**22
"""Approximate limit of the bytes that a fault adds to a message."""

MAX_ITEMS = 100_000
"""Most items or unknown fields that a fault adds."""

MAX_DEPTH = 3000

MAX_VISITED = 8
"""Most items of a repeated field whose fields are changed."""


def size_of(rng: Random, least: int, most: int) -> int:
    """Return a number between two, from a log-uniform distribution."""
    return int(least * (most / least) ** rng.random())


def full_bitmap(containers: int) -> bytes:
    """Return a roaring bitmap of `containers` run containers with all of their values."""
    bitmap = BitMap()
    bitmap.add_range(0, containers << 16)
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a message; `save` stores the message in the bytes field that contains it."""

    owner: Message
    field: FieldDescriptor
    save: Callable[[], None] = lambda: None


def field_refs(message: Message, save: Callable[[], None] = lambda: None) -> Iterator[FieldRef]:
    """Yield every field of every message of the tree, present or not."""
    owner, descriptor = message, cast("Descriptor", message.DESCRIPTOR)
    for field in descriptor.fields:
        yield FieldRef(owner, field, save)
        if field.full_name in EMBEDDED:
            inner = type_named(EMBEDDED[field.full_name])
            assert inner is not None
            with suppress(DecodeError):  # the bytes may have been changed before
                nested = GetMessageClass(inner).FromString(getattr(owner, field.name))
                yield from field_refs(nested, partial(_save, owner, field.name, nested))
        elif field.message_type is None or _is_map(field):
            continue
        elif field.is_repeated:
            for one in getattr(owner, field.name)[:MAX_VISITED]:
                yield from field_refs(one, save)
        elif owner.HasField(field.name):
            yield from field_refs(getattr(owner, field.name), save)


def _save(owner: Message, name: str, nested: Message) -> None:
    setattr(owner, name, nested.SerializeToString())


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _is_bitmap(field: FieldDescriptor) -> bool:
    return field.type == field.TYPE_BYTES and "bitmap" in field.name


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of change: the fields that it applies to, and a function that changes one of them.

    The function returns a description.
    """

    fits: Callable[[FieldDescriptor], bool]
    apply: Callable[[Message, FieldDescriptor, Random, Sequence[str]], str]


def change(message: Message, rng: Random, names: Sequence[str] = NAMES) -> str:
    """Change a random field of the tree; return a description."""
    every = list(field_refs(message))
    fault = rng.choice(FAULTS)
    fitting = [one for one in every if fault.fits(one.field)]
    if not fitting:
        fault, fitting = FAULTS[0], every
    ref = rng.choice(fitting)
    description = fault.apply(ref.owner, ref.field, rng, names)
    ref.save()
    return f"{ref.owner.DESCRIPTOR.name}.{ref.field.name} {description}"


def change_some(message: Message, rng: Random, names: Sequence[str] = NAMES) -> str:
    """Change up to three random fields of the tree; return a description."""
    return "; ".join(change(message, rng, names) for _ in range(rng.randint(1, 3)))


def _value_fault(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    """Set a field to an unusual value, or clear it."""
    current = getattr(owner, field.name)
    if _is_map(field):
        return _map_value(owner, field, rng, names)
    if field.is_repeated:
        return _changed_items(owner, field, rng, names)
    if field.message_type is not None:
        kind = rng.choice(("cleared", "empty", "filled"))
        current.SetInParent()
        if kind == "cleared":
            owner.ClearField(field.name)
        elif kind == "filled":
            fill(current, rng, names)
        return kind
    value = _value(field, rng, names, current)
    setattr(owner, field.name, value)
    return f"= {value!r:.40}"


def fill(message: Message, rng: Random, names: Sequence[str], depth: int = 3) -> None:
    """Set some of the fields of a message, and of its nested messages, to random values."""
    for field in cast("Descriptor", message.DESCRIPTOR).fields:
        if _is_map(field) or rng.random() < 0.4:
            continue
        current = getattr(message, field.name)
        if field.message_type is None:
            value = _value(field, rng, names, b"" if field.type == field.TYPE_BYTES else 0)
            current.append(value) if field.is_repeated else setattr(message, field.name, value)
        elif depth:
            fill(current.add() if field.is_repeated else current, rng, names, depth - 1)


def _changed_items(
    owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]
) -> str:
    current = getattr(owner, field.name)
    kind = rng.choice(("cleared", "reversed", "value"))
    if not len(current):
        added = (
            current.add() if field.message_type else current.append(_value(field, rng, names, 0))
        )
        if added is not None and rng.random() < 0.5:
            fill(added, rng, names)
        return "one more"
    kept = deepcopy(list(current))
    if kind == "cleared":
        kept = []
    elif kind == "reversed":
        kept = kept[::-1]
    elif field.message_type is None:
        kept = [_value(field, rng, names, one) for one in kept]
    else:
        kept = kept[: rng.randrange(len(kept))]
    del current[:]
    current.extend(kept)
    return f"{kind} {len(kept)}"


def _map_value(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    current, (key, value) = getattr(owner, field.name), _entry(field)
    if value.message_type is not None or key.type != key.TYPE_STRING:
        return "kept"
    name = rng.choice([*current, rng.choice((*names, *KEYS)).replace("\0", "")])
    current[name] = _value(value, rng, names, b"" if value.type == value.TYPE_BYTES else 0)
    return f"[{name!r:.20}]"


def _entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Return the key field and the value field of a map."""
    descriptor = field.message_type
    assert descriptor is not None
    return descriptor.fields_by_name["key"], descriptor.fields_by_name["value"]


def _value(field: FieldDescriptor, rng: Random, names: Sequence[str], current: Value) -> Value:
    if field.cpp_type in _RANGES:
        least, most = _RANGES[field.cpp_type]
        near = [int(current) + delta for delta in (-1, 1, 2, 100)]
        edges = [edge + delta for edge in _EDGES for delta in (-1, 0, 1)]
        values = [*_SIGNED, *near, *near, *edges, least, most]
        return rng.choice([value for value in values if least <= value <= most])
    if field.type == field.TYPE_BYTES:
        return _bytes(current if isinstance(current, bytes) else b"", rng)
    if field.type == field.TYPE_STRING:
        return rng.choice(names)
    if field.enum_type is not None:
        return rng.choice((0, 1, 2, 3, 77, -1, 2**31 - 1))
    if field.type == field.TYPE_BOOL:
        return not current
    return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e300))


def _bytes(data: bytes, rng: Random) -> bytes:
    cut = rng.randrange(len(data) + 1)
    return rng.choice(
        (b"", data[:cut], data + data, data * size_of(rng, 2, 50), b"\xff" * 10, bytes(16),
         rng.randbytes(17), data[:cut] + rng.randbytes(3) + data[cut + 3 :])
    )  # fmt: skip


def _many(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    """Add many items: empty ones or copies of one, with ascending or with equal ids."""
    current = getattr(owner, field.name)
    if _is_map(field):
        for _ in range(count := size_of(rng, 10, 2000)):
            _map_value(owner, field, rng, [*names[:9], f"k{rng.random()}"])
        return f"{count} entries"
    if field.message_type is None:
        model = current[0] if len(current) else _value(field, rng, names, 0)
        count = size_of(rng, 10, _max_count(8 if isinstance(model, int | float) else len(model)))
        current.extend([model] * count)
        return f"{count} times"
    kind = rng.choice(("empty", "copies", "same"))
    model = current[0] if len(current) and kind != "empty" else type(current.add())()
    count, counted = size_of(rng, 10, _max_count(model.ByteSize())), kind != "same"
    first = 1 + max([getattr(one, "id", 0) for one in current], default=0)
    for number in range(count):
        one = current.add()
        one.CopyFrom(model)
        if counted and isinstance(getattr(one, "id", None), int):
            one.id = min(first + number, 2**31 - 1)
        if counted and kind == "copies" and rng.random() < 0.5 and hasattr(one, "name"):
            one.name = f"n{number}"
    return f"{count} {kind}"


def _max_count(size_bytes: int) -> int:
    return min(MAX_ITEMS, max(20, MAX_BYTES // (size_bytes + 4)))


def _unknown(owner: Message, _field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Append unknown fields."""
    count = size_of(rng, 10, MAX_ITEMS)
    kinds = (b"\xf8\x7f\x01", b"\xfa\x7f\x00", b"\xfd\x7f\0\0\0\0", b"\xfb\x7f\xfc\x7f")
    owner.MergeFromString(b"".join(rng.choices(kinds, k=count)))
    return f"beside {count} unknown fields"


def _nested(owner: Message, field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Nest an `Any` in an `Any`, many times."""
    current, depth = getattr(owner, field.name), size_of(rng, 2, MAX_DEPTH)
    for _ in range(depth):
        current.type_url, current.value = ANY, current.SerializeToString()
    return f"{depth} deep"


def _full(owner: Message, field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Set a bitmap of up to 2**32 numbers."""
    count = size_of(rng, 1, 65536)
    if field.is_repeated:
        getattr(owner, field.name).extend([full_bitmap(count)] * 2)
    else:
        setattr(owner, field.name, full_bitmap(count))
    return f"{count} containers"


FAULTS = (
    Fault(lambda _: True, _value_fault),
    Fault(lambda _: True, _value_fault),
    Fault(lambda field: field.is_repeated, _many),
    Fault(lambda _: True, _unknown),
    Fault(lambda field: field.type == field.TYPE_STRING and not field.is_repeated, _value_fault),
    Fault(lambda field: bool(field.message_type and field.message_type.name == "Any"), _nested),
    Fault(_is_bitmap, _full),
)
"""Kinds of change; the first applies to any field, and replaces those that fit no field."""
