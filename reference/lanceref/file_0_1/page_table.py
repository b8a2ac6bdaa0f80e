"""Page table: where the pages of every field lie.

A matrix of pairs, one row for each integer from the least field id of the file to the greatest with
a page, one column for each batch. Ids without a field leave holes; structs and holes are pairs of
zeros. Statistics have a table of their own, with one batch.

Layout: for field id f from `first_id`, for batch b: i64 position, i64 length at
`position + ((f - first_id) * num_batches + b) * 16`. The length counts rows or items, for lists
offsets: one more than rows.

Clauses: L.legacy.page-table.extent, L.legacy.page-table.range, L.legacy.page-table.length,
L.legacy.page-table.holes, L.legacy.page-table.first-id

Divergences: D.legacy.struct-runs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import OutOfRange, Place

PAIR_BYTES = 16
"""Size of one pair."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one field by batch: absolute positions and lengths, each of shape (batches,).

    Pages end at `data_end`; `place` is where the pairs lie.
    """

    positions: Numbers
    lengths: Numbers
    data_end: int
    place: Place

    def require(self, lengths: Numbers | None, bits: int, tail_bytes: int = 0) -> None:
        """Check that pages of `bits` a value, with `tail_bytes` more, lie before `data_end`.

        With `lengths` each page must have just that many values.
        """
        most = self.data_end * 8 // bits if bits else np.iinfo(np.int64).max
        wrong = self.lengths < 0 if lengths is None else self.lengths != lengths
        if wrong.any():
            batch = int(np.argmax(wrong))
            raise OutOfRange(  # L.legacy.page-table.length
                "L.legacy.page-table.length",
                self.place,
                found=f"a page of length {self.lengths[batch]} in batch {batch}",
                wanted="0 or more" if lengths is None else int(lengths[batch]),
            )
        fitting = np.minimum(self.lengths, most)
        sizes = (fitting * min(bits, self.data_end * 8) + 7) // 8 + tail_bytes
        low, high = self.positions < 0, self.positions > self.data_end
        wrong = low | high | (self.lengths > most) | (sizes > self.data_end - self.positions)
        if wrong.any():
            batch = int(np.argmax(wrong))
            raise OutOfRange(  # L.legacy.page-table.range
                "L.legacy.page-table.range",
                self.place,
                found=f"a page of length {self.lengths[batch]} at {self.positions[batch]}",
                wanted=f"a page inside bytes 0 to {self.data_end}, of {bits} bits a value",
            )


@dataclass(frozen=True, slots=True)
class PageTable:
    """A parsed table: `pairs` has shape (fields, batches, 2); pages end at `data_end`."""

    pairs: Numbers
    first_id: int
    extent: Extent
    data_end: int
    file: FileBytes

    @property
    def num_batches(self) -> int:
        """Batches of the file."""
        return int(self.pairs.shape[1])

    def pages(self, field_id: int) -> Pages | None:
        """Return the pages of a field, None when the table has no row for it."""
        row = field_id - self.first_id
        if not 0 <= row < len(self.pairs):
            return None
        size = self.num_batches * PAIR_BYTES
        place = self.file.ctx.at(self.extent.offset + row * size, size)
        return Pages(self.pairs[row, :, 0], self.pairs[row, :, 1], self.data_end, place)

    def lint_holes(self, holes: set[int]) -> None:
        """Lint: rows of structs and of ids without a field are zeros."""
        for row in range(len(self.pairs)):
            if self.first_id + row in holes and self.pairs[row].any():
                pages = self.pages(self.first_id + row)
                assert pages is not None
                self.file.ctx.lint(
                    "L.legacy.page-table.holes",
                    pages.place,
                    found=f"pages for id {self.first_id + row}",
                    wanted="zeros, where no field has pages",
                )


def parse_page_table(
    file: FileBytes, position: int, ids: tuple[int, int], num_batches: int, ends: tuple[int, int]
) -> PageTable:
    """Parse the table for ids `first` to `last`.

    `ends` bounds the table itself and the pages it lists. Raises OutOfRange.
    """
    (first, last), (table_end, data_end) = ids, ends
    extent = Extent(position, (last - first + 1) * num_batches * PAIR_BYTES)
    if extent.end > table_end:
        raise OutOfRange(  # L.legacy.page-table.extent
            "L.legacy.page-table.extent",
            file.ctx.at(min(position, file.size), 0),
            found=f"a page table of {extent.size} bytes at {position}",
            wanted=f"a table that ends before {table_end}",
        )
    cursor = file.cursor(extent, "page table", "L.legacy.page-table.extent")
    with file.ctx.group("page table"):
        rows = [
            cursor.array(
                "<i8",
                2 * num_batches,
                f"pages of id {f}",
                "L.legacy.page-table.extent",
                "pages i64",
            )
            for f in range(first, last + 1)
        ]
    pairs = np.concatenate(rows).astype(np.int64).reshape(len(rows), num_batches, 2)
    return PageTable(pairs, first, extent, data_end, file)


def write_page_table(pages: Mapping[int, list[tuple[int, int]]], ids: range, batches: int) -> bytes:
    """Return the table of `ids`: for each batch (position, length), zeros where there is none."""
    return b"".join(_pairs(pages, ids, batches))


def _pairs(pages: Mapping[int, list[tuple[int, int]]], ids: range, batches: int) -> Iterator[bytes]:
    for field_id in ids:
        yield np.array(pages.get(field_id, [(0, 0)] * batches), dtype="<i8").tobytes()
