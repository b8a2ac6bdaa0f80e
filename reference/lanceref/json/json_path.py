"""JSON paths: which values below a document a query asks for, and the values of many documents.

A path is `$`, which may be left out, and steps: `.name`, `:name`, `."name"`, `["name"]` for a
member, `.*` for all members, `[0]`, `[last]`, `[last-1]`, `[0,2]`, `[1 to 3]`, `[*]` for elements,
`.**` for the value itself and all below it. A step that does not fit its value finds nothing; only
`[*]` of something else than an array is that itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import cast

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import Place, QueryFailed
from lanceref.core.query_limits import ITEM_BYTES, QueryTooLarge, charge
from lanceref.json import jsonb

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""A value of a document."""

Step = Callable[[Json], list[Json]]
"""What a step finds below a value."""

MANY = 1 << 16
"""Values from which on a path may not find more than a few times those of the document."""

_NOWHERE = Place("a document of a query", 0, 0)

_SPACE = r"\s*"
_NAME = r'[.:]\s*(?:"((?:[^"\\]|\\.)*)"|([^\s.:\[\]"?()*,]+))'
_FIRST = r'"((?:[^"\\]|\\.)*)"|([^\s.:\[\]"?()*,$@]+)'
_KEY = r'\[\s*"((?:[^"\\]|\\.)*)"\s*\]'
_EVERY = r"\.\s*\*\*"
_MEMBERS = r"\.\s*\*"
_ELEMENTS = r"\[\s*\*\s*\]"
_END = r"(?:last(?:\s*-\s*\d+)?|-?\d+)"
_PART = rf"{_END}(?:\s+to\s+{_END})?"
_NUMBERS = rf"\[\s*({_PART}(?:\s*,\s*{_PART})*)\s*\]"


def document(value: object) -> Json:
    """Return the document of a text or of its binary form. Raises QueryFailed, FormatError."""
    if isinstance(value, bytes):
        binary = pa.array([value], pa.large_binary())
        (value,) = jsonb.texts(binary, Context(_NOWHERE.file), _NOWHERE).to_pylist()
    try:
        return cast("Json", json.loads(str(value)))
    except (ValueError, RecursionError) as error:
        raise QueryFailed(f"Execution error: no JSON: {error}") from error


def text_of(value: Json) -> str:
    """Print a value: compact, numbers as a json column shows them."""
    if isinstance(value, float):
        return jsonb.double_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(text_of, value))}]"
    if isinstance(value, dict):
        members = (f"{json.dumps(k, ensure_ascii=False)}:{text_of(v)}" for k, v in value.items())
        return f"{{{','.join(members)}}}"
    return json.dumps(value, ensure_ascii=False)


def parse_path(text: str) -> list[Step]:
    """Return the steps of a path. Raises QueryFailed."""
    return [make(found) for make, found in _steps(text)]


def members_of(text: str) -> tuple[str, ...] | None:
    """Return the names of the members a path leads through, None when it has other steps.

    A number could be that of an element as well: it is no name here. None too for no path.
    """
    try:
        steps = list(_steps(text))
    except QueryFailed:
        return None
    if not steps or any(make is not _member for make, _ in steps):
        return None
    names = tuple(_name(found) for _, found in steps)
    return None if any(name.isdecimal() or "\\" in name for name in names) else names


def member_path(column: str, names: tuple[str, ...]) -> str:
    """Return what names members of the documents of a column, like no column."""
    return "\0".join((column, *names))


def _steps(text: str) -> Iterator[tuple[Callable[[re.Match[str]], Step], re.Match[str]]]:
    """Yield the steps of a path: what each does, and how it is written. Raises QueryFailed."""

    def skip(at: int) -> int:
        space = jsonb.compiled(_SPACE).match(text, at)
        return at if space is None else space.end()

    at = skip(0)
    if text.startswith("$", at):
        at = skip(at + 1)
    elif first := jsonb.compiled(_FIRST).match(text, at):
        yield _member, first
        at = skip(first.end())
    while at < len(text):
        for pattern, make in _STEPS:
            if found := jsonb.compiled(pattern).match(text, at):
                yield make, found
                at = skip(found.end())
                break
        else:
            raise QueryFailed(f"Invalid JSONPath '{text}': InvalidJsonPath")


def select(document: Json, steps: list[Step]) -> list[Json]:
    """Return what a path finds in a document. Raises QueryTooLarge."""
    values, most = [document], MANY
    for step in steps:
        below: list[Json] = []
        for value in values:
            inner = step(value)
            charge(ITEM_BYTES * len(inner))
            below += inner
            if len(below) > most:
                most = max(most, 4 * sum(1 for _ in _below(document)))
            if len(below) > most:
                raise QueryTooLarge("a JSON path finds the values of a document again and again")
        values = below
    return values


def _member(found: re.Match[str]) -> Step:
    name = _name(found)
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _name(found: re.Match[str]) -> str:
    return next(one for one in found.groups() if one is not None)


def _numbers(found: re.Match[str]) -> Step:
    """Return the step to elements by their numbers; `last` is the one at the end."""
    parts = [re.split(r"\s+to\s+", part.strip()) for part in found.group(1).split(",")]

    def number(text: str, size: int) -> int:
        if not text.startswith("last"):
            return int(text)
        return size - 1 + int(text.removeprefix("last").replace(" ", "") or 0)

    def step(value: Json) -> list[Json]:
        if not isinstance(value, list):
            return []
        chosen: list[Json] = []
        for part in parts:
            start, end = number(part[0], len(value)), number(part[-1], len(value))
            chosen += value[max(start, 0) : max(end + 1, 0)]
        return chosen

    return step


def _members(value: Json) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else []


def _below(value: Json) -> Iterator[Json]:
    yield value
    for one in value if isinstance(value, list) else _members(value):
        yield from _below(one)


_STEPS: list[tuple[str, Callable[[re.Match[str]], Step]]] = [
    (_EVERY, lambda _: lambda value: list(_below(value))),
    (_MEMBERS, lambda _: _members),
    (_ELEMENTS, lambda _: lambda value: value if isinstance(value, list) else [value]),
    (_NUMBERS, _numbers),
    (_KEY, _member),
    (_NAME, _member),
]
"""Patterns of the steps, and what each of them does."""
