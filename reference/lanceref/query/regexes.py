"""Functions of regular expressions that replace, count and locate matches.

RE2 does the matching: its time is linear in the text, whatever the pattern is. Classes of letters
are made those of Unicode, which RE2 would not do, but `\\b` knows the letters of ASCII only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.query.budget import GROWN_BYTES, charge
from lanceref.query.casts import Datum

FLAGS = "imsU"
"""Flags that RE2 knows; `x` is applied here, `g` asks for every match."""

MARKS = range(0xE000, 0xF900)
"""Characters for private use, one of which marks where a match begins."""

_PIECES = re.compile(
    r"\\.|\[\^?\]?(?:\\.?|\[:\^?\w+:\]|[^\]\\])*(?:\]|$)|\(\?P?<(\w+)>|\((?!\?)", re.S
)
"""Pieces of a pattern: an escape, a class of letters, the beginning of a group."""

_LAYOUT = re.compile(r"(\\.|\[\^?\]?(?:\\.?|[^\]\\])*(?:\]|$))|\s+|#[^\n]*", re.S)
"""Blanks and comments of a pattern with the flag `x`; group 1 is what stays."""

_CLASSES = {
    "w": r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}",
    "d": r"\p{Nd}",
    "s": r"\s\v\x{85}\p{Z}",
}
"""Classes of letters by the escape that stands for them."""

_GROUP = re.compile(r"\\+(\d*)|\$\$|\$\{(\w+)\}|\$(\w+)")
"""Pieces of a replacement: a group by number or name, a dollar, backslashes."""


def _unicode(pattern: str) -> str:
    """Return a pattern whose classes of letters are those of Unicode."""

    def inside(found: re.Match[str]) -> str:
        return _CLASSES.get(found[0][1:], found[0])

    def piece(found: re.Match[str]) -> str:
        text = found[0]
        if text.startswith("["):
            return re.sub(r"\\.", inside, text, flags=re.S)
        kind = text[1:].lower()
        if text.startswith("\\") and kind in _CLASSES:
            return f"[{'^' if text[1:].isupper() else ''}{_CLASSES[kind]}]"
        return text

    return _PIECES.sub(piece, pattern)


def _compiled(pattern: str, flags: str) -> str:
    """Return a pattern as RE2 reads it. Raises ValueError for flags that are none."""
    unknown = set(flags) - {*FLAGS, "g", "x"}
    if unknown:
        raise ValueError(f"regex parse error: unrecognized flag {min(unknown)}")
    if "x" in flags:
        pattern = _LAYOUT.sub(lambda found: found[1] or "", pattern)
    own = "".join(dict.fromkeys(flag for flag in flags if flag in FLAGS))
    return f"(?{own}){_unicode(pattern)}" if own else _unicode(pattern)


def _rewrite(new: str, pattern: str) -> tuple[str, int]:
    """Return a replacement as RE2 reads it, and how many groups it names."""
    groups = [found[1] for found in _PIECES.finditer(pattern) if found[0].startswith("(")]
    named = 0

    def piece(found: re.Match[str]) -> str:
        nonlocal named
        name = next((one for one in found.groups() if one), None)
        if name is None:
            return "$" if found[0] == "$$" else 2 * found[0]
        number = groups.index(name) + 1 if name in groups else None
        if name.isdecimal():
            number = int(name[:9]) if int(name[:9]) <= len(groups) else None
        named += 1
        return "" if number is None else f"\\{number}"

    return _GROUP.sub(piece, new), named


def _replaced(texts: pa.Array, pattern: str, new: str, flags: str = "") -> pa.Array:
    """Replace the first part that matches, or with the flag `g` all."""
    wanted = _compiled(pattern, flags)
    rewritten, named = _rewrite(new, pattern)
    size, rows, most = len(new.encode()), len(texts), None if "g" in flags else 1
    matches = rows if most else texts.nbytes + rows
    if matches * size > GROWN_BYTES // 16:
        matches = pc.sum(_counted(texts, pattern, 1, flags)).as_py() or 0
    charge(matches * size + texts.nbytes * max(0, named - 1))
    return pc.replace_substring_regex(texts, wanted, rewritten, max_replacements=most)


def _marked(texts: pa.Array, pattern: str, start: int, flags: str, mark: str) -> pa.Array:
    """Return texts from a letter on, with a mark before each match. Raises ValueError."""
    if start < 1:
        raise ValueError(f"a start is counted from 1, not {start}")
    charge(len(mark.encode()) * (texts.nbytes + len(texts)))
    return pc.replace_substring_regex(_from(texts, start), _compiled(pattern, flags), f"{mark}\\0")


def _from(texts: pa.Array, start: int) -> pa.Array:
    return texts if start == 1 else pc.utf8_slice_codeunits(texts, min(start - 1, 2**31 - 1))


def _counted(texts: pa.Array, pattern: str, start: int = 1, flags: str = "") -> pa.Array:
    """Return how often a pattern is found from a letter on."""
    mark = chr(MARKS[0])
    found = pc.count_substring(_marked(texts, pattern, start, flags, mark), mark)
    return pc.subtract(found, pc.count_substring(_from(texts, start), mark))


def _located(texts: pa.Array, pattern: str, start: int = 1, number: int = 1) -> pa.Array:
    """Return where a pattern is found for the `number`-th time, from 1 on; 0 where it is not."""
    if number < 1:
        raise ValueError(f"a match is counted from 1, not {number}")
    letters = set[str]().union(*(one for one in texts.to_pylist() if one is not None))
    mark = next((chr(one) for one in MARKS if chr(one) not in letters), None)
    if mark is None:
        raise ValueError("texts with every character for private use")
    marked = _marked(texts, pattern, start, "", mark).to_pylist()
    return pa.array(
        [None if one is None else _place(one, mark, start, number) for one in marked], pa.int64()
    )


def _place(text: str, mark: str, start: int, number: int) -> int:
    parts = text.split(mark, min(number, len(text)))
    return sum(map(len, parts[:-1])) + start if len(parts) > number else 0


def _by_pattern(function: Callable[..., pa.Array], type_: pa.DataType) -> Callable[..., Datum]:
    """Return a function of texts and constants as one of any arguments, null for null."""

    def run(*arguments: Datum) -> Datum:
        text, *others = arguments
        rows = min((len(one) for one in arguments if not isinstance(one, pa.Scalar)), default=None)
        texts = pa.repeat(text, rows or 1) if isinstance(text, pa.Scalar) else text
        texts = texts.cast(pa.large_utf8())
        if all(isinstance(one, pa.Scalar) for one in others):
            found = _of_constants(function, texts, [one.as_py() for one in others], type_)
        else:
            columns = [
                pa.repeat(one, rows) if isinstance(one, pa.Scalar) else one for one in others
            ]
            parts = [
                _of_constants(function, texts.slice(at, 1), list(row), type_)
                for at, row in enumerate(zip(*(one.to_pylist() for one in columns), strict=True))
            ]
            found = pa.concat_arrays(parts) if parts else pa.array([], type_)
        return found[0] if rows is None else found

    return run


def _of_constants(
    function: Callable[..., pa.Array], texts: pa.Array, given: list[object], type_: pa.DataType
) -> pa.Array:
    return pa.nulls(len(texts), type_) if None in given else function(texts, *given).cast(type_)


_REPLACED = _by_pattern(_replaced, pa.utf8())
_COUNTED = _by_pattern(_counted, pa.int64())


def regexp_count(*arguments: Datum) -> Datum:
    """Return how often a pattern is found; in null never."""
    return pc.fill_null(_COUNTED(*arguments), 0)


REGEX_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "regexp_count": regexp_count,
    "regexp_instr": _by_pattern(_located, pa.int64()),
    "regexp_replace": _REPLACED,
}
"""Functions by name."""
