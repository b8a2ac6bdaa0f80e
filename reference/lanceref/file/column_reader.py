"""Column reader: the interface by which a field of any file version is read.

Every version's field tree (array encodings of 2.0, page layouts of 2.1 and later) offers the same
three ways to its rows. Columns yield arrays cut where their own pages and chunks end; here they are
cut anew to batches of a given number of rows, and only a batch that straddles a cut is copied. The
descriptors of a blob column become values: their payloads, which lie outside the pages, are read
about a run at a time, neighbours together.

Layout of a descriptor: u64 position (absolute), u64 size.

Clauses: L.array.blob.payload, L.page.blob.payload
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import LimitExceeded, OutOfRange, Place
from lanceref.core.integers import unique
from lanceref.core.nesting import nests_fixed_size_lists, whole

RUN_BYTES = 4 * 2**20
"""Decoded bytes that a scan aims to yield at a time: they fit the cache, and the calls that a run
costs, however short, are few to the megabyte."""


class ColumnReader(Protocol):
    """The rows of one field."""

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the arrays."""

    @property
    def num_rows(self) -> int:
        """Rows of the column."""

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield consecutive arrays that cover rows `start`..`end`, each about RUN_BYTES."""

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows (ascending, may repeat), reading only what they need."""

    def check(self) -> None:
        """Decode everything and run every cross-check, so that findings and spans are complete."""


def batches(
    readers: Sequence[ColumnReader], start: int, end: int, batch_size: int
) -> Iterator[list[pa.Array]]:
    """Yield for every batch of rows in start..end one array per reader."""
    recutters = [Recutter(reader.scan(start, end)) for reader in readers]
    for first in range(start, end, batch_size):
        rows = min(batch_size, end - first)
        yield [recutter.next(rows) for recutter in recutters]


def stretches(
    readers: Sequence[ColumnReader], start: int, end: int, batch_size: int
) -> Iterator[list[pa.Array]]:
    """Yield one array per reader for as many whole batches as all of them hold without a copy.

    Cutting them into batches is left to the caller: done on a record batch, it costs the same for
    any number of columns.
    """
    if any(nests_fixed_size_lists(reader.type) for reader in readers):
        yield from batches(readers, start, end, batch_size)
        return
    recutters = [Recutter(reader.scan(start, end)) for reader in readers]
    while start < end:
        ahead = min((recutter.ahead() for recutter in recutters), default=batch_size)
        rows = min(max(1, ahead // batch_size) * batch_size, end - start)
        yield [recutter.next(rows) for recutter in recutters]
        start += rows


MOST_BYTES = 2**31 - 1
"""Bytes of an array that is put together of others: its offsets may have 32 bits."""


class Recutter:
    """The not yet delivered rest of one column's scan: from row `_at` of the first array held."""

    def __init__(self, arrays: Iterator[pa.Array]) -> None:
        self._arrays = arrays
        self._held: deque[pa.Array] = deque()
        self._at = 0
        self._must_be_whole = False

    def ahead(self) -> int:
        """Return how many of the next rows lie in one array."""
        self._hold(1)
        return len(self._held[0]) - self._at

    def fitting(self, rows: int) -> int:
        """Return how many of the next `rows` rows, which the scan must still hold, one array holds.

        All of them, unless arrays that are put together would have too many bytes.
        """
        self._hold(rows)
        taken = size = 0
        if len(self._held[0]) - self._at >= rows:
            return rows
        start = self._at
        for part in self._held:
            size += part.slice(start, rows - taken).nbytes
            if size > MOST_BYTES and taken:
                return taken
            taken += len(part) - start
            start = 0
        return rows

    def _hold(self, rows: int) -> None:
        """Read arrays until `rows` rows are there."""
        if self._held and len(self._held[0]) - self._at >= rows:
            return
        known = sum(map(len, self._held)) - self._at
        while known < rows:
            array = next(self._arrays, None)
            if array is None:
                clause, found = "L.file.descriptor.length", f"ends {rows - known} rows early"
                raise OutOfRange(clause, Place("batch", 0), found, "as many rows")
            known += len(array)
            if len(array):
                self._held.append(array)

    def next(self, rows: int) -> pa.Array:
        """Return the next `rows` rows, which the scan must still hold."""
        self._hold(rows)
        first = self._cut(rows)
        if len(first) == rows:
            return whole(first) if self._must_be_whole else first
        parts, missing = [first], rows - len(first)
        while missing:
            parts.append(self._cut(missing))
            missing -= len(parts[-1])
        try:
            return pa.concat_arrays(parts)
        except pa.ArrowInvalid as error:
            clause = "L.page.limits.row"
            raise LimitExceeded(clause, Place("batch", 0), str(error), "smaller batches") from error

    def _cut(self, rows: int) -> pa.Array:
        """Return the next rows of one array, `rows` at most."""
        first, at = self._held[0], self._at
        part = first.slice(at, rows)
        if at == 0:
            self._must_be_whole = nests_fixed_size_lists(first.type)
        self._at += len(part)
        if self._at == len(first):
            self._held.popleft()
            self._at = 0
        return part


DESCRIPTOR = pa.struct([("position", pa.uint64()), ("size", pa.uint64())])
"""What the pages of a blob column hold, and what a table shows of it."""


def words(descriptors: pa.Array) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return positions and sizes, each (n,)."""
    return np.asarray(descriptors.field(0)), np.asarray(descriptors.field(1))


def extents(descriptors: pa.Array) -> list[Extent]:
    """Return where the payloads that have bytes lie."""
    positions, sizes = words(descriptors)
    return [Extent(p, s) for p, s in zip(positions.tolist(), sizes.tolist()) if s]


def runs(descriptors: pa.Array, multiple: int = 1) -> Iterator[pa.Array]:
    """Cut descriptors, in groups of `multiple`, where about RUN_BYTES of payloads come together."""
    sizes = np.cumsum(words(descriptors)[1]) // RUN_BYTES
    inside = (np.flatnonzero(np.diff(sizes)) + 1) // multiple * multiple
    cuts = [0, *unique(inside[inside > 0]).tolist(), len(descriptors)]
    for first, last in pairwise(cuts):
        yield descriptors.slice(first, last - first)


def fetch(
    file: FileBytes, descriptors: pa.Array, valid: NDArray[np.bool_], clause: str, place: Place
) -> pa.Array:
    """Read the payloads of `descriptors` as large_binary, null where not `valid`.

    Raises OutOfRange for one outside the file, LimitExceeded for more bytes than a run may have.
    """
    sizes = words(descriptors)[1]
    total, allowed = sum(sizes.tolist()), file.ctx.limits.expanded(file.size)
    if len(sizes) and (int(sizes.max()) > file.size or total > allowed):
        found, wanted = f"{total} bytes of payloads in one run", f"at most {allowed} bytes"
        raise LimitExceeded(clause, place, found, wanted)
    data = b"".join(
        cursor.take(cursor.remaining, "payload", clause, "blob")
        for cursor in file.cursors(extents(descriptors), "blob payload", clause)
    )
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    validity = np.packbits(valid, bitorder="little")
    buffers = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)
