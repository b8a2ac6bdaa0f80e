"""JSONB: a JSON document as it is stored.

Every row of a json column is one document in binary form, an Arrow `large_binary` value. Text comes
in and goes out of a table; the file knows only these bytes. All integers are big-endian.

Layout of a container::

    u32 header: 0x80000000 array, 0x40000000 object, 0x20000000 one lone value; or the item count
    u32 per item: bits 28 to 30 type, low 28 bits payload size (object: keys, then values)
    payloads in the same order

Types: 0 null, 1 string, 2 number, 3 false, 4 true, 5 container. A number begins with a tag: 0x00
zero, 0x10 NaN, 0x20 and 0x30 the infinities, 0x40 signed and 0x50 unsigned integer of 1, 2, 4 or 8
bytes, 0x60 double.

Clauses: L.json.header, L.json.scalar, L.json.entries, L.json.entry-type, L.json.payload,
L.json.trailing, L.json.literal, L.json.string, L.json.number, L.json.key, L.json.key-order,
L.json.number-width, L.json.unknown

Divergences: D.json.damage-is-text, D.json.nesting
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import (
    BytesError,
    CorruptPage,
    LimitExceeded,
    Place,
    Truncated,
    UnknownEncoding,
)

ARRAY, OBJECT, SCALAR = 0x80000000, 0x40000000, 0x20000000
"""What a header says the container is."""

KINDS, COUNT = 0xE0000000, 0x1FFFFFFF
"""The bits of a header: kind and number of items."""

NULL, STRING, NUMBER, FALSE, TRUE, CONTAINER, EXTENSION = range(7)
"""Types of an item."""

SIZE = 0x0FFFFFFF
"""The bits of an item's word that hold the size of its payload; 28 to 30 are its type, 31 is 0."""

_LITERALS = {NULL: "null", FALSE: "false", TRUE: "true"}
_ZERO, _NAN, _INFINITY, _MINUS_INFINITY, _SIGNED, _UNSIGNED, _DOUBLE, _DECIMAL = range(
    0, 0x80, 0x10
)
_WORDS = {_ZERO: "0", _NAN: "null", _INFINITY: "null", _MINUS_INFINITY: "null"}

MAX_TEXT_BYTES = 2**31 - 1
"""What one Arrow string array holds."""

Task = str | memoryview
"""What is still to be printed: text, or a container."""


class _Document:
    """One document that is read: its bytes and where they lie."""

    def __init__(self, data: memoryview, ctx: Context, place: Place) -> None:
        self.data, self.ctx, self.place = data, ctx, place

    def text(self) -> str:
        """Print the document: compact, keys in the order stored. Raises FormatError."""
        if not len(self.data):
            return "null"
        header = self._header(self.data)
        tasks: list[Task] = [self.data]
        if header & KINDS == SCALAR:
            if header & COUNT:
                raise self._corrupt("L.json.scalar", f"{header & COUNT} items", "no item count")
            tasks = self._items(self.data, [4], False)
        parts: list[str] = []
        while tasks:
            task = tasks.pop()
            if isinstance(task, str):
                parts.append(task)
            else:
                tasks.extend(reversed(self._container(task)))
        return "".join(parts)

    def _container(self, data: memoryview) -> list[Task]:
        """Return what an array or an object prints as."""
        header = self._header(data)
        kind, count = header & KINDS, header & COUNT
        if kind == SCALAR:
            raise self._corrupt("L.json.scalar", "a lone value inside a document", "an item")
        words = count * (2 if kind == OBJECT else 1)
        if 4 + 4 * words > len(data):
            raise Truncated(
                "L.json.entries", self.place, found=f"{len(data)} bytes", wanted=f"{words} items"
            )
        items = self._items(data, range(4, 4 + 4 * words, 4), kind == OBJECT)
        if kind == ARRAY:
            return ["[", *_separated(items), "]"]
        keys, values = items[:count], items[count:]
        pairs = [part for key, value in zip(keys, values) for part in (",", key, ":", value)]
        return ["{", *pairs[1:], "}"]

    def _header(self, data: memoryview) -> int:
        if len(data) < 4:
            raise Truncated("L.json.header", self.place, found=f"{len(data)} bytes", wanted=4)
        header = int.from_bytes(data[:4], "big")
        if header & KINDS not in (ARRAY, OBJECT, SCALAR):
            raise self._corrupt("L.json.header", f"{header:#010x}", "array, object or lone value")
        return header

    def _items(self, data: memoryview, words: Sequence[int], keyed: bool) -> list[Task]:
        """Return what the items print as whose words lie at the offsets `words` of `data`."""
        at = words[-1] + 4 if words else 4
        if at > len(data):
            raise Truncated("L.json.entries", self.place, found=f"{len(data)} bytes", wanted=at)
        items: list[Task] = []
        keys: list[bytes] = []
        for number, offset in enumerate(words):
            word = int.from_bytes(data[offset : offset + 4], "big")
            size = word & SIZE
            if size > len(data) - at:
                raise Truncated(
                    "L.json.payload", self.place, found=f"{len(data) - at} bytes", wanted=size
                )
            payload = data[at : at + size]
            at += size
            if keyed and number < len(words) // 2:
                if word & ~SIZE != STRING << 28:
                    raise self._corrupt("L.json.key", f"a key of type {word >> 28}", "a string")
                keys.append(bytes(payload))
            items.append(self._item(word >> 28, payload))
        if at != len(data):
            self.ctx.refuse(
                self._corrupt("L.json.trailing", f"{len(data) - at} more bytes", "none")
            )
        if any(first >= second for first, second in pairwise(keys)):
            self._should("L.json.key-order", "unsorted keys", "ascending")
        return items

    def _item(self, kind: int, payload: memoryview) -> Task:
        if kind == STRING:
            try:
                return json.dumps(str(payload, "utf-8"), ensure_ascii=False)
            except UnicodeDecodeError as error:
                raise self._corrupt("L.json.string", str(error), "UTF-8") from error
        if kind == NUMBER:
            return self._number(payload)
        if kind == CONTAINER:
            return payload
        if kind in _LITERALS:
            if len(payload):
                self.ctx.refuse(
                    self._corrupt("L.json.literal", f"{len(payload)} bytes", "no payload")
                )
            return _LITERALS[kind]
        if kind == EXTENSION:
            raise UnknownEncoding(
                "L.json.unknown", self.place, found="an extension value", wanted="JSON"
            )
        raise self._corrupt("L.json.entry-type", f"type {kind}", "0 to 6")

    def _number(self, payload: memoryview) -> str:
        tag, size = (payload[0], len(payload) - 1) if len(payload) else (-1, 0)
        if tag in _WORDS and size == 0:
            return _WORDS[tag]
        if tag in (_SIGNED, _UNSIGNED) and size in (1, 2, 4, 8):
            number = int.from_bytes(payload[1:], "big", signed=tag == _SIGNED)
            if len(write_number(number)[1]) < len(payload):
                self._should("L.json.number-width", f"{size} bytes", "fewer")
            return str(number)
        if tag == _DOUBLE and size == 8:
            return double_text(float(np.frombuffer(payload[1:], ">f8")[0]))
        if tag == _DECIMAL:
            raise UnknownEncoding("L.json.unknown", self.place, found="a decimal", wanted="JSON")
        raise self._corrupt("L.json.number", f"tag {tag} and {size} bytes", "a number")

    def _should(self, clause: str, found: object, wanted: object) -> None:
        self.ctx.lint(clause, self.place, found=found, wanted=wanted, severity="should")

    def _corrupt(self, clause: str, found: object, wanted: object) -> BytesError:
        return CorruptPage(clause, self.place, found=found, wanted=wanted)


def _separated(items: list[Task]) -> list[Task]:
    return [part for item in items for part in (",", item)][1:]


def double_text(value: float) -> str:
    """Print a double with the fewest digits that name it; exponents from 1e16 and below 1e-5 on."""
    if not math.isfinite(value):
        return "null"
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return text
    if exponent == "-05":
        sign = "-" if value < 0 else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{exponent[0]}{exponent[1:].lstrip('0')}"


def texts(documents: pa.Array, ctx: Context, place: Place) -> pa.Array:
    """Return JSONB documents (large_binary) as text (utf8). Raises FormatError, LimitExceeded."""
    found = [
        None if one is None else _Document(one, ctx, place).text() for one in _views(documents)
    ]
    size = sum(len(text.encode()) for text in found if text is not None)
    if size > MAX_TEXT_BYTES:
        raise LimitExceeded(
            "L.json.column", place, found=f"{size} bytes of text", wanted=MAX_TEXT_BYTES
        )
    return pa.array(found, pa.utf8())


def _views(documents: pa.Array) -> list[memoryview | None]:
    """Return the bytes of each document without a copy, None for a null."""
    if not len(documents):
        return []
    _, offsets, data = documents.buffers()
    ends: NDArray[np.int64] = np.frombuffer(
        offsets, "<i8", len(documents) + 1, 8 * documents.offset
    )
    valid = documents.is_valid().to_pylist()
    whole = memoryview(data) if data is not None else memoryview(b"")
    return [
        whole[start:end] if ok else None
        for ok, start, end in zip(valid, ends.tolist(), ends[1:].tolist())
    ]


def check_documents(documents: pa.Array, ctx: Context, place: Place) -> None:
    """Read every document, so that all that is wrong with them is found."""
    for document in _views(documents):
        if document is not None:
            with ctx.piece():
                _Document(document, ctx, place).text()


Item = tuple[int, bytes]
"""Type and payload of a value that is written."""


def write_number(value: int | float) -> Item:
    """Write a number: an integer in as few bytes as hold it, else a double."""
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        if value == 0:
            return NUMBER, bytes([_ZERO])
        tag = _UNSIGNED if value > 0 else _SIGNED
        bits = value.bit_length() if value > 0 else (-value - 1).bit_length() + 1
        width = next(width for width in (1, 2, 4, 8) if bits <= 8 * width)
        return NUMBER, bytes([tag]) + value.to_bytes(width, "big", signed=value < 0)
    number = float(value)
    if math.isnan(number):
        return NUMBER, bytes([_NAN])
    if math.isinf(number):
        return NUMBER, bytes([_INFINITY if number > 0 else _MINUS_INFINITY])
    return NUMBER, bytes([_DOUBLE]) + np.array(number, ">f8").tobytes()


def write_array(items: Sequence[Item]) -> Item:
    """Write an array."""
    return CONTAINER, _container(ARRAY | len(items), items)


def write_object(members: dict[str, Item]) -> Item:
    """Write an object; its keys are sorted by their bytes."""
    ordered = sorted((key.encode(), item) for key, item in members.items())
    keys = [(STRING, key) for key, _ in ordered]
    return CONTAINER, _container(OBJECT | len(keys), [*keys, *(item for _, item in ordered)])


def write_document(item: Item) -> bytes:
    """Write a whole document: a container as it is, anything else as a lone value."""
    kind, payload = item
    return payload if kind == CONTAINER else _container(SCALAR, [item])


def _container(header: int, items: Sequence[Item]) -> bytes:
    words = [header, *(kind << 28 | len(payload) for kind, payload in items)]
    return b"".join([np.array(words, ">u4").tobytes(), *(payload for _, payload in items)])
