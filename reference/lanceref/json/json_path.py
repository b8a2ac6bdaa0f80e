"""JSON paths: which values below a document a query asks for, and the values of many documents.

A path is `$`, which may be left out, and steps: `.name`, `:name`, `."name"`, `["name"]` for a
member, `.*` for all members, `[0]`, `[last]`, `[last-1]`, `[0,2]`, `[1 to 3]`, `[*]` for elements,
`.**` for the value itself and all below it. A step that does not fit its value finds nothing; only
`[*]` of something else than an array is that itself.

The members that names lead to are read of many JSONB documents at once: objects with the same
number of members together. Where bytes are not as `jsonb` writes them, or the values have no common
type, the documents have to be read one by one.

Clauses: L.json.entries, L.json.payload, L.json.trailing, L.json.number
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import Place, QueryFailed
from lanceref.core.integers import unique
from lanceref.core.query_limits import ITEM_BYTES, QueryTooLarge, charge
from lanceref.json import jsonb

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""A value of a document."""

Step = Callable[[Json], list[Json]]
"""What a step finds below a value."""

MANY = 1 << 16
"""Values from which on a path may not find more than a few times those of the document."""

ROWS = 8192
"""Documents that are read together."""

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
    """Return the step to a member by its name."""
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


class _Uncommon(Exception):
    """The documents have to be read one by one."""


@dataclass(frozen=True, slots=True)
class _Values:
    """Values of some of the documents, in `data`.

    `cells` int64 (4, values): number of the row, type, and where the payload starts and ends.
    """

    data: NDArray[np.uint8]
    cells: NDArray[np.int64]

    def part(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> _Values:
        """Return some of the values."""
        return _Values(self.data, self.cells[:, chosen])


def column_at(documents: pa.Array, names: Sequence[str]) -> pa.Array | None:
    """Return what names lead to in each document (large_binary), null where there is nothing.

    It is int64, double, bool, utf8, or null where nothing is found anywhere; None where the values
    are of several types or no single ones, or a document is not read at once.
    """
    try:
        parts = [
            _column(documents.slice(first, ROWS), names) for first in range(0, len(documents), ROWS)
        ]
    except _Uncommon:
        return None
    types = {part.type for part in parts} - {pa.null()} or {pa.null()}
    if len(types) > 1:
        return None
    (type_,) = types
    return pa.concat_arrays([pa.array([], type_), *(part.cast(type_) for part in parts)])


def _column(documents: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return the values of some documents."""
    _, offsets, data = documents.buffers()
    ends = np.frombuffer(offsets, "<i8", len(documents) + 1, 8 * documents.offset)
    rows = np.flatnonzero(documents.is_valid().to_numpy(zero_copy_only=False) & (np.diff(ends) > 0))
    cells = np.stack([rows, np.full(len(rows), jsonb.CONTAINER), ends[rows], ends[rows + 1]])
    values = _Values(np.frombuffer(data or b"", np.uint8), cells)
    for name in names:
        values = _members_named(values.part(values.cells[1] == jsonb.CONTAINER), name.encode())
    return _as_column(values.part(values.cells[1] != jsonb.NULL), len(documents))


def _words(data: NDArray[np.uint8], type_: str) -> NDArray[np.generic]:
    """Return the number of a type that begins at each byte: a view."""
    size = max(0, len(data) - np.dtype(type_).itemsize + 1)
    return np.ndarray((size,), type_, data, 0, (1,))


def _members_named(values: _Values, name: bytes) -> _Values:
    """Return the member of a name of each container that has one."""
    _, _, starts, ends = values.cells
    if (ends - starts < 4).any():
        raise _Uncommon
    headers = _words(values.data, ">u4")[starts]
    kinds, counts = headers & jsonb.KINDS, headers & jsonb.COUNT
    if not np.isin(kinds, (jsonb.ARRAY, jsonb.OBJECT, jsonb.SCALAR)).all():
        raise _Uncommon
    is_object, members = kinds == jsonb.OBJECT, [values.cells[:, :0]]
    for count in unique(counts[is_object]).tolist():
        members.append(_members_of(values.part(is_object & (counts == count)), count, name))
    return _Values(values.data, np.concatenate(members, axis=1))


def _members_of(objects: _Values, count: int, name: bytes) -> NDArray[np.int64]:
    """Return the cells of the members of a name of objects of `count` members each."""
    rows, _, starts, stops = objects.cells
    first = starts + 4 + 8 * count
    if (first > stops).any():  # L.json.entries
        raise _Uncommon
    words = _words(objects.data, ">u4")[starts[:, None] + 4 + 4 * np.arange(2 * count)]
    sizes = (words & jsonb.SIZE).astype(np.int64)
    ends = first[:, None] + np.cumsum(sizes, axis=1)
    last = ends[:, -1] if count else first
    if (last != stops).any() or (words[:, :count] >> 28 != jsonb.STRING).any():
        raise _Uncommon  # L.json.payload, L.json.trailing
    chosen = np.full(len(rows), -1)
    for number in range(count):
        same = np.flatnonzero(sizes[:, number] == len(name))
        at = (ends[:, number] - len(name))[same][:, None] + np.arange(len(name))
        equal = objects.data[at] == np.frombuffer(name, np.uint8)
        chosen[same[equal.all(axis=1)]] = number
    there = np.flatnonzero(chosen >= 0)
    member = there, count + chosen[there]
    types = (words[member] >> 28).astype(np.int64)
    return np.stack([rows[there], types, ends[member] - sizes[member], ends[member]])


def _as_column(values: _Values, num_rows: int) -> pa.Array:
    """Return values that are not null as a column of so many rows."""
    rows, types, starts, ends = values.cells
    if not len(rows):
        return pa.nulls(num_rows)
    if np.isin(types, (jsonb.FALSE, jsonb.TRUE)).all():
        if (starts != ends).any():
            raise _Uncommon
        return _spread(types == jsonb.TRUE, rows, num_rows)
    if (types == jsonb.STRING).all():
        return _strings(values, num_rows)
    if (types != jsonb.NUMBER).any() or not (starts < ends).all():
        raise _Uncommon
    return _as_numbers(values, num_rows)


def _spread(values: NDArray[np.generic], at: NDArray[np.int64], num_rows: int) -> pa.Array:
    """Return a column of so many rows with values at some places, null elsewhere."""
    column, missing = np.zeros(num_rows, values.dtype), np.ones(num_rows, np.bool_)
    column[at], missing[at] = values, False
    return pa.array(column, mask=missing)


def _strings(values: _Values, num_rows: int) -> pa.Array:
    rows, _, starts, stops = values.cells[:, np.argsort(values.cells[0], kind="stable")]
    own, valid = stops - starts, np.zeros(num_rows, np.bool_)
    sizes, valid[rows] = np.zeros(num_rows, np.int64), True
    sizes[rows] = own
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(ends[-1]) + np.repeat(starts - (np.cumsum(own) - own), own)
    parts = np.packbits(valid, bitorder="little"), ends, values.data[places]
    buffers = list(map(pa.py_buffer, parts))
    try:
        return pa.Array.from_buffers(pa.large_binary(), num_rows, buffers).cast(pa.utf8())
    except pa.ArrowInvalid as error:
        raise _Uncommon from error


def _as_numbers(values: _Values, num_rows: int) -> pa.Array:
    """Return a column of numbers that are all whole, or none of them."""
    rows, _, starts, ends = values.cells
    tags, sizes = values.data[starts], ends - starts - 1

    def read(chosen: NDArray[np.bool_], type_: str) -> NDArray[np.generic]:
        """Return the numbers of a type after their tags."""
        numbers = _words(values.data, type_)[starts[chosen] + 1]
        native: NDArray[np.generic] = numbers.astype(np.dtype(type_).newbyteorder("="))
        return native

    nothing = (jsonb.NAN, jsonb.INFINITY, jsonb.MINUS_INFINITY)
    unknown = np.isin(tags, nothing) & (sizes == 0)
    is_double = (tags == jsonb.DOUBLE) & (sizes == 8)
    if (is_double | unknown).all():
        some = is_double.any()
        return (
            _spread(read(is_double, ">f8"), rows[is_double], num_rows)
            if some
            else pa.nulls(num_rows)
        )
    integers, is_read = np.zeros(len(tags), np.int64), (tags == jsonb.ZERO) & (sizes == 0)
    for tag, letter in ((jsonb.SIGNED, "i"), (jsonb.UNSIGNED, "u")):
        for width in (1, 2, 4, 8):
            own = (tags == tag) & (sizes == width)
            integers[own] = read(own, f">{letter}{width}").astype(np.int64)
            is_read |= own
    too_great = (tags == jsonb.UNSIGNED) & (integers < 0)
    if not (is_read | unknown).all() or too_great.any():
        raise _Uncommon
    return _spread(integers[is_read], rows[is_read], num_rows)
