"""JSONB: a JSON document as it is stored, and the text it is written from and read as.

Every row of a json column is one document in binary form, an Arrow `large_binary` value. Text comes
in and goes out of a table; the file knows only these bytes. All integers are big-endian.

Layout of a container: u32 header, 0x80000000 array, 0x40000000 object, 0x20000000 one lone value,
or the item count; u32 per item, bits 28 to 30 type, low 28 bits payload size (object: keys, then
values); payloads in the same order.

Types: 0 null, 1 string, 2 number, 3 false, 4 true, 5 container. A number begins with a tag: 0x00
zero, 0x10 NaN, 0x20 and 0x30 the infinities, 0x40 signed and 0x50 unsigned integer of 1, 2, 4 or 8
bytes, 0x60 double.

Text may take the liberties of the official writer: any case of `null`, `true`, `false`, `nan`,
`infinity`; single quotes; keys without quotes; holes in arrays as nulls; a sign, leading zeros, a
bare point and hexadecimal in numbers; none is null. A key that an object has twice is refused.

Clauses: L.json.header, L.json.scalar, L.json.entries, L.json.entry-type, L.json.payload,
L.json.trailing, L.json.literal, L.json.string, L.json.number, L.json.key, L.json.key-order,
L.json.number-width, L.json.unknown

Divergences: D.json.damage-is-text, D.json.liberal-text, D.json.nesting
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import (
    BytesError,
    CorruptPage,
    DataRefused,
    LimitExceeded,
    Place,
    Truncated,
    UnknownEncoding,
)
from lanceref.core.packed_values import bytes_of, offsets_of

ARRAY, OBJECT, SCALAR = 0x80000000, 0x40000000, 0x20000000
"""What a header says the container is."""

KINDS, COUNT, SIZE = 0xE0000000, 0x1FFFFFFF, 0x0FFFFFFF
"""Bits of a header: kind and number of items; bits of an item's word for its payload's size."""

NULL, STRING, NUMBER, FALSE, TRUE, CONTAINER, EXTENSION = range(7)
"""Types of an item."""

ZERO, NAN, INFINITY, MINUS_INFINITY, SIGNED, UNSIGNED, DOUBLE, DECIMAL = range(0, 0x80, 0x10)
"""Tags of numbers."""

_LITERALS = {NULL: "null", FALSE: "false", TRUE: "true"}
_WORDS = {ZERO: "0", NAN: "null", INFINITY: "null", MINUS_INFINITY: "null"}

MAX_TEXT_BYTES = 2**31 - 1
"""What one Arrow string array holds."""

Item = tuple[int, bytes]
Task = str | memoryview
"""Type and payload of a value that is written; what is still to be printed, text or a container."""


class _Document:
    """One document that is read: its bytes and where they lie."""

    def __init__(self, data: memoryview, ctx: Context, place: Place) -> None:
        self.data, self.ctx, self.place = data, ctx, place

    def text(self) -> str:
        """Return the document as text: compact, keys in the order stored. Raises FormatError."""
        tasks: list[Task] = [self.data if len(self.data) else "null"]
        parts: list[str] = []
        while tasks:
            task = tasks.pop()
            if isinstance(task, str):
                parts.append(task)
            else:
                tasks.extend(reversed(self._container(task)))
        return "".join(parts)

    def _container(self, data: memoryview) -> list[Task]:
        """Return what an array, an object, or a document of a lone value prints as."""
        if len(data) < 4:
            raise self._error("L.json.header", f"{len(data)} bytes", 4, Truncated)
        header = int.from_bytes(data[:4], "big")
        kind, count = header & KINDS, header & COUNT
        if kind == SCALAR:
            if count or data is not self.data:
                raise self._error("L.json.scalar", f"{count} items", "one, not inside a document")
            return self._items(data, 1, 0)
        if kind == ARRAY:
            items = self._items(data, count, 0)
            return ["[", *[part for item in items for part in (",", item)][1:], "]"]
        if kind != OBJECT:
            raise self._error("L.json.header", f"{header:#010x}", "array, object or lone value")
        items = self._items(data, 2 * count, count)
        pairs = zip(items[:count], items[count:])
        return ["{", *[part for key, value in pairs for part in (",", key, ":", value)][1:], "}"]

    def _items(self, data: memoryview, count: int, num_keys: int) -> list[Task]:
        """Return what the items of a container print as; the first `num_keys` are keys."""
        at = 4 + 4 * count
        if at > len(data):
            raise self._error("L.json.entries", f"{len(data)} bytes", at, Truncated)
        items: list[Task] = []
        keys: list[bytes] = []
        for offset in range(4, at, 4):
            word = int.from_bytes(data[offset : offset + 4], "big")
            size = word & SIZE
            if size > len(data) - at:
                raise self._error("L.json.payload", f"{len(data) - at} bytes", size, Truncated)
            payload = data[at : at + size]
            at += size
            if len(items) < num_keys:
                if word & ~SIZE != STRING << 28:
                    raise self._error("L.json.key", f"a key of type {word >> 28}", "a string")
                keys.append(bytes(payload))
            items.append(self._item(word >> 28, payload))
        if at != len(data):
            self.ctx.refuse(self._error("L.json.trailing", f"{len(data) - at} bytes", "none"))
        if any(first >= second for first, second in pairwise(keys)):
            self._lint("L.json.key-order", "keys", "ascending keys")
        return items

    def _item(self, kind: int, payload: memoryview) -> Task:
        if kind == STRING:
            try:
                return json.dumps(str(payload, "utf-8"), ensure_ascii=False)
            except UnicodeDecodeError as error:
                raise self._error("L.json.string", str(error), "UTF-8") from error
        if kind == NUMBER:
            return self._number(payload)
        if kind == CONTAINER:
            return payload
        if kind == EXTENSION:
            raise self._error("L.json.unknown", "an extension value", "JSON", UnknownEncoding)
        if kind not in _LITERALS:
            raise self._error("L.json.entry-type", f"type {kind}", "0 to 6")
        if len(payload):
            self.ctx.refuse(self._error("L.json.literal", f"{len(payload)} bytes", "no payload"))
        return _LITERALS[kind]

    def _number(self, payload: memoryview) -> str:
        tag, size = (payload[0], len(payload) - 1) if len(payload) else (-1, 0)
        if tag in _WORDS and size == 0:
            return _WORDS[tag]
        if tag in (SIGNED, UNSIGNED) and size in (1, 2, 4, 8):
            number = int.from_bytes(payload[1:], "big", signed=tag == SIGNED)
            if len(write_number(number)[1]) < len(payload):
                self._lint("L.json.number-width", f"{size} bytes", "fewer")
            return str(number)
        if tag == DOUBLE and size == 8:
            return double_text(float(np.frombuffer(payload[1:], ">f8")[0]))
        if tag == DECIMAL:
            raise self._error("L.json.unknown", "a decimal", "JSON", UnknownEncoding)
        raise self._error("L.json.number", f"tag {tag} and {size} bytes", "a number")

    def _lint(self, clause: str, found: object, wanted: object) -> None:
        self.ctx.lint(clause, self.place, found, wanted, severity="should")

    def _error(
        self, clause: str, found: object, wanted: object, error: type[BytesError] = CorruptPage
    ) -> BytesError:
        return error(clause, self.place, found, wanted)


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
    views = _views(documents)
    printed = [None if one is None else _Document(one, ctx, place).text() for one in views]
    size = sum(len(text.encode()) for text in printed if text is not None)
    if size > MAX_TEXT_BYTES:
        raise LimitExceeded("L.json.column", place, f"{size} bytes", MAX_TEXT_BYTES)
    return pa.array(printed, pa.utf8())


def _views(documents: pa.Array) -> list[memoryview | None]:
    """Return the bytes of each document without a copy, None for a null."""
    whole, ends = bytes_of(documents.buffers()[2]).data, offsets_of(documents).tolist()
    spans = zip(documents.is_valid().to_pylist(), pairwise(ends), strict=True)
    return [whole[start:end] if is_valid else None for is_valid, (start, end) in spans]


def check_documents(documents: pa.Array, ctx: Context, place: Place) -> None:
    """Read every document, so that all that is wrong with them is found."""
    for document in _views(documents):
        if document is not None:
            with ctx.piece():
                _Document(document, ctx, place).text()


def write_number(value: int | float) -> Item:
    """Write a number: an integer in as few bytes as hold it, else a double."""
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        if value == 0:
            return NUMBER, bytes([ZERO])
        tag = UNSIGNED if value > 0 else SIGNED
        bits = value.bit_length() if value > 0 else (-value - 1).bit_length() + 1
        width = next(width for width in (1, 2, 4, 8) if bits <= 8 * width)
        return NUMBER, bytes([tag]) + value.to_bytes(width, "big", signed=value < 0)
    number = np.array(value, ">f8")
    if not math.isfinite(number):
        tag = NAN if math.isnan(number) else INFINITY if number > 0 else MINUS_INFINITY
        return NUMBER, bytes([tag])
    return NUMBER, bytes([DOUBLE]) + number.tobytes()


def _container(header: int, items: Sequence[Item]) -> bytes:
    words = [header, *(kind << 28 | len(payload) for kind, payload in items)]
    return b"".join([np.array(words, ">u4").tobytes(), *(payload for _, payload in items)])


MAX_NESTING, MAX_DIGITS, MAX_HEX_BITS = 200, 38, 128
"""Deepest nesting written, digits of an integer, and bits of a part of a hexadecimal number."""

_SPACE = r"(?:[ \t\n\f\r]|\\[nrt]|\\x0C)*"
_WORD = r"(?i:(null)|(true)|(false)|(\+?nan)|([+-]?infinity))"
_HEX = r"([+-]?)0[xX]([0-9a-fA-F]+)(?:\.([0-9a-fA-F]+))?"
_NUMBER = r"([+-]?)(?:([0-9]+)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_UNIT = r"u(?:\{[0-9a-fA-F]{4}\}|[0-9a-fA-F]{4})"
_STRING = (
    rf"""(?:"((?:[^"\\]|\\(?:["\\/bfnrt]|{_UNIT}))*)"|'((?:[^'\\]|\\(?:["\\/bfnrt]|{_UNIT}))*)')"""
)
_KEY = r"[A-Za-z_$\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*"
_HIGH = r"[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPE = rf"\\u(?:\{{{_HIGH}\}}|{_HIGH})\\{_UNIT}|\\{_UNIT}|\\."
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

compiled = cache(re.compile)
"""Patterns are compiled at their first use: a program that reads needs none."""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def value(self) -> Item:
        """Parse a value; none at the end of the text is null."""
        following = self.peek()
        if following in ("[", "{"):
            self.depth += 1
            if self.depth > MAX_NESTING:
                raise self.refused(f"at most {MAX_NESTING} containers inside each other")
            self.at += 1
            item = self.array() if following == "[" else self.object()
            self.depth -= 1
            return item
        if following in ('"', "'"):
            return STRING, self.string().encode()
        word = self.match(_WORD) if following.isalpha() or following in "+-" else None
        if word is None:
            return self.number() if following else (NULL, b"")
        if word.lastindex in (4, 5):  # NaN or an infinity
            return write_number(float(word.group()))
        return (NULL, TRUE, FALSE)[(word.lastindex or 1) - 1], b""

    def array(self) -> Item:
        """Parse an array after its bracket; where a value is missing there is a null."""
        items: list[Item] = []
        while not self.eat("]"):
            if items and not self.eat(","):
                raise self.refused("a comma or the end of the array")
            items.append((NULL, b"") if self.peek() in (",", "]", "") else self.value())
        return CONTAINER, _container(ARRAY | len(items), items)

    def object(self) -> Item:
        """Parse an object after its brace; its keys are sorted by their bytes."""
        members: dict[bytes, Item] = {}
        while not self.eat("}"):
            if members and not self.eat(","):
                raise self.refused("a comma or the end of the object")
            bare = self.match(_KEY)
            text = bare.group() if bare else self.string()
            key = text.encode()
            if key in members:  # L.json.key-order
                raise self.refused(f"key {text!r} once")
            if not self.eat(":"):
                raise self.refused("a colon")
            members[key] = self.value()
        keys = sorted(members)
        items = [*((STRING, key) for key in keys), *(members[key] for key in keys)]
        return CONTAINER, _container(OBJECT | len(keys), items)

    def string(self) -> str:
        quoted = self.match(_STRING)
        if quoted is None:
            raise self.refused("a string")
        body: str = quoted.group(1) if quoted.group(1) is not None else quoted.group(2)
        return compiled(_ESCAPE).sub(_unescape, body) if "\\" in body else body

    def number(self) -> Item:
        """Parse a number; a decimal without point or exponent is an integer if it fits."""
        number = self.match(_HEX) if self.peek() in "+-0" else None
        if number is not None:
            factor, whole, fraction = -1 if number.group(1) == "-" else 1, *number.groups()[1:]
            if max(int(whole, 16), int(fraction or "0", 16)) >> MAX_HEX_BITS:
                raise self.refused(f"at most {MAX_HEX_BITS} bits")
            if fraction is None:
                return write_number(factor * int(whole, 16))
            value = float(int(whole, 16)) + float(int(fraction, 16)) / 16.0 ** len(fraction)
            return write_number(factor * value)
        number = self.match(_NUMBER)
        if number is None:
            raise self.refused("a value")
        sign, whole, fraction, exponent = number.groups()
        digits = (whole or "").lstrip("0") or "0"
        if whole and fraction in (None, ".") and exponent is None and len(digits) <= MAX_DIGITS:
            return write_number(int(sign + digits))
        return write_number(float(number.group()))

    def peek(self) -> str:
        """Pass over white space; return the character after it, nothing at the end."""
        if self.text[self.at : self.at + 1] in " \t\n\f\r\\":
            space = compiled(_SPACE).match(self.text, self.at)
            self.at = self.at if space is None else space.end()
        return self.text[self.at : self.at + 1]

    def eat(self, character: str) -> bool:
        """Pass over one character if it comes next. Raises DataRefused at the end of the text."""
        following = self.peek()
        if not following:
            raise self.refused(f"{character!r}")
        self.at += following == character
        return following == character

    def match(self, pattern: str) -> re.Match[str] | None:
        """Pass over white space and what `pattern` matches after it."""
        self.peek()
        found = compiled(pattern).match(self.text, self.at)
        self.at = self.at if found is None else found.end()
        return found

    def refused(self, wanted: str) -> DataRefused:
        """Return the error of a text that is not JSON."""
        return DataRefused(f"Failed to encode JSON: at character {self.at} wanted {wanted}")


def _unescape(escape: re.Match[str]) -> str:
    """Return what an escape stands for; half a surrogate pair stands for its own spelling."""
    text: str = escape.group()
    if text[1] != "u":
        return _LETTERS.get(text[1], text[1])
    digits = re.findall("[0-9a-fA-F]{4}", text)
    first, *second = (int(unit, 16) for unit in digits)
    if second and 0xDC00 <= second[0] <= 0xDFFF:
        return chr(0x10000 + ((first - 0xD800) << 10) + second[0] - 0xDC00)
    is_whole = not second and not 0xD800 <= first <= 0xDFFF
    return chr(first) if is_whole else "".join(f"\\u{unit}" for unit in digits)


def document(text: str) -> bytes:
    """Return the JSONB document of a JSON text. Raises DataRefused."""
    parser = _Parser(text)
    kind, payload = parser.value()
    if parser.peek():
        raise parser.refused("the end")
    return payload if kind == CONTAINER else _container(SCALAR, [(kind, payload)])


def documents(array: pa.Array) -> pa.Array:
    """Return JSON texts (utf8 or large_utf8) as documents (large_binary). Raises DataRefused."""
    written = [None if text is None else document(text) for text in array.to_pylist()]
    return pa.array(written, pa.large_binary())
