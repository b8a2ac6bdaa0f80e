"""List: a column of end offsets before the column of the items.

Each page of offsets counts its items from 0; they follow those of the pages before it in the item
column, whose own pages may be cut elsewhere. A null list may own items; they are passed over.

Layout of a page: u64 ends, null lists plus null_offset_adjustment (see `ends`).

Clauses: L.array.list.num-items, L.array.list.null-adjustment, L.array.list.null-adjustment-value,
L.array.list.item-column, L.array.list.page, L.array.list.offset-width, L.array.nullable.field, and
those of `ends`

Early strings: a column of list offsets before a column of bytes, read and never written.

Release 0.13 stored text and byte strings as lists of bytes. The pages of the first column are
lists, by which such a field is known, and the field owns the next column too. A manifest names the
first.

Clauses: L.array.binary.early, and those of `list`
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange, Place, UnknownEncoding
from lanceref.encodings_2_0.binary import MAX_OFFSET, is_string
from lanceref.encodings_2_0.ends import Ends, Slices, open_ends
from lanceref.encodings_2_0.flat import slot_bits
from lanceref.encodings_2_0.page import (
    ArrayColumn,
    Page,
    Paging,
    RowRanges,
    distinct,
    join,
    repeat,
    run_rows,
)
from lanceref.encodings_2_0.values import ValueColumn
from lanceref.file.columns import ColumnMetadata, PageMetadata
from lanceref.file.schema import Field, schema_of
from lanceref.proto import encodings_v2_0_pb2 as pb


class ListColumn:
    """Offsets and items of a list or large list."""

    def __init__(
        self, file: FileBytes, field: Field, column: ColumnMetadata, items: ArrayColumn
    ) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file = file
        self._nullable = field.nullable
        self._paging = Paging(column)
        self._items = items
        self._lists = [_list_of(page) for page in column.pages]
        self._first_items = [0]
        for one in self._lists:
            self._first_items.append(self._first_items[-1] + one.num_items)

    @property
    def num_rows(self) -> int:
        """Lists in all pages."""
        return self._paging.num_rows

    @property
    def place(self) -> Place:
        """Where the column of offsets is described."""
        return self._paging.column.place

    @property
    def num_items(self) -> int:
        """Items that the pages of offsets claim."""
        return self._first_items[-1]

    @property
    def row_bytes(self) -> float:
        """Bytes of an offset and of the items of an average list."""
        return 8 + self._items.row_bytes * self.num_items / max(1, self.num_rows)

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the lists run by run, each with the items it owns."""
        opened: tuple[int, Ends] | None = None
        for index, first, last in self._paging.runs(start, end, run_rows(self.row_bytes)):
            if opened is None or opened[0] != index:
                opened = index, self._open(index)
            slices = self._slices(index, opened[1], RowRanges.single(first, last))
            low, high = slices.bounds[0]
            self._bound_items(high - low, index)
            base = self._first_items[index]
            parts = list(self._items.scan(base + low, base + high)) if high > low else []
            items = join(parts, self._items.type, self._place(index))
            yield self._build(slices.offsets(), slices.nulls, items, index)

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Read the offsets of the rows, of all pages at once, then their items at once."""
        unique, inverse = distinct(rows)
        if not len(unique):
            return pa.nulls(0, self.type)
        starts, lengths, nulls = self._locate(unique)
        lengths[nulls] = 0
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        index = next(self._paging.split(unique))[0]
        self._bound_items(int(offsets[-1]), index)
        item_rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        array = self._build(offsets, nulls, self._items.take(item_rows), index)
        return repeat(array, inverse)

    def check(self) -> None:
        """Decode every page of offsets, then check the items."""
        ctx = self._file.ctx
        for index, metadata in enumerate(self._paging.column.pages):
            with ctx.group(f"page {index}"), ctx.piece():
                ends, whole = self._open(index), RowRanges.single(0, metadata.num_rows)
                ends.page.lint_buffers()
                self._slices(index, ends, whole)
        with ctx.group("items"), ctx.piece():
            self._items.check()

    def _locate(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return for each of some distinct rows: first item, number of items, null or not."""
        wanted = []
        extents: list[Extent] = []
        for index, local in self._paging.split(rows):
            ends, ranges = self._open(index), self._paging.covering(index, local)
            extents += ends.plan(ranges)
            wanted.append((index, ends, local, ranges))
        parts = iter(self._file.cursors(extents, "list ends", "L.file.pages.extent"))
        starts, lengths, nulls = [], [], []
        for index, ends, local, ranges in wanted:
            slices = ends.decode(ranges, parts, self._lists[index].num_items)
            self._check_slices(slices, ranges, index)
            positions = ranges.positions(local)
            starts.append(slices.starts(ranges)[positions] + self._first_items[index])
            lengths.append(slices.lengths[positions])
            nulls.append(slices.nulls[positions])
        return np.concatenate(starts), np.concatenate(lengths), np.concatenate(nulls)

    def _open(self, index: int) -> Ends:
        metadata, one = self._paging.column.pages[index], self._lists[index]
        page = Page(self._file, self._paging.column, metadata)
        adjustment = one.null_offset_adjustment
        if adjustment <= one.num_items:  # L.array.list.null-adjustment
            raise CorruptPage(
                "L.array.list.null-adjustment",
                page.place,
                found=f"adjustment {adjustment}",
                wanted=f"more than the {one.num_items} items of the page",
            )
        if adjustment != one.num_items + 1:
            page.ctx.lint(
                "L.array.list.null-adjustment-value",
                page.place,
                found=adjustment,
                wanted=one.num_items + 1,
            )
        return open_ends(one.offsets, adjustment, metadata.num_rows, page, "list ends")

    def _slices(self, index: int, ends: Ends, rows: RowRanges) -> Slices:
        parts = self._file.cursors(ends.plan(rows), "list ends", "L.file.pages.extent")
        slices = ends.decode(rows, iter(parts), self._lists[index].num_items)
        self._check_slices(slices, rows, index)
        return slices

    def _check_slices(self, slices: Slices, rows: RowRanges, index: int) -> None:
        num_items = self._lists[index].num_items
        whole = rows.bounds and rows.bounds[-1][1] == self._paging.column.pages[index].num_rows
        if whole and slices.bounds[-1][1] != num_items:  # L.array.list.num-items
            self._file.ctx.refuse(
                CorruptPage(
                    "L.array.list.num-items",
                    self._place(index),
                    found=f"{num_items} items, and a last end at {slices.bounds[-1][1]}",
                    wanted="the last end",
                )
            )
        if not self._nullable and slices.nulls.any():  # L.array.nullable.field
            self._file.ctx.refuse(
                CorruptPage(
                    "L.array.nullable.field",
                    self._place(index),
                    found="null lists",
                    wanted="none: the field is not nullable",
                )
            )

    def _bound_items(self, num_items: int, index: int) -> None:
        """Refuse more items at once than the limits allow; a bound before they are allocated."""
        size = num_items * max(64, slot_bits(self._items.type) or 64) // 8
        allowed = self._file.ctx.limits.expanded(self._file.size)
        if size > allowed:
            raise LimitExceeded(
                "L.array.list.num-items",
                self._place(index),
                found=f"{num_items} items in one run of lists",
                wanted=f"items that take at most {allowed} bytes",
            )

    def _build(
        self, offsets: NDArray[np.int64], nulls: NDArray[np.bool_], items: pa.Array, index: int
    ) -> pa.Array:
        large = pa.types.is_large_list(self.type)
        if not large and offsets[-1] > MAX_OFFSET:
            raise LimitExceeded(
                "L.array.list.offset-width",
                self._place(index),
                found=f"{offsets[-1]} items in one run of lists",
                wanted=f"at most {MAX_OFFSET} for {self.type}",
            )
        validity = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
        stored = pa.py_buffer(offsets if large else offsets.astype(np.int32))
        buffers = [validity, stored]
        return pa.Array.from_buffers(self.type, len(nulls), buffers, children=[items])

    def _place(self, index: int) -> Place:
        return self._paging.column.pages[index].place


def _list_of(page: PageMetadata) -> pb.List:
    encoding = page.encoding
    assert isinstance(encoding, pb.ArrayEncoding)
    arm = encoding.WhichOneof("array_encoding")
    if arm != "list":  # L.array.list.page
        raise UnknownEncoding(
            "L.array.list.page", page.place, found=f"a page of {arm}", wanted="list"
        )
    return encoding.list


def open_list(
    file: FileBytes, field: Field, column: ColumnMetadata, items: ArrayColumn
) -> ListColumn:
    """Open a list: the items its pages claim must be those of the item column."""
    opened = ListColumn(file, field, column, items)
    if opened.num_items != items.num_rows:  # L.array.list.item-column
        file.ctx.refuse(
            OutOfRange(
                "L.array.list.item-column",
                column.place,
                found=f"{opened.num_items} items in the offsets, {items.num_rows} in the column",
                wanted="the same number",
            )
        )
    return opened


class EarlyStrings:
    """Strings or binary values made of lists of bytes."""

    def __init__(self, file: FileBytes, field: Field, lists: ListColumn) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._lists = file, lists

    @property
    def num_rows(self) -> int:
        """Rows of all pages."""
        return self._lists.num_rows

    @property
    def row_bytes(self) -> float:
        """Bytes of an offset and of an average string."""
        return self._lists.row_bytes

    def scan(self, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the strings run by run."""
        return map(self._strings, self._lists.scan(start, end))

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Return the strings of rows."""
        return self._strings(self._lists.take(rows))

    def check(self) -> None:
        """Check the lists, and that text is UTF-8."""
        self._lists.check()
        for _ in self.scan(0, self.num_rows):
            pass

    def _strings(self, lists: pa.Array) -> pa.Array:
        nulls = lists.is_null().to_numpy(zero_copy_only=False)
        validity = pa.py_buffer(np.packbits(~nulls, bitorder="little")) if nulls.any() else None
        offsets = np.ascontiguousarray(lists.offsets.to_numpy())
        data = np.ascontiguousarray(lists.values.to_numpy())
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(data)]
        strings = pa.Array.from_buffers(self.type, len(lists), buffers)
        try:
            strings.validate(full=True)
        except pa.ArrowInvalid as error:
            self._file.ctx.refuse(
                CorruptPage(
                    "L.array.binary.utf8",
                    self._lists.place,
                    found=str(error),
                    wanted="valid UTF-8",
                )
            )
        return strings


def is_early(field: Field, column: ColumnMetadata) -> bool:
    """Whether a column holds the list offsets of a field of strings."""
    if not is_string(field.arrow.type) or not column.pages:
        return False
    encoding = column.pages[0].encoding
    assert isinstance(encoding, pb.ArrayEncoding)
    return bool(encoding.WhichOneof("array_encoding") == "list")


def open_early(
    file: FileBytes, field: Field, offsets: ColumnMetadata, data: ColumnMetadata
) -> ArrayColumn:
    """Open a field of early strings, stored in two columns."""
    large = pa.types.is_large_string(field.arrow.type) or pa.types.is_large_binary(field.arrow.type)
    item = pa.field("item", pa.uint8(), nullable=False)
    type_ = pa.large_list(item) if large else pa.list_(item)
    listed = pa.field(field.name, type_, field.nullable)
    (whole,) = schema_of(pa.schema([listed])).fields
    items = ValueColumn(file, whole.children[0], data)
    return EarlyStrings(file, field, open_list(file, whole, offsets, items))
