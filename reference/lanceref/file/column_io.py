"""Column reader and writer: the interfaces of a field of any file version.

Every version's field tree (array encodings of 2.0, page layouts of 2.1 and later) offers the same
three ways to its rows. Columns yield arrays cut where their own pages and chunks end; here they are
cut anew to batches of a given number of rows, and only a batch that straddles a cut is copied. The
descriptors of a blob column become values: their payloads, which lie outside the pages, are read
about a run at a time, neighbours together. To write, the container asks the writer of each
top-level field for pages; how rows become pages is decided by the version.

Layout of a descriptor: u64 position (absolute), u64 size.

Clauses: L.array.blob.payload, L.page.blob.payload, L.file.pages.priority
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import bitmap, nests_fixed_size_lists, whole
from lanceref.core.cursor import Cursor, Extent, FileBytes, read_extents
from lanceref.core.errors import LimitExceeded, OutOfRange, Place
from lanceref.core.integers import unique
from lanceref.core.packed_values import bytes_of, offsets_of
from lanceref.core.run_sizes import RUN_BYTES
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding


class ColumnReader(Protocol):
    """Reads the rows of one field, in order or at random."""

    @property
    def type(self) -> pa.DataType:
        """Arrow type of the arrays that the reader returns."""

    @property
    def num_rows(self) -> int:
        """Number of rows that the column holds."""

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield consecutive arrays that cover rows `start`..`end`, each about RUN_BYTES."""

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the given rows (ascending, may repeat), reading only what they need."""

    def check(self) -> None:
        """Decode everything and run every cross-check, so that findings and spans are complete."""


def batches(
    columns: Sequence[Iterator[pa.Array]], start: int, end: int, size: int, *, uncut: bool = False
) -> Iterator[tuple[int, list[pa.Array]]]:
    """Yield rows start..end of columns, however each is cut: how many rows, an array per column.

    `size` rows at a time, fewer where these have more bytes than an array can hold. `uncut` yields
    as many whole batches as each column has in one array, where slices of it are good to use.
    """
    recutters = [Recutter(arrays) for arrays in columns]
    while start < end:
        rows = min(size, end - start)
        ahead = min((one.ahead() for one in recutters), default=0) if uncut else 0
        if ahead > rows:
            rows = min(ahead // size * size, end - start)
        else:
            rows = min((one.fitting(rows) for one in recutters), default=rows)
        yield rows, [one.next(rows) for one in recutters]
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
        """Return the next `rows` rows, which the scan must still hold. Raises LimitExceeded."""
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
    """Return the positions and sizes that descriptors hold, each (n,) uint64."""
    return np.asarray(descriptors.field(0)), np.asarray(descriptors.field(1))


def extents(descriptors: pa.Array) -> list[Extent]:
    """Return where the payloads that have bytes lie."""
    positions, sizes = words(descriptors)
    return [Extent(p, s) for p, s in zip(positions.tolist(), sizes.tolist()) if s]


def store(array: pa.Array, nulls: NDArray[np.uint64], data: DataArea) -> pa.StructArray:
    """Write values of large_binary out of line; return their descriptors.

    `nulls` (n,) are the positions that stand for a null, 0 for a valid value.
    """
    offsets, stored = offsets_of(array), bytes_of(array.buffers()[2])
    sizes, positions = np.where(nulls, 0, np.diff(offsets)).astype(np.uint64), nulls.copy()
    for row in np.flatnonzero(sizes).tolist():
        positions[row] = data.write(stored[int(offsets[row]) : int(offsets[row + 1])]).offset
    children = [pa.array(positions), pa.array(sizes)]
    return pa.StructArray.from_arrays(children, fields=list(DESCRIPTOR))


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
    `valid` (n,), one for each descriptor.
    """
    sizes = words(descriptors)[1]
    file.bound_output(sum(sizes.tolist()), clause, place, "payloads in one run")
    cursors = read_cursors(file, extents(descriptors), "blob payload", clause)
    data = b"".join([one.take(one.remaining, "payload", clause, "blob") for one in cursors])
    offsets = pa.py_buffer(np.append(0, np.cumsum(sizes.astype(np.int64))))
    buffers = [bitmap(valid), offsets, pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)


Buffer: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8] | pa.Buffer
"""Bytes on their way into a file."""

CACHE_BYTES = 8 << 20
"""Arrow bytes that each top-level field queues before a page is written."""

MAX_PAGE_BYTES = 32 << 20
"""Arrow bytes of one page cut from a single array (2.0)."""


@dataclass(frozen=True, slots=True)
class EncodedPage:
    """One page ready to be written.

    `column` is the physical column; `encoding` an ArrayEncoding, PageLayout or PlanarLayout, as the
    version wants; `num_rows` the page's length; `priority` its first top-level row (0 in 2.0).
    """

    column: int
    buffers: Sequence[Buffer]
    encoding: Message
    num_rows: int
    priority: int = 0


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """What a finished column adds: its encoding, last pages, column-level buffers."""

    encoding: ColumnEncoding
    pages: Sequence[EncodedPage] = ()
    buffers: Sequence[Buffer] = ()


@dataclass(frozen=True, slots=True)
class PagePolicy:
    """When rows become a page.

    Rows of a field are queued until their values take more than `cache_bytes`; a single array of
    more than `max_page_bytes` is cut (2.0).
    """

    cache_bytes: int = CACHE_BYTES
    max_page_bytes: int = MAX_PAGE_BYTES


def page_policy(
    num_fields: int, data_cache_bytes: int | None = None, max_page_bytes: int | None = None
) -> PagePolicy:
    """Return the policy of a file; the cache is divided evenly among the top-level fields."""
    cache_bytes = CACHE_BYTES
    if data_cache_bytes is not None and num_fields:
        cache_bytes = data_cache_bytes // num_fields
    return PagePolicy(cache_bytes, MAX_PAGE_BYTES if max_page_bytes is None else max_page_bytes)


class DataArea(Protocol):
    """Where bytes that lie outside pages (blobs) are written at once."""

    def write(self, data: Buffer) -> Extent:
        """Write a buffer and the padding after it; return where it lies in the file."""


class FieldWriter(Protocol):
    """The writer of one top-level field and its physical columns."""

    num_columns: int

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows that begin at `row` of the file; return the pages that became full."""

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the pages of all rows still queued."""

    def finish(self) -> list[EncodedColumn]:
        """Return what is left to say about each physical column, in column order."""


def read_cursors(
    file: FileBytes, extents: Sequence[Extent], name: str, clause: str
) -> list[Cursor]:
    """Read many extents in any order. Raises OutOfRange, Truncated, LimitExceeded."""
    for extent in extents:
        file.bound(extent, name, clause)
    table = np.array(extents, np.int64).reshape(-1, 2)
    data, places = read_extents(file, table[:, 0], table[:, 1], name, clause)
    pairs = zip(extents, places.tolist(), strict=True)
    return [Cursor(data.data[at : at + one.size], one.offset, file.ctx) for one, at in pairs]
