"""JSON columns: the single values that names lead to, in many JSONB documents at once.

Objects with the same number of members are read together. This reads what it follows: where bytes
are not as `jsonb` writes them, or the values have no common type, it gives up, and who wants to
know more reads the documents one by one.

Clauses: L.json.entries, L.json.payload, L.json.trailing, L.json.number
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.integers import unique
from lanceref.json.jsonb import (
    ARRAY,
    CONTAINER,
    COUNT,
    FALSE,
    KINDS,
    NULL,
    NUMBER,
    OBJECT,
    SCALAR,
    SIZE,
    STRING,
    TRUE,
)

ROWS = 8192
"""Documents that are read together."""

ZERO, NAN, INFINITIES, SIGNED, UNSIGNED, DOUBLE = 0x00, 0x10, (0x20, 0x30), 0x40, 0x50, 0x60
"""Tags of numbers."""

Places = NDArray[np.int64]


class _Uncommon(Exception):
    """The documents have to be read one by one."""


@dataclass(frozen=True, slots=True)
class _Values:
    """Values of some of the documents: number of the row, type, and where the payload lies."""

    data: NDArray[np.uint8]
    rows: Places
    types: Places
    starts: Places
    ends: Places

    def part(self, chosen: Places | NDArray[np.bool_]) -> _Values:
        """Return some of the values."""
        columns = (self.rows, self.types, self.starts, self.ends)
        return _Values(self.data, *(one[chosen] for one in columns))

    @property
    def sizes(self) -> Places:
        """Bytes of each payload."""
        return self.ends - self.starts


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
    held = _Values(
        np.frombuffer(data or b"", np.uint8),
        rows,
        np.full(len(rows), CONTAINER),
        ends[rows],
        ends[rows + 1],
    )
    for name in names:
        held = _members(held.part(held.types == CONTAINER), name.encode())
    return _as_column(held.part(held.types != NULL), len(documents))


def _words(data: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the big-endian word that begins at each byte."""
    return np.ndarray((max(len(data) - 3, 0),), ">u4", data, 0, (1,))


def _members(held: _Values, name: bytes) -> _Values:
    """Return the member of a name of each container that has one."""
    if (held.sizes < 4).any():
        raise _Uncommon
    headers = _words(held.data)[held.starts]
    kinds, counts = headers & KINDS, headers & COUNT
    if not np.isin(kinds, (ARRAY, OBJECT, SCALAR)).all():
        raise _Uncommon
    found = [
        _members_of(held.part((kinds == OBJECT) & (counts == count)), int(count), name)
        for count in unique(counts[kinds == OBJECT])
    ]
    found.append(held.part(np.empty(0, np.int64)))
    columns = [[one.rows, one.types, one.starts, one.ends] for one in found]
    return _Values(held.data, *map(np.concatenate, zip(*columns, strict=True)))


def _members_of(held: _Values, count: int, name: bytes) -> _Values:
    """Return the members of a name of objects of `count` members each."""
    first = held.starts + 4 + 8 * count
    if (first > held.ends).any():  # L.json.entries
        raise _Uncommon
    words = _words(held.data)[held.starts[:, None] + 4 + 4 * np.arange(2 * count)]
    sizes = (words & SIZE).astype(np.int64)
    ends = first[:, None] + np.cumsum(sizes, axis=1)
    last = ends[:, -1] if count else first
    if (last != held.ends).any() or (words[:, :count] >> 28 != STRING).any():
        raise _Uncommon  # L.json.payload, L.json.trailing
    chosen = np.full(len(held.rows), -1)
    for number in range(count):
        same = np.flatnonzero(sizes[:, number] == len(name))
        starts = (ends[:, number] - len(name))[same]
        equal = held.data[starts[:, None] + np.arange(len(name))] == np.frombuffer(name, np.uint8)
        chosen[same[equal.all(axis=1)]] = number
    there = np.flatnonzero(chosen >= 0)
    at = there, count + chosen[there]
    types = (words[at] >> 28).astype(np.int64)
    return _Values(held.data, held.rows[there], types, ends[at] - sizes[at], ends[at])


def _as_column(held: _Values, rows: int) -> pa.Array:
    """Return values that are not null as a column of so many rows."""
    if not len(held.rows):
        return pa.nulls(rows)
    if np.isin(held.types, (FALSE, TRUE)).all():
        if held.sizes.any():
            raise _Uncommon
        return _spread(held.types == TRUE, held.rows, rows)
    if (held.types == STRING).all():
        return _strings(held, rows)
    if (held.types != NUMBER).any() or not held.sizes.all():
        raise _Uncommon
    return _numbers(held, rows)


def _spread(values: NDArray[np.generic], at: Places, rows: int) -> pa.Array:
    """Return a column of so many rows with values at some places, null elsewhere."""
    column, missing = np.zeros(rows, values.dtype), np.ones(rows, np.bool_)
    column[at], missing[at] = values, False
    return pa.array(column, mask=missing)


def _strings(held: _Values, rows: int) -> pa.Array:
    sizes = np.zeros(rows, np.int64)
    sizes[held.rows] = held.sizes
    ends = np.concatenate([[0], np.cumsum(sizes)])
    order = np.argsort(held.rows, kind="stable")
    starts, own = held.starts[order], held.sizes[order]
    places = np.arange(ends[-1]) + np.repeat(starts - (np.cumsum(own) - own), own)
    valid = np.zeros(rows, np.bool_)
    valid[held.rows] = True
    buffers = [
        pa.py_buffer(np.packbits(valid, bitorder="little")),
        pa.py_buffer(ends),
        pa.py_buffer(held.data[places]),
    ]
    try:
        return pa.Array.from_buffers(pa.large_binary(), rows, buffers).cast(pa.utf8())
    except pa.ArrowInvalid as error:
        raise _Uncommon from error


def _numbers(held: _Values, rows: int) -> pa.Array:
    """Return a column of numbers that are all whole, or none of them."""
    tags, sizes = held.data[held.starts], held.sizes - 1
    unknown = np.isin(tags, (NAN, *INFINITIES)) & (sizes == 0)
    is_double = (tags == DOUBLE) & (sizes == 8)
    if (is_double | unknown).all():
        doubles = held.part(is_double)
        if not len(doubles.rows):
            return pa.nulls(rows)
        return _spread(_payloads(doubles, ">f8"), doubles.rows, rows)
    values = np.zeros(len(tags), np.int64)
    is_read = (tags == ZERO) & (sizes == 0)
    for tag, letter in ((SIGNED, "i"), (UNSIGNED, "u")):
        for width in (1, 2, 4, 8):
            own = (tags == tag) & (sizes == width)
            values[own] = _payloads(held.part(own), f">{letter}{width}").astype(np.int64)
            is_read |= own
    too_great = (tags == UNSIGNED) & (values < 0)
    if not (is_read | unknown).all() or too_great.any():
        raise _Uncommon
    return _spread(values[is_read], held.rows[is_read], rows)


def _payloads(held: _Values, type_: str) -> NDArray[np.generic]:
    """Return numbers of a type, each behind its tag."""
    size = max(0, len(held.data) - np.dtype(type_).itemsize + 1)
    numbers: NDArray[np.generic] = np.ndarray((size,), type_, held.data, 0, (1,))
    return numbers[held.starts + 1].astype(np.dtype(type_).newbyteorder("="))
