"""JSON text: what a json column is written from.

Standard JSON, and the liberties that the official writer takes: any case of `null`, `true`,
`false`, `nan`, `infinity`; single quotes; keys without quotes; holes in arrays as nulls; a sign,
leading zeros, a bare point and hexadecimal in numbers; text without a value is null. A key that an
object has twice is refused.

Clauses: L.json.key-order

Divergences: D.json.liberal-text, D.json.nesting
"""

from __future__ import annotations

import re

import pyarrow as pa

from lanceref.core.errors import JsonRefused
from lanceref.json import jsonb
from lanceref.json.jsonb import Item

MAX_NESTING = 200
"""Deepest nesting that is written; the official writer overflows its stack somewhat later."""

MAX_DIGITS = 38
"""Most digits of a number that is looked at as an integer."""

_SPACE = re.compile(r"(?:[ \t\n\f\r]|\\[nrt]|\\x0C)*")
_WORD = re.compile(r"(?i:(null)|(true)|(false)|(\+?nan)|([+-]?infinity))")
_HEX = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]+)(?:\.([0-9a-fA-F]+))?")
_NUMBER = re.compile(r"([+-]?)(?:([0-9]+)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_UNIT = r"u(?:\{[0-9a-fA-F]{4}\}|[0-9a-fA-F]{4})"
_STRING = re.compile(
    rf"""(?:"((?:[^"\\]|\\(?:["\\/bfnrt]|{_UNIT}))*)"|'((?:[^'\\]|\\(?:["\\/bfnrt]|{_UNIT}))*)')"""
)
_KEY = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*")
_HIGH = "[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\u(?P<high>\{{{_HIGH}\}}|{_HIGH})\\(?P<low>{_UNIT})|\\{_UNIT}|\\.")
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MOST_HEX_BITS = 128


class _Parser:
    """A position in one text."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def document(self) -> bytes:
        """Parse the whole text."""
        item = self.value()
        self.skip()
        if self.at < len(self.text):
            raise self.refused("the end")
        return jsonb.write_document(item)

    def value(self) -> Item:
        """Parse a value; none at the end of the text is null."""
        self.skip()
        following = self.text[self.at : self.at + 1]
        if following in ("[", "{"):
            self.depth += 1
            if self.depth > MAX_NESTING:
                raise self.refused(f"at most {MAX_NESTING} containers inside each other")
            self.at += 1
            item = self.array() if following == "[" else self.object()
            self.depth -= 1
            return item
        if following in ('"', "'"):
            return jsonb.STRING, self.string().encode()
        if not following:
            return jsonb.NULL, b""
        return self.word() or self.hexadecimal() or self.number()

    def array(self) -> Item:
        """Parse an array after its bracket; where a value is missing there is a null."""
        items: list[Item] = []
        self.skip()
        while not self.eat("]"):
            if items and not self.eat(","):
                raise self.refused("a comma or the end of the array")
            self.skip()
            hole = self.text[self.at : self.at + 1] in (",", "]", "")
            items.append((jsonb.NULL, b"") if hole else self.value())
            self.skip()
        return jsonb.write_array(items)

    def object(self) -> Item:
        """Parse an object after its brace."""
        members: dict[str, Item] = {}
        self.skip()
        while not self.eat("}"):
            if members and not self.eat(","):
                raise self.refused("a comma or the end of the object")
            self.skip()
            key = self.key()
            if key in members:  # L.json.key-order
                raise self.refused(f"key {key!r} once")
            self.skip()
            if not self.eat(":"):
                raise self.refused("a colon")
            members[key] = self.value()
            self.skip()
        return jsonb.write_object(members)

    def key(self) -> str:
        """Parse a key, quoted or bare."""
        bare = self.match(_KEY)
        return bare.group() if bare else self.string()

    def string(self) -> str:
        """Parse a quoted string."""
        found = self.match(_STRING)
        if found is None:
            raise self.refused("a string")
        body: str = found.group(1) if found.group(1) is not None else found.group(2)
        return _ESCAPE.sub(_unescape, body) if "\\" in body else body

    def word(self) -> Item | None:
        """Parse a literal, NaN or an infinity."""
        found = self.match(_WORD)
        if found is None:
            return None
        if found.lastindex in (4, 5):
            sign, what = (
                ("-", "inf") if found.group()[0] == "-" else ("", found.group().lstrip("+"))
            )
            return jsonb.write_number(float(sign + what))
        return (jsonb.NULL, jsonb.TRUE, jsonb.FALSE)[(found.lastindex or 1) - 1], b""

    def hexadecimal(self) -> Item | None:
        """Parse a number such as 0x1f or 0x1.8."""
        found = self.match(_HEX)
        if found is None:
            return None
        whole, fraction = int(found.group(2), 16), found.group(3)
        if whole >> _MOST_HEX_BITS or (fraction and int(fraction, 16) >> _MOST_HEX_BITS):
            raise self.refused("at most 128 bits")
        sign = -1 if found.group(1) == "-" else 1
        if fraction is None:
            return jsonb.write_number(sign * whole)
        return jsonb.write_number(
            sign * (float(whole) + float(int(fraction, 16)) / 16.0 ** len(fraction))
        )

    def number(self) -> Item:
        """Parse a decimal number; one without decimals or exponent is an integer if it fits."""
        found = self.match(_NUMBER)
        if found is None:
            raise self.refused("a value")
        sign, whole, fraction, exponent = found.groups()
        digits = (whole or "").lstrip("0") or "0"
        if whole and fraction in (None, ".") and exponent is None and len(digits) <= MAX_DIGITS:
            return jsonb.write_number(int(sign + digits))
        return jsonb.write_number(float(found.group()))

    def skip(self) -> None:
        """Pass over white space."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def eat(self, character: str) -> bool:
        """Pass over one character if it comes next. Raises JsonRefused at the end of the text."""
        if self.at >= len(self.text):
            raise self.refused(f"{character!r}")
        if self.text[self.at] != character:
            return False
        self.at += 1
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Pass over what `pattern` matches."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def refused(self, wanted: str) -> JsonRefused:
        """Return the error of a text that is not JSON."""
        return JsonRefused(f"Failed to encode JSON: at character {self.at} wanted {wanted}")


def _unescape(escape: re.Match[str]) -> str:
    """Return what an escape stands for; half a surrogate pair stands for its own spelling."""
    high, low = escape.group("high"), escape.group("low")
    if high is not None:
        high, low = high.strip("{}"), low[1:].strip("{}")
        lower = int(low, 16)
        if 0xDC00 <= lower <= 0xDFFF:
            return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + lower - 0xDC00)
        return f"\\u{high}\\u{low}"
    text: str = escape.group()
    if text[1] != "u":
        return _LETTERS.get(text[1], text[1])
    digits = text[2:].strip("{}")
    unit = int(digits, 16)
    return f"\\u{digits}" if 0xD800 <= unit <= 0xDFFF else chr(unit)


def document(text: str) -> bytes:
    """Return the JSONB document of a JSON text. Raises JsonRefused."""
    return _Parser(text).document()


def documents(array: pa.Array) -> pa.Array:
    """Return JSON texts (utf8 or large_utf8) as documents (large_binary). Raises JsonRefused."""
    found = [None if text is None else document(text) for text in array.to_pylist()]
    return pa.array(found, pa.large_binary())
