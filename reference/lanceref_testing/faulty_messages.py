"""Faulty messages: changes of a protobuf message that keep it a message of its type.

A fault is a field anywhere in the tree and a kind of change. The fields follow from the
descriptors, and those of messages that lie inside of bytes are among them.
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

OUTSIDE = "../outside/victim"
"""The victim, from the root of a table."""

NAMES = (
    *("", ".", "..", "/", OUTSIDE, f"../{OUTSIDE}", "/etc/hostname", "/dev/zero", "data", "a/b"),
    *("%2e%2e", "..\\..", "a\0b", "x" * 300, "x" * 5000, "a\n\x1b[31mb", "file:///etc/hostname"),
    *("data/../..", "_versions", "\u202e\u2028", "-1", "1e999", "9" * 5000, "null"),
    *("0", "1", "1e9d", "9" * 30, "1s", "NaN", "true", "1d 1d", "P1D"),
)
"""Texts in place of names, paths, versions and settings."""

KEYS = tuple(f"lance.auto_cleanup.{one}" for one in ("interval", "older_than", "retain_versions"))
"""Keys of the config that writers obey."""

ANY = "/google.protobuf.Any"

_SIGNED = (0, 1, -1, 2, 7)

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}

_EDGES = (2**15, 2**16, 2**31, 2**32, 2**40, 2**48, 2**53, 2**62, 2**63)

MOST_BYTES = 2**22
"""About how much a fault may add to a message."""

MOST_ITEMS = 100_000
"""The most items, and fields that nobody knows, that a fault adds."""

MOST_DEPTH = 3000

LOOKED_AT = 8
"""Items of a repeated field whose own fields are changed."""


def size_of(rng: Random, least: int, most: int) -> int:
    """Return a number between the two; each order of magnitude is as likely as another."""
    return int(least * (most / least) ** rng.random())


def full_bitmap(containers: int) -> bytes:
    """Return a roaring bitmap whose containers are runs of every value they can hold."""
    bitmap = BitMap()
    bitmap.add_range(0, containers << 16)
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


@dataclass(frozen=True, slots=True)
class Place:
    """A field of a message; `save` writes the message back where it lies inside of bytes."""

    owner: Message
    field: FieldDescriptor
    save: Callable[[], None] = lambda: None


def places(message: Message, save: Callable[[], None] = lambda: None) -> Iterator[Place]:
    """Yield every field of every message of the tree, set or not."""
    owner, descriptor = message, cast("Descriptor", message.DESCRIPTOR)
    for field in descriptor.fields:
        yield Place(owner, field, save)
        if field.full_name in EMBEDDED:
            inner = type_named(EMBEDDED[field.full_name])
            assert inner is not None
            with suppress(DecodeError):  # the bytes may have been changed before
                held = GetMessageClass(inner).FromString(getattr(owner, field.name))
                yield from places(held, partial(_save, owner, field.name, held))
        elif field.message_type is None or _is_map(field):
            continue
        elif field.is_repeated:
            for one in getattr(owner, field.name)[:LOOKED_AT]:
                yield from places(one, save)
        elif owner.HasField(field.name):
            yield from places(getattr(owner, field.name), save)


def _save(owner: Message, name: str, held: Message) -> None:
    setattr(owner, name, held.SerializeToString())


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _is_bitmap(field: FieldDescriptor) -> bool:
    return field.type == field.TYPE_BYTES and "bitmap" in field.name


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of change: the fields it is for, and what it does to one of them and tells of it."""

    fits: Callable[[FieldDescriptor], bool]
    apply: Callable[[Message, FieldDescriptor, Random, Sequence[str]], str]


def change(message: Message, rng: Random, names: Sequence[str] = NAMES) -> str:
    """Change one field somewhere in the tree; return which one, and how."""
    every = list(places(message))
    fault = rng.choice(FAULTS)
    fitting = [one for one in every if fault.fits(one.field)]
    if not fitting:
        fault, fitting = FAULTS[0], every
    place = rng.choice(fitting)
    how = fault.apply(place.owner, place.field, rng, names)
    place.save()
    return f"{place.owner.DESCRIPTOR.name}.{place.field.name} {how}"


def change_some(message: Message, rng: Random, names: Sequence[str] = NAMES) -> str:
    """Change one field up to three times; return which ones, and how."""
    return "; ".join(change(message, rng, names) for _ in range(rng.randint(1, 3)))


def _value_fault(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    """Set a field to what a reader must doubt, or clear it."""
    held = getattr(owner, field.name)
    if _is_map(field):
        return _map_value(owner, field, rng, names)
    if field.is_repeated:
        return _changed_items(owner, field, rng, names)
    if field.message_type is not None:
        kind = rng.choice(("cleared", "empty", "filled"))
        held.SetInParent()
        if kind == "cleared":
            owner.ClearField(field.name)
        elif kind == "filled":
            fill(held, rng, names)
        return kind
    value = _value(field, rng, names, held)
    setattr(owner, field.name, value)
    return f"= {value!r:.40}"


def fill(message: Message, rng: Random, names: Sequence[str], depth: int = 3) -> None:
    """Set some of the fields of a message, and of those below it, to any values."""
    for field in cast("Descriptor", message.DESCRIPTOR).fields:
        if _is_map(field) or rng.random() < 0.4:
            continue
        held = getattr(message, field.name)
        if field.message_type is None:
            value = _value(field, rng, names, b"" if field.type == field.TYPE_BYTES else 0)
            held.append(value) if field.is_repeated else setattr(message, field.name, value)
        elif depth:
            fill(held.add() if field.is_repeated else held, rng, names, depth - 1)


def _changed_items(
    owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]
) -> str:
    held = getattr(owner, field.name)
    kind = rng.choice(("cleared", "reversed", "value"))
    if not len(held):
        added = held.add() if field.message_type else held.append(_value(field, rng, names, 0))
        if added is not None and rng.random() < 0.5:
            fill(added, rng, names)
        return "one more"
    kept = deepcopy(list(held))
    if kind == "cleared":
        kept = []
    elif kind == "reversed":
        kept = kept[::-1]
    elif field.message_type is None:
        kept = [_value(field, rng, names, one) for one in kept]
    else:
        kept = kept[: rng.randrange(len(kept))]
    del held[:]
    held.extend(kept)
    return f"{kind} {len(kept)}"


def _map_value(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    held, (key, value) = getattr(owner, field.name), _entry(field)
    if value.message_type is not None or key.type != key.TYPE_STRING:
        return "kept"
    name = rng.choice([*held, rng.choice((*names, *KEYS)).replace("\0", "")])
    held[name] = _value(value, rng, names, b"" if value.type == value.TYPE_BYTES else 0)
    return f"[{name!r:.20}]"


def _entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Return the fields of key and value of a map."""
    descriptor = field.message_type
    assert descriptor is not None
    return descriptor.fields_by_name["key"], descriptor.fields_by_name["value"]


def _value(field: FieldDescriptor, rng: Random, names: Sequence[str], held: Value) -> Value:
    if field.cpp_type in _RANGES:
        least, most = _RANGES[field.cpp_type]
        near = [int(held) + delta for delta in (-1, 1, 2, 100)]
        edges = [edge + delta for edge in _EDGES for delta in (-1, 0, 1)]
        values = [*_SIGNED, *near, *near, *edges, least, most]
        return rng.choice([value for value in values if least <= value <= most])
    if field.type == field.TYPE_BYTES:
        return _bytes(held if isinstance(held, bytes) else b"", rng)
    if field.type == field.TYPE_STRING:
        return rng.choice(names)
    if field.enum_type is not None:
        return rng.choice((0, 1, 2, 3, 77, -1, 2**31 - 1))
    if field.type == field.TYPE_BOOL:
        return not held
    return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e300))


def _bytes(held: bytes, rng: Random) -> bytes:
    cut = rng.randrange(len(held) + 1)
    return rng.choice(
        (b"", held[:cut], held + held, held * size_of(rng, 2, 50), b"\xff" * 10, bytes(16),
         rng.randbytes(17), held[:cut] + rng.randbytes(3) + held[cut + 3 :])
    )  # fmt: skip


def _many(owner: Message, field: FieldDescriptor, rng: Random, names: Sequence[str]) -> str:
    """Add very many items: empty ones or copies of one, their ids counted on or all the same."""
    held = getattr(owner, field.name)
    if _is_map(field):
        for _ in range(count := size_of(rng, 10, 2000)):
            _map_value(owner, field, rng, [*names[:9], f"k{rng.random()}"])
        return f"{count} entries"
    if field.message_type is None:
        model = held[0] if len(held) else _value(field, rng, names, 0)
        count = size_of(rng, 10, _most(8 if isinstance(model, int | float) else len(model)))
        held.extend([model] * count)
        return f"{count} times"
    kind = rng.choice(("empty", "copies", "same"))
    model = held[0] if len(held) and kind != "empty" else type(held.add())()
    count, counted = size_of(rng, 10, _most(model.ByteSize())), kind != "same"
    first = 1 + max([getattr(one, "id", 0) for one in held], default=0)
    for number in range(count):
        one = held.add()
        one.CopyFrom(model)
        if counted and isinstance(getattr(one, "id", None), int):
            one.id = min(first + number, 2**31 - 1)
        if counted and kind == "copies" and rng.random() < 0.5 and hasattr(one, "name"):
            one.name = f"n{number}"
    return f"{count} {kind}"


def _most(size_bytes: int) -> int:
    return min(MOST_ITEMS, max(20, MOST_BYTES // (size_bytes + 4)))


def _unknown(owner: Message, _field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Append fields of numbers that no message of the format has."""
    count = size_of(rng, 10, MOST_ITEMS)
    kinds = (b"\xf8\x7f\x01", b"\xfa\x7f\x00", b"\xfd\x7f\0\0\0\0", b"\xfb\x7f\xfc\x7f")
    owner.MergeFromString(b"".join(rng.choices(kinds, k=count)))
    return f"beside {count} unknown fields"


def _nested(owner: Message, field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Put an `Any` into an `Any`, again and again."""
    held, depth = getattr(owner, field.name), size_of(rng, 2, MOST_DEPTH)
    for _ in range(depth):
        held.type_url, held.value = ANY, held.SerializeToString()
    return f"{depth} deep"


def _full(owner: Message, field: FieldDescriptor, rng: Random, _names: Sequence[str]) -> str:
    """Let a bitmap hold up to four thousand million numbers."""
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
"""Kinds of change; the first are for any field, and as likely as all that fit no field."""
