"""Row index: where each row of a full-zip page begins.

Buffer 1 of a full-zip page with list layers or variable values.

Layout: page slots + 1 integers, each the offset of a row in buffer 0; the last one is the size of
buffer 0. Their width, 1, 2, 4 or 8 bytes, follows from the size of the index.

Clauses: L.page.rowindex.width, L.page.rowindex.order, L.page.rowindex.total

Divergences: D.page.fullzip-row-index
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor, Extent, FileBytes
from lanceref.core.errors import CorruptPage, Place


class RowIndex:
    """The index of one page: read whole by a scan, entry by entry by a take."""

    def __init__(
        self, file: FileBytes, extent: Extent, num_slots: int, data_bytes: int, place: Place
    ) -> None:
        width, rest = divmod(extent.size, num_slots + 1)
        if rest or width not in (1, 2, 4, 8):
            raise CorruptPage(
                "L.page.rowindex.width",
                place,
                found=f"{extent.size} bytes",
                wanted=f"{num_slots + 1} integers of 1, 2, 4 or 8 bytes",
            )
        self._file = file
        self._extent = extent
        self._width = width
        self._num_slots = num_slots
        self._data_bytes = data_bytes
        self._whole: NDArray[np.int64] | None = None

    def whole(self) -> NDArray[np.int64]:
        """Return all entries."""
        if self._whole is None:
            cursor = self._file.cursor(self._extent, "row index", "L.page.rowindex.width")
            self._record(cursor)
            entries = self._parse(cursor)
            place = self._file.ctx.at(*self._extent)
            if int(entries[0]) or int(entries[-1]) != self._data_bytes:
                raise CorruptPage(
                    "L.page.rowindex.total",
                    place,
                    found=f"rows from {int(entries[0])} to {int(entries[-1])}",
                    wanted=f"0 to {self._data_bytes}",
                )
            self._whole = entries
        return self._whole

    def rows(self, first: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
        """Return for each first slot the `slots` + 1 entries from there, as rows of a matrix."""
        if self._whole is not None:
            known: NDArray[np.int64] = self._whole[first[:, None] + np.arange(slots + 1)]
            return known
        size = (slots + 1) * self._width
        starts = self._extent.offset + first * self._width
        read, at = self._file.gather(
            starts, np.full(len(first), size), "row index", "L.page.rowindex.width"
        )
        stored = read[at[:, None] + np.arange(size)].view(f"<u{self._width}")
        return self._checked(stored, self._file.ctx.at(*self._extent))

    def _parse(self, cursor: Cursor) -> NDArray[np.int64]:
        place = cursor.ctx.at(cursor.offset, cursor.remaining)
        data = cursor.skip(cursor.remaining, "row index", "L.page.rowindex.width")
        return self._checked(np.frombuffer(data, f"<u{self._width}"), place)

    def _checked(self, stored: NDArray[np.unsignedinteger], place: Place) -> NDArray[np.int64]:
        """Return offsets that follow each other along the last axis."""
        if int(stored.max()) > self._data_bytes or (stored[..., 1:] < stored[..., :-1]).any():
            raise CorruptPage(
                "L.page.rowindex.order",
                place,
                found=f"offsets {stored.ravel()[:4].tolist()}…, up to {int(stored.max())}",
                wanted=f"ascending offsets up to {self._data_bytes}",
            )
        return stored.astype(np.int64)

    def _record(self, cursor: Cursor) -> None:
        if cursor.ctx.spans is None:
            return
        with cursor.ctx.group("row index", "L.page.rowindex.width"):
            for slot in range(self._num_slots + 1):
                at = cursor.offset + slot * self._width
                cursor.ctx.leaf(
                    at, at + self._width, f"start of row {slot}", f"row index u{8 * self._width}"
                )
