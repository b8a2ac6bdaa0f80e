"""Functions of text, row by row.

Each is null where one of its arguments is null, but for those that join; text has to be text, a
number an integer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import pyarrow as pa

from lanceref.core.errors import QueryRefused
from lanceref.query.budget import charge
from lanceref.query.casts import Datum
from lanceref.query.coercion import is_bytes, is_text

Value = str | bytes | int | None

LETTERS = re.compile(r"[^\W_]+")
"""A word, as far as its first letter is written large."""


def by_row(
    function: Callable[..., Value],
    type_: pa.DataType,
    kinds: str,
    *,
    nulls: bool = False,
    size: Callable[..., int] | None = None,
) -> Callable[..., Datum]:
    """Return a function over arrays and scalars for one over values.

    `kinds` are those of its arguments: `t` text, `b` text or bytes, `n` integer; the last one is
    that of all that follow. With `nulls` it is called for nulls too. `size` gives the bytes of a
    value where they can be many more than those of the arguments.
    """

    def run(*arguments: Datum) -> Datum:
        for number, one in enumerate(arguments):
            _check(one.type, kinds[min(number, len(kinds) - 1)])
        rows = {len(one) for one in arguments if not isinstance(one, pa.Scalar)}
        count = min(rows, default=1)
        columns = [
            [one.as_py()] * count if isinstance(one, pa.Scalar) else one.to_pylist()
            for one in arguments
        ]
        called = [nulls or None not in values for values in zip(*columns, strict=True)]
        if size is not None:
            rows_of = zip(called, zip(*columns, strict=True), strict=True)
            charge(sum(size(*values) for calls, values in rows_of if calls))
        try:
            found = [
                function(*values) if calls else None
                for calls, values in zip(called, zip(*columns, strict=True), strict=True)
            ]
        except (ValueError, OverflowError) as error:
            raise pa.ArrowInvalid(f"{error}") from error
        array = pa.array(found, type_)
        return array if rows else array[0]

    return run


def _check(type_: pa.DataType, kind: str) -> None:
    fits = {
        "t": is_text(type_),
        "b": is_text(type_) or is_bytes(type_),
        "n": pa.types.is_integer(type_),
    }
    if not (fits[kind] or pa.types.is_null(type_)):
        wanted = {"t": "String", "b": "String or Binary", "n": "Int64"}[kind]
        raise QueryRefused(f"the function requires {wanted}, but received {type_}")


def _left(text: str, count: int) -> str:
    return text[:count]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else text[-count:] if count < 0 else ""


def _padding(width: int, text: str, fill: str) -> str:
    missing = width - len(text)
    return (fill * missing)[:missing] if missing > 0 and fill else ""


def _lpad(text: str, width: int, fill: str = " ") -> str:
    """Return text of a width, filled on the left or cut on the right."""
    return (_padding(width, text, fill) + text)[: max(0, width)]


def _padded_size(text: str, width: int, fill: str = " ") -> int:
    return len(fill.encode()) * (width - len(text)) if fill and width > len(text) else 0


def _rpad(text: str, width: int, fill: str = " ") -> str:
    return (text + _padding(width, text, fill))[: max(0, width)]


def _substring(text: str, start: int, count: int | None = None) -> str:
    """Return a part that begins at a letter, counted from 1; what lies before it counts too."""
    if count is not None and count < 0:
        raise ValueError(f"negative substring length not allowed: substr(<str>, {start}, {count})")
    end = None if count is None else max(0, start - 1 + count)
    return text[max(0, start - 1) : end]


def _split_part(text: str, separator: str, number: int) -> str:
    """Return one of the parts, counted from 1 or from the end; empty where there is none."""
    if number == 0:
        raise ValueError("field position must not be zero")
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


def _translate(text: str, old: str, new: str) -> str:
    first = {letter: number for number, letter in reversed(list(enumerate(old)))}
    return "".join(
        letter if letter not in first else new[first[letter] : first[letter] + 1] for letter in text
    )


def _initcap(text: str) -> str:
    return LETTERS.sub(lambda word: word[0][0].upper() + word[0][1:].lower(), text)


def _joined(separator: str | None, *parts: str | None) -> str | None:
    return None if separator is None else separator.join(one for one in parts if one is not None)


def _substring_index(text: str, separator: str, count: int) -> str:
    """Return what lies before some separators or, below 0, behind the last of them."""
    parts = text.split(separator) if separator else [text]
    return separator.join(parts[:count] if count > 0 else parts[count:] if count else [])


def _joined_size(separator: str | None, *parts: str | None) -> int:
    return len((separator or "").encode()) * len(parts) + sum(len(one or "") for one in parts)


def _find_in_set(text: str, texts: str) -> int:
    parts = texts.split(",") if texts else []
    return parts.index(text) + 1 if text in parts else 0


def _hexadecimal(value: int) -> str:
    return f"{value & ((1 << 64) - 1):x}"


def _letter(number: int) -> str:
    if number <= 0 or number > 0x10FFFF:
        raise ValueError(f"invalid Unicode scalar value: {number}")
    return chr(number)


def _levenshtein(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for place, wanted in enumerate(other, 1):
            changed = before + (letter != wanted)
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, changed)
    return row[-1]


def _md5(value: str | bytes) -> str:
    held = value.encode() if isinstance(value, str) else value
    return hashlib.md5(held, usedforsecurity=False).hexdigest()


def _stripped(strip: Callable[[str, str], str]) -> Callable[..., str]:
    """Return a function that takes letters from the ends, blanks unless told."""
    return lambda text, letters=" ": strip(text, letters)


JOINED = by_row(_joined, pa.utf8(), "t", nulls=True, size=_joined_size)
"""Joins text, the first between the others."""

_TRIM = by_row(_stripped(str.strip), pa.utf8(), "t")

TEXT_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "bit_length": by_row(lambda text: 8 * len(text.encode()), pa.int32(), "t"),
    "btrim": _TRIM,
    "chr": by_row(_letter, pa.utf8(), "n"),
    "concat_ws": JOINED,
    "find_in_set": by_row(_find_in_set, pa.int32(), "t"),
    "initcap": by_row(_initcap, pa.utf8(), "t"),
    "instr": by_row(lambda text, part: text.find(part) + 1, pa.int32(), "t"),
    "left": by_row(_left, pa.utf8(), "tn"),
    "levenshtein": by_row(_levenshtein, pa.int32(), "t"),
    "lpad": by_row(_lpad, pa.utf8(), "tnt", size=_padded_size),
    "ltrim": by_row(_stripped(str.lstrip), pa.utf8(), "t"),
    "md5": by_row(_md5, pa.utf8(), "b"),
    "position": by_row(lambda text, part: text.find(part) + 1, pa.int32(), "t"),
    "repeat": by_row(
        lambda text, count: text * max(0, count),
        pa.utf8(),
        "tn",
        size=lambda text, count: len(text.encode()) * max(0, count),
    ),
    "replace": by_row(
        lambda text, old, new: text.replace(old, new),
        pa.utf8(),
        "t",
        size=lambda text, old, new: text.count(old) * len(new.encode()),
    ),
    "right": by_row(_right, pa.utf8(), "tn"),
    "rpad": by_row(_rpad, pa.utf8(), "tnt", size=_padded_size),
    "rtrim": by_row(_stripped(str.rstrip), pa.utf8(), "t"),
    "split_part": by_row(_split_part, pa.utf8(), "ttn"),
    "strpos": by_row(lambda text, part: text.find(part) + 1, pa.int32(), "t"),
    "substr_index": by_row(_substring_index, pa.utf8(), "ttn"),
    "substr": by_row(_substring, pa.utf8(), "tn"),
    "substring_index": by_row(_substring_index, pa.utf8(), "ttn"),
    "substring": by_row(_substring, pa.utf8(), "tn"),
    "to_hex": by_row(_hexadecimal, pa.utf8(), "n"),
    "translate": by_row(_translate, pa.utf8(), "t"),
    "trim": _TRIM,
    "upper": by_row(str.upper, pa.utf8(), "t"),
}
"""Functions by name."""
