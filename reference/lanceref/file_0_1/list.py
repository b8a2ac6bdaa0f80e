"""List pages: offsets into the items of the same batch.

A list field's page holds offsets, its child's page of the same batch the items. There is no
validity: a null list is one without items.

Layout: (num_rows + 1) x i32 (large lists: i64), the first 0, relative to the batch's items.

Clauses: L.legacy.list.first-offset, L.legacy.list.ascending, L.legacy.list.items

Divergences: D.legacy.nulls-lost, D.legacy.written-not-read
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, LimitExceeded, OutOfRange
from lanceref.file_0_1.batch_ranges import Node, Numbers, Pieces
from lanceref.file_0_1.offsets import Offsets, read_offsets
from lanceref.file_0_1.page_table import Pages


class ListNode:
    """The lists of one field."""

    def __init__(
        self,
        file: FileBytes,
        pages: Pages,
        type_: pa.DataType,
        rows: Numbers | None,
        items: Node,
    ) -> None:
        self.type = type_
        self._file, self._pages = file, pages
        self._items = items
        self._dtype = np.dtype("<i8" if pa.types.is_large_list(type_) else "<i4")
        pages.require(None if rows is None else rows + 1, 8 * self._dtype.itemsize)
        self.lengths = pages.lengths - 1
        if len(self.lengths) and int(self.lengths.min()) < 0:
            raise OutOfRange(
                "L.legacy.page-table.length",
                pages.place,
                found="a page of lists of length 0",
                wanted="at least the one offset that ends it",
            )

    @property
    def row_bytes(self) -> float:
        """Bytes of a row, its items by their share of all rows."""
        num_rows = max(1, int(self.lengths.sum()))
        num_items = 0 if self._items.lengths is None else int(self._items.lengths.sum())
        return self._dtype.itemsize + self._items.row_bytes * num_items / num_rows

    def read(self, pieces: Pieces) -> pa.Array:
        """Read the offsets, then the items they name."""
        offsets = read_offsets(
            self._file, self._pages, pieces, self._dtype.str, "L.legacy.list.ascending"
        )
        self._check(offsets, pieces)
        ends = offsets.ends()
        if ends[-1] > np.iinfo(self._dtype).max:
            raise LimitExceeded(
                "L.legacy.limits.run",
                self._pages.place,
                found=f"{ends[-1]} items in one run of rows",
                wanted=f"what offsets of {self.type} can count",
            )
        inner = Pieces(pieces.batches, offsets.firsts, offsets.lasts)
        if self._file.ctx.spans is None:  # else the offsets of no items need an owner
            inner = inner.filled()
        values = self._items.read(inner)
        buffers = [None, pa.py_buffer(ends.astype(self._dtype))]
        return pa.Array.from_buffers(self.type, pieces.num_rows, buffers, children=[values])

    def _check(self, offsets: Offsets, pieces: Pieces) -> None:
        """Hold the offsets against the items there are."""
        moved = offsets.firsts != 0
        first = (pieces.starts == 0) & moved
        if (first | (offsets.firsts < 0)).any():
            raise CorruptPage(
                "L.legacy.list.first-offset",
                self._pages.place,
                found=f"a first offset of {offsets.firsts[np.argmax(moved)]}",
                wanted="0",
            )
        if self._items.lengths is None:
            return
        stored = self._items.lengths[pieces.batches]
        ended = pieces.ends == self.lengths[pieces.batches]
        wrong = (offsets.lasts > stored) | (ended & (offsets.lasts != stored))
        if wrong.any():
            piece = int(np.argmax(wrong))
            raise OutOfRange(
                "L.legacy.list.items",
                self._pages.place,
                found=f"offsets up to {offsets.lasts[piece]}",
                wanted=f"{stored[piece]}, the items of the batch",
            )


def encode_list(array: pa.Array) -> tuple[bytes, pa.Array]:
    """Return the offsets of a page and the items they name, those below null lists included."""
    wide = pa.types.is_large_list(array.type)
    stored = np.frombuffer(array.buffers()[1] or bytes(8), np.int64 if wide else np.int32)
    own = stored[array.offset : array.offset + len(array) + 1]
    items = array.values.slice(int(own[0]), int(own[-1] - own[0]))
    return (own - own[0]).astype("<i8" if wide else "<i4").tobytes(), items
