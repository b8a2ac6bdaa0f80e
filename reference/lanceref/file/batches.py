"""Batches: arrays of many columns cut at the same rows.

Each column yields arrays cut where its own pages and chunks end. Here they are re-cut to batches of
a given number of rows; only a batch that straddles a cut is copied. Whole batches that lie in one
array of every column can be had together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.errors import LimitExceeded, Place
from lanceref.file.column_reader import ColumnReader
from lanceref.slices import nests_fixed_size_lists, whole


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


class Recutter:
    """The not yet delivered rest of one column's scan."""

    def __init__(self, arrays: Iterator[pa.Array]) -> None:
        self._arrays = arrays
        self._rest: pa.Array | None = None

    def ahead(self) -> int:
        """Return how many of the next rows lie in one array."""
        while not self._rest:
            self._rest = next(self._arrays)
        return len(self._rest)

    def next(self, rows: int) -> pa.Array:
        """Return the next `rows` rows, which the scan must still hold."""
        parts, missing = [], rows
        while missing:
            if self._rest is None:
                self._rest = next(self._arrays)
            part = self._rest.slice(0, missing)
            self._rest = self._rest.slice(missing) if missing < len(self._rest) else None
            missing -= len(part)
            parts.append(part)
        if len(parts) == 1:
            return whole(parts[0])
        try:
            return pa.concat_arrays(parts)
        except pa.ArrowInvalid as error:
            raise LimitExceeded(
                "L.page.limits.row", Place("batch", 0), found=str(error), wanted="smaller batches"
            ) from error
