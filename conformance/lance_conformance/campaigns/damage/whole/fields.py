"""Fields: changes of a protobuf message that keep it a message of its type, inside of its file.

One field anywhere in the tree is set to a value that a reader must doubt: numbers at the ends of
their range, names that lead elsewhere, bytes of other lengths, repeated fields many times over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from lance_conformance.recipes.reflow import edit_message

Value: TypeAlias = bool | int | float | str | bytes

OUTSIDE = "../outside/victim"
"""The victim, from the root of a table."""

NAMES = (
    *("", ".", "..", "/", OUTSIDE, f"../{OUTSIDE}", "/etc/hostname", "/dev/zero", "data", "a/b"),
    *("%2e%2e", "..\\..", "a\0b", "x" * 300, "x" * 5000, "a\n\x1b[31mb", "file:///etc/hostname"),
    *("data/../..", "_versions", "\u202e\u2028", "-1", "1e999", "9" * 5000, "null"),
)
"""Texts in place of names, paths and versions."""

_SIGNED = (0, 1, -1, 2, 7)

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}

_EDGES = (2**15, 2**16, 2**31, 2**32, 2**40, 2**48, 2**53, 2**62, 2**63)


def size_of(rng: Random, least: int, most: int) -> int:
    """Return a number between the two; each order of magnitude is as likely as another."""
    return int(least * (most / least) ** rng.random())


def change(message: Message, rng: Random) -> str:
    """Change one field somewhere in the tree; return which one, and how."""
    owner, field = rng.choice(list(_places(message)))
    how = _change(owner, field, rng)
    return f"{owner.DESCRIPTOR.name}.{field.name} {how}"


def unknown_fields(rng: Random, count: int) -> bytes:
    """Return fields of numbers that no message of the format has."""
    return b"".join(
        rng.choice((b"\xf8\x7f\x01", b"\xfa\x7f\x00", b"\xfd\x7f\0\0\0\0", b"\xfb\x7f\xfc\x7f"))
        for _ in range(count)
    )


def _places(message: Message) -> Iterator[tuple[Any, FieldDescriptor]]:
    """Yield every field of every message of the tree, set or not."""
    fields: Any = message.DESCRIPTOR.fields
    for field in fields:
        yield message, field
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        if field.is_repeated:
            for one in getattr(message, field.name)[:8]:
                yield from _places(one)
        elif message.HasField(field.name):
            yield from _places(getattr(message, field.name))


def _change(owner: Any, field: FieldDescriptor, rng: Random) -> str:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _change_map(owner, field, rng)
    if field.is_repeated:
        return _change_list(owner, field, rng)
    if field.message_type is not None:
        getattr(owner, field.name).SetInParent()
        if rng.random() < 0.7:
            owner.ClearField(field.name)
            return "cleared"
        return "empty"
    value = _value(field, rng, getattr(owner, field.name))
    setattr(owner, field.name, value)
    return f"= {value!r:.40}"


def _change_list(owner: Any, field: FieldDescriptor, rng: Random) -> str:
    held = getattr(owner, field.name)
    count = size_of(rng, 1, 300)
    kind = rng.choice(("cleared", "reversed", "repeated", "value"))
    if kind == "cleared" or not len(held):
        if field.message_type is None:
            held.append(_value(field, rng, 0))
            return "one more"
        held.add()
        return "one empty"
    if kind == "reversed":
        kept = list(held)[::-1]
    elif kind == "repeated":
        kept = [one for one in held for _ in range(count)]
    elif field.message_type is None:
        kept = [_value(field, rng, one) for one in held]
    else:
        kept = list(held)[: rng.randrange(len(held))]
    copies = [one if field.message_type is None else deepcopy(one) for one in kept]
    owner.ClearField(field.name)
    getattr(owner, field.name).extend(copies)
    return f"{kind} {count if kind == 'repeated' else len(copies)}"


def _change_map(owner: Any, field: FieldDescriptor, rng: Random) -> str:
    value = field.message_type.fields_by_name["value"]  # type: ignore[union-attr]
    if value.message_type is not None:
        return "kept"
    held = getattr(owner, field.name)
    ours = f"lance.{rng.choice(('auto_cleanup', 'x'))}"
    key = rng.choice([*held, rng.choice(NAMES).replace("\0", ""), ours])
    held[key] = _value(value, rng, b"" if value.type == value.TYPE_BYTES else "")
    return f"[{key!r:.20}]"


def _value(field: FieldDescriptor, rng: Random, held: Any) -> Value:
    if field.cpp_type in _RANGES:
        least, most = _RANGES[field.cpp_type]
        near = [int(held) + delta for delta in (-1, 1, 2, 100)]
        edges = [edge + delta for edge in _EDGES for delta in (-1, 0, 1)]
        values = [*_SIGNED, *near, *near, *edges, least, most]
        return rng.choice([value for value in values if least <= value <= most])
    if field.type == field.TYPE_BYTES:
        return _bytes(bytes(held or b""), rng)
    if field.type == field.TYPE_STRING:
        return rng.choice(NAMES)
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


def latest(root: Path) -> Path:
    """Return the manifest file of the latest version of a table."""
    found = [path for path in (root / "_versions").glob("*.manifest") if path.stem.isdigit()]
    newest_first = any(len(path.stem) == 20 for path in found)
    return (min if newest_first else max)(found, key=lambda path: int(path.stem))


@contextmanager
def edited(path: Path, where: str = "manifest") -> Iterator[Any]:
    """Yield a message of a file, and write the file anew with what has become of it.

    `where` names a section of a manifest, or the descriptor, a column or a page of a data file.
    """
    data, held = path.read_bytes(), list[Message]()
    edit_message(path.name, data, where, held.append)
    yield held[0]
    new = edit_message(path.name, data, where, lambda message: message.CopyFrom(held[0]))
    path.write_bytes(new.data)


def change_some(message: Message, rng: Random) -> str:
    """Change one field up to three times; return which ones, and how."""
    return "; ".join(change(message, rng) for _ in range(rng.randint(1, 3)))
