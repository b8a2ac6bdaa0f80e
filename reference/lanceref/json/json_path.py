"""JSON paths: which values below a document somebody asks for.

A path is `$`, which may be left out, and steps: `.name`, `:name`, `."name"`, `["name"]` for a
member, `.*` for all members, `[0]`, `[last]`, `[last-1]`, `[0,2]`, `[1 to 3]`, `[*]` for elements,
`.**` for the value itself and all below it. A step that does not fit its value finds nothing; only
`[*]` of something else than an array is that itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lanceref.core.errors import QueryFailed
from lanceref.core.query_limits import ITEM_BYTES, QueryTooLarge, charge

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""A value of a document."""

Step = Callable[[Json], list[Json]]
"""What a step finds below a value."""

MANY = 1 << 16
"""Values from which on a path may not find more than a few times those of the document."""

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r'[.:]\s*(?:"((?:[^"\\]|\\.)*)"|([^\s.:\[\]"?()*,]+))')
_FIRST = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s.:\[\]"?()*,$@]+)')
_KEY = re.compile(r'\[\s*"((?:[^"\\]|\\.)*)"\s*\]')
_EVERY = re.compile(r"\.\s*\*\*")
_MEMBERS = re.compile(r"\.\s*\*")
_ELEMENTS = re.compile(r"\[\s*\*\s*\]")
_END = r"(?:last(?:\s*-\s*\d+)?|-?\d+)"
_PART = rf"{_END}(?:\s+to\s+{_END})?"
_NUMBERS = re.compile(rf"\[\s*({_PART}(?:\s*,\s*{_PART})*)\s*\]")


def parse_path(text: str) -> list[Step]:
    """Return the steps of a path. Raises QueryFailed."""
    return [make(found) for make, found in _cut(text)]


def members_of(text: str) -> tuple[str, ...] | None:
    """Return the names of the members a path leads through, None when it has other steps.

    A number could be that of an element as well: it is no name here. A path that is none has none.
    """
    try:
        cut = list(_cut(text))
    except QueryFailed:
        return None
    if not cut or any(make is not _member for make, _ in cut):
        return None
    names = tuple(_name(found) for _, found in cut)
    return None if any(name.isdecimal() or "\\" in name for name in names) else names


def member_path(column: str, names: tuple[str, ...]) -> str:
    """Return what names members of the documents of a column, like no column."""
    return "\0".join((column, *names))


def _cut(text: str) -> Iterator[tuple[Callable[[re.Match[str]], Step], re.Match[str]]]:
    """Yield the steps of a path: what each does, and how it is written. Raises QueryFailed."""
    at = _skip(text, 0)
    if text.startswith("$", at):
        at = _skip(text, at + 1)
    elif first := _FIRST.match(text, at):
        yield _member, first
        at = _skip(text, first.end())
    while at < len(text):
        for pattern, make in _STEPS:
            if found := pattern.match(text, at):
                yield make, found
                at = _skip(text, found.end())
                break
        else:
            raise QueryFailed(f"Invalid JSONPath '{text}': InvalidJsonPath")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def select(document: Json, steps: list[Step]) -> list[Json]:
    """Return what a path finds in a document. Raises QueryTooLarge."""
    found, most = [document], MANY
    for step in steps:
        below: list[Json] = []
        for one in found:
            values = step(one)
            charge(ITEM_BYTES * len(values))
            below += values
            if len(below) > most:
                most = max(most, 4 * sum(1 for _ in _below(document)))
            if len(below) > most:
                raise QueryTooLarge("a JSON path finds the values of a document again and again")
        found = below
    return found


def _member(found: re.Match[str]) -> Step:
    """Return the step to a member by its name."""
    name = _name(found)

    def step(value: Json) -> list[Json]:
        return [value[name]] if isinstance(value, dict) and name in value else []

    return step


def _name(found: re.Match[str]) -> str:
    return next(one for one in found.groups() if one is not None)


def _numbers(found: re.Match[str]) -> Step:
    """Return the step to elements by their numbers."""
    parts = [re.split(r"\s+to\s+", part.strip()) for part in found.group(1).split(",")]

    def step(value: Json) -> list[Json]:
        if not isinstance(value, list):
            return []
        chosen: list[Json] = []
        for part in parts:
            start, end = _number(part[0], len(value)), _number(part[-1], len(value))
            chosen += [value[n] for n in range(max(start, 0), min(end + 1, len(value)))]
        return chosen

    return step


def _number(text: str, size: int) -> int:
    """Return the number of an element; `last` is the one at the end."""
    if not text.startswith("last"):
        return int(text)
    back = text.removeprefix("last").replace(" ", "")
    return size - 1 + (int(back) if back else 0)


def _elements(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _members(value: Json) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else []


def _every(value: Json) -> list[Json]:
    return list(_below(value))


def _below(value: Json) -> Iterator[Json]:
    yield value
    inner = value if isinstance(value, list) else _members(value)
    for one in inner:
        yield from _below(one)


_STEPS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Step]]] = [
    (_EVERY, lambda _: _every),
    (_MEMBERS, lambda _: _members),
    (_ELEMENTS, lambda _: _elements),
    (_NUMBERS, _numbers),
    (_KEY, _member),
    (_NAME, _member),
]
"""Patterns of the steps, and what each of them does."""
