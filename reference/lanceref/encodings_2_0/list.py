"""List: a column of end offsets before the column of the items; and early strings.

Each page of offsets counts its items from 0; they follow those of the pages before it in the item
column, whose own pages may be cut elsewhere. A null list may own items; a reader skips them.
Release 0.13 stored text and byte strings as lists of bytes, which are read and never written: the
pages of the field's first column are lists, and the field owns the next column too.

Layout of a page: u64 ends, null lists plus null_offset_adjustment (see `ends`).

Clauses: L.array.list.num-items, L.array.list.null-adjustment, L.array.list.null-adjustment-value,
L.array.list.item-column, L.array.list.page, L.array.list.offset-width, L.array.nullable.field,
L.array.binary.early, and those of `ends`
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import numpy as np
import pyarrow as pa

from lanceref.codecs.values import Ints
from lanceref.core.arrow_buffers import LARGE, check_text, offsets_buffer
from lanceref.core.context import expect
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, OutOfRange, Place, UnknownEncoding
from lanceref.core.packed_values import null_bitmap, offsets_of
from lanceref.encodings_2_0.binary import Ends, Slices, encode_ends, open_ends
from lanceref.encodings_2_0.flat import PageBuffers
from lanceref.encodings_2_0.page import ArrayColumn, Page, Paging, RowRanges
from lanceref.encodings_2_0.values import ValueColumn, plain_column
from lanceref.file.column_io import DataArea, EncodedColumn, EncodedPage, FieldWriter, PagePolicy
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.file.schema import Field, slot_bits
from lanceref.proto import encodings_v2_0_pb2 as pb


class ListColumn(ArrayColumn):
    """Offsets and items of a list or large list."""

    def __init__(
        self, file: FileBytes, field: Field, column: ColumnMetadata, items: ArrayColumn
    ) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._items, self._place = file, items, column.place
        self._nullable = field.nullable
        self._paging = Paging(column)
        self._lists = [_list_of(page) for page in column.pages]
        self._first_items = [0, *accumulate(one.num_items for one in self._lists)]
        self.num_rows, self.num_items = self._paging.num_rows, self._first_items[-1]
        self.row_bytes = 8 + items.row_bytes * self.num_items / max(1, self.num_rows)

    def read(self, rows: RowRanges) -> pa.Array:
        """Read the offsets of the rows, page by page, then their items at once."""
        starts, ends, lengths, nulls = list[Ints](), list[Ints](), [np.zeros(1, np.int64)], []
        for index, local in self._paging.split(rows):
            slices = self._read(index, self._open(index), local)
            starts.append(slices.owned.starts + self._first_items[index])
            ends.append(slices.owned.ends + self._first_items[index])
            lengths.append(slices.lengths)
            nulls.append(slices.nulls)
        if not nulls:
            return pa.nulls(0, self.type)
        offsets, is_null = np.cumsum(np.concatenate(lengths)), np.concatenate(nulls)
        self._bound_items(int(offsets[-1]))
        items = self._items.read(RowRanges(np.concatenate(starts), np.concatenate(ends)).filled())
        stored = offsets_buffer(self.type, offsets, "L.array.list.offset-width", self._place)
        buffers = [null_bitmap(is_null), stored]
        return pa.Array.from_buffers(self.type, len(is_null), buffers, children=[items])

    def check(self) -> None:
        """Decode every page of offsets, then check the items."""
        ctx = self._file.ctx
        for index, metadata in enumerate(self._paging.column.pages):
            with ctx.group(f"page {index}"), ctx.piece():
                ends = self._open(index)
                ends.page.check_buffers()
                self._read(index, ends, RowRanges.single(0, metadata.num_rows))
        with ctx.group("items"), ctx.piece():
            self._items.check()

    def _open(self, index: int) -> Ends:
        metadata, one = self._paging.column.pages[index], self._lists[index]
        page = Page(self._file, self._paging.column, metadata)
        adjustment, num_items = one.null_offset_adjustment, one.num_items
        if adjustment <= num_items:
            clause, wanted = "L.array.list.null-adjustment", f"more than the {num_items} items"
            raise CorruptPage(clause, page.place, adjustment, wanted)
        if adjustment != num_items + 1:
            clause = "L.array.list.null-adjustment-value"
            page.ctx.lint(clause, page.place, adjustment, num_items + 1)
        return open_ends(one.offsets, adjustment, metadata.num_rows, page, "list ends")

    def _read(self, index: int, ends: Ends, rows: RowRanges) -> Slices:
        """Read ends of a page, and check the last one and the nulls."""
        ctx, num_items = self._file.ctx, self._lists[index].num_items
        slices = ends.read(rows, num_items)
        last_row, last_end = rows.ends.max(initial=0), slices.owned.ends.max(initial=0)
        if len(rows.ends) and last_row == ends.num_rows and last_end != num_items:
            clause, wanted = "L.array.list.num-items", f"{last_end}, the last end"
            ctx.refuse(CorruptPage(clause, self._place, num_items, wanted))
        if not self._nullable and slices.nulls.any():
            ctx.refuse(CorruptPage("L.array.nullable.field", self._place, "null lists", "none"))
        return slices

    def _bound_items(self, num_items: int) -> None:
        """Refuse more items at once than the limits allow; a bound before they are allocated."""
        size = num_items * max(64, slot_bits(self._items.type) or 64) // 8
        found = f"{num_items} items in one run"
        self._file.bound_output(size, "L.array.list.num-items", self._place, found)


def _list_of(page: PageMetadata) -> pb.List:
    encoding = page.encoding
    assert isinstance(encoding, pb.ArrayEncoding)
    arm = encoding.WhichOneof("array_encoding")
    expect("L.array.list.page", arm, "list", page.place, UnknownEncoding)
    return encoding.list


def open_list(
    file: FileBytes, field: Field, column: ColumnMetadata, items: ArrayColumn
) -> ListColumn:
    """Open a list: the items its pages claim must be those of the item column."""
    opened = ListColumn(file, field, column, items)
    if opened.num_items != items.num_rows:
        clause, found = "L.array.list.item-column", f"{opened.num_items} items in the offsets"
        file.ctx.refuse(OutOfRange(clause, column.place, found, items.num_rows))
    return opened


class EarlyStrings(ArrayColumn):
    """Strings or binary values made of lists of bytes."""

    def __init__(self, file: FileBytes, field: Field, lists: ListColumn, place: Place) -> None:
        self.type: pa.DataType = field.arrow.type
        self._file, self._lists, self._place = file, lists, place
        self.num_rows, self.row_bytes = lists.num_rows, lists.row_bytes

    def check(self) -> None:
        """Check the lists, and that text is UTF-8."""
        self._lists.check()
        for _ in self.scan(0, self.num_rows):
            pass

    def read(self, rows: RowRanges) -> pa.Array:
        lists = self._lists.read(rows)
        nulls = lists.is_null().to_numpy(zero_copy_only=False)
        parts = (np.ascontiguousarray(a.to_numpy()) for a in (lists.offsets, lists.values))
        buffers = [null_bitmap(nulls), *map(pa.py_buffer, parts)]
        strings = pa.Array.from_buffers(self.type, len(lists), buffers)
        with self._file.ctx.piece():
            check_text(strings, "L.array.binary.utf8", self._place)
        return strings


def open_early(
    file: FileBytes, field: Field, offsets: ColumnMetadata, data: ColumnMetadata
) -> EarlyStrings:
    """Open a field of early strings, stored in two columns."""
    arrow = pa.field("item", pa.uint8(), nullable=False)
    item = Field("item", -1, field.id, "uint8", False, {}, (), arrow)
    type_ = pa.large_list(arrow) if field.arrow.type in LARGE else pa.list_(arrow)
    lists = replace(field, children=(item,), arrow=field.arrow.with_type(type_))
    items = ValueColumn(file, item, data)
    return EarlyStrings(file, field, open_list(file, lists, offsets, items), offsets.place)


class ListWriter:
    """Writes a list: end offsets in its own column, items in those after it.

    When offsets become a page the items do too, unless some item leaf has just written its queue by
    itself: then the other leaves go on.
    """

    def __init__(self, column: int, items: FieldWriter, policy: PagePolicy) -> None:
        self._column, self._items, self._policy = column, items, policy
        self._queued: list[pa.Array] = []
        self._queued_bytes = 0
        self.num_columns = 1 + items.num_columns

    def write(self, array: pa.Array, row: int, data: DataArea) -> list[EncodedPage]:
        """Queue rows and write their items; offsets and items become pages together."""
        offsets = offsets_of(array)
        items = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        pages = self._items.write(items, row, data)
        self._queued.append(array)
        self._queued_bytes += array.nbytes - items.nbytes
        if self._queued_bytes <= self._policy.cache_bytes:
            return pages
        return [self._page(), *(pages or self._items.flush(data))]

    def flush(self, data: DataArea) -> list[EncodedPage]:
        """Return the page of queued offsets, and those of their items."""
        items = self._items.flush(data)
        return [self._page(), *items] if self._queued else items

    def _page(self) -> EncodedPage:
        """Encode the queued offsets: where each list ends among the items of the page."""
        queued, self._queued, self._queued_bytes = self._queued, [], 0
        ends = np.cumsum(np.concatenate([np.diff(offsets_of(array)) for array in queued]))
        nulls = np.concatenate([np.asarray(array.is_null()) for array in queued])
        num_items = int(ends[-1]) if len(ends) else 0
        page = PageBuffers()
        offsets = encode_ends(ends, nulls, num_items + 1, page)
        lists = pb.List(offsets=offsets, null_offset_adjustment=num_items + 1, num_items=num_items)
        encoding = pb.ArrayEncoding(list=lists)
        return EncodedPage(self._column, page.buffers, encoding, len(ends))

    def finish(self) -> list[EncodedColumn]:
        return [plain_column(), *self._items.finish()]
