"""Page of a 2.0 column: its buffers, its rows, and what every array encoding offers.

An encoding names its buffers by index: into the page's own buffers, or into those of the column.
Buffers of the file are in the grammar, but no reader is given any. The rows (below a list: items)
of a column are those of its pages in order; page boundaries are a column's own and independent of
its siblings. A scan reads one range of rows, random access many: every encoding, and every column,
reads a list of ascending, disjoint ranges. Rows that are asked for several times are read once and
repeated afterwards.

Clauses: L.array.buffer.index, L.array.buffer.type, L.array.buffer.shared, L.array.buffer.named
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message

from lanceref.codecs.values import Ints
from lanceref.core.arrow_buffers import whole
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange, Place, UnknownEncoding
from lanceref.core.integers import arrow_array, unique_inverse
from lanceref.core.run_sizes import run_rows
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.proto import encodings_v2_0_pb2 as pb


@dataclass(frozen=True, slots=True)
class RowRanges:
    """Ascending, disjoint, non-empty ranges `starts`..`ends` of rows, both (ranges,)."""

    starts: Ints
    ends: Ints

    @staticmethod
    def single(start: int, end: int) -> RowRanges:
        """The rows start..end; no range at all when it is empty."""
        some = int(end > start)
        return RowRanges(np.array([start] * some, np.int64), np.array([end] * some, np.int64))

    @staticmethod
    def of_rows(rows: Ints) -> RowRanges:
        """The ranges that ascending and distinct `rows` (n,) consist of."""
        is_first = np.append(True, rows[1:] != rows[:-1] + 1)[: len(rows)]
        is_last = np.append(is_first[1:], True)[: len(rows)]
        return RowRanges(rows[is_first], rows[is_last] + 1)

    @property
    def counts(self) -> Ints:
        """Number of rows in each range: (ranges,)."""
        return self.ends - self.starts

    @property
    def count(self) -> int:
        """Number of rows in all ranges together."""
        return int(self.counts.sum())

    def filled(self) -> RowRanges:
        """The ranges without those that have no rows."""
        some = self.ends > self.starts
        return RowRanges(self.starts[some], self.ends[some])

    def scaled(self, factor: int) -> RowRanges:
        """The ranges of the items of these rows when each row has `factor` items."""
        return RowRanges(self.starts * factor, self.ends * factor).filled()


def repeat(array: pa.Array, places: Ints) -> pa.Array:
    """Put repeated rows back: `places` (rows,), ascending, are where each lies in `array`."""
    return array if len(array) == len(places) else whole(array).take(arrow_array(places))


ReadRows: TypeAlias = Callable[[RowRanges], pa.Array]
"""An encoding over the rows of one page: returns some rows, range after range, as one array."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the file and column around it; `opener` opens what its encoding holds."""

    file: FileBytes
    column: ColumnMetadata
    metadata: PageMetadata
    opener: Callable[[pb.ArrayEncoding, pa.DataType, int, Page], ReadRows] | None = None

    def open(self, inner: pb.ArrayEncoding, type_: pa.DataType, count: int) -> ReadRows:
        """Open an inner encoding as `count` values of a type. Raises UnknownEncoding."""
        assert self.opener is not None  # only pages of values hold other encodings
        return self.opener(inner, type_, count, self)

    @property
    def ctx(self) -> Context:
        return self.file.ctx

    @property
    def place(self) -> Place:
        """Where the description of the page lies."""
        return self.metadata.place

    def at(self, extent: Extent) -> Place:
        return self.ctx.at(extent.offset, extent.size)

    def extent(self, buffer: pb.Buffer) -> Extent:
        """Return the extent of the buffer an encoding names. Raises OutOfRange, UnknownEncoding."""
        kind, index = buffer.buffer_type, buffer.buffer_index
        if kind not in (pb.Buffer.page, pb.Buffer.column):
            found = f"buffer type {kind}"
            raise UnknownEncoding("L.array.buffer.type", self.place, found, "0 or 1")
        extents = self.metadata.extents if kind == pb.Buffer.page else self.column.extents
        if index >= len(extents):
            wanted = f"below {len(extents)}"
            raise OutOfRange("L.array.buffer.index", self.place, f"buffer {index}", wanted)
        return extents[index]

    def check_buffers(self) -> None:
        """Refuse an encoding of which two parts name one buffer of the page; lint unnamed ones."""
        extents, ctx = self.metadata.extents, self.ctx
        if len(extents) < 2 and not ctx.validating:
            return
        named = Counter(_page_buffers(self.metadata.encoding))
        if len(extents) > 1 and max(named.values(), default=0) > 1:
            found, wanted = f"buffers {list(named.elements())[:8]}", "a buffer for each part"
            raise CorruptPage("L.array.buffer.shared", self.place, found, wanted)
        for index, extent in enumerate(extents):
            if named[index] != 1:
                found = f"buffer {index} of the page named {named[index]} times"
                ctx.lint("L.array.buffer.named", self.at(extent), found, "once")


def _page_buffers(message: Message) -> Iterator[int]:
    """Yield the index of every page buffer that an encoding names, at any depth."""
    if isinstance(message, pb.PackedStruct):  # its children repeat its buffer
        message = message.buffer
    if isinstance(message, pb.Buffer):
        if message.buffer_type == pb.Buffer.page:
            yield message.buffer_index
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in [value] if isinstance(value, Message) else value:
                yield from _page_buffers(inner)


class ArrayColumn(Protocol):
    """The reader of a field, alone or as a part of a struct or list: ranges of its rows are read.

    A row takes about `row_bytes` when decoded.
    """

    type: pa.DataType
    num_rows: int
    row_bytes: float

    def read(self, rows: RowRanges) -> pa.Array:
        """Return rows, range after range. Raises what the encodings raise."""

    def check(self) -> None:
        """Decode everything once, and report what is wrong."""

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""
        step = run_rows(self.row_bytes)
        for at in range(start, end, step):
            yield self.read(RowRanges.single(at, min(end, at + step)))

    def take(self, rows: Ints) -> pa.Array:
        """Return the given rows (n,), ascending; repeated ones are read once."""
        unique, places = unique_inverse(rows)
        return repeat(self.read(RowRanges.of_rows(unique)), places)


class Paging:
    """Where the pages of a column start."""

    def __init__(self, column: ColumnMetadata) -> None:
        self.column = column
        self.starts = [0, *accumulate(page.num_rows for page in column.pages)]
        self.num_rows = self.starts[-1]

    def runs(self, start: int, end: int, run_rows: int) -> Iterator[tuple[int, int, int]]:
        """Yield (page, first row, last row + 1), rows counted in the page, for rows start..end.

        A run ends where its page does, or some times `run_rows` after `start`.
        """
        for page, first in enumerate(self.starts[:-1]):
            at, high = max(start, first), min(end, self.starts[page + 1])
            while at < high:
                stop = min(high, at + run_rows - (at - start) % run_rows)
                yield page, at - first, stop - first
                at = stop

    def split(self, rows: RowRanges) -> Iterator[tuple[int, RowRanges]]:
        """Yield (page, rows counted in the page) for each page that holds some of `rows`."""
        cuts = np.array(self.starts, np.int64)
        firsts = np.searchsorted(rows.ends, cuts[:-1], "right")
        lasts = np.searchsorted(rows.starts, cuts[1:])
        for page in np.flatnonzero(firsts < lasts).tolist():
            some = slice(firsts[page], lasts[page])
            starts, ends = np.maximum(rows.starts[some], cuts[page]), rows.ends[some]
            ends = np.minimum(ends, cuts[page + 1])
            yield page, RowRanges(starts - cuts[page], ends - cuts[page]).filled()


def concat(arrays: Sequence[pa.Array], type_: pa.DataType, place: Place) -> pa.Array:
    """Concatenate arrays of one type; dictionaries are merged. Raises LimitExceeded."""
    if len(arrays) == 1:
        return arrays[0]
    try:
        return pa.concat_arrays(arrays) if arrays else pa.nulls(0, type_)
    except pa.ArrowInvalid as error:
        clause, wanted = "L.array.dictionary.key-range", f"one array of {type_}"
        raise LimitExceeded(clause, place, str(error), wanted) from error
