"""Rows of a fragment: what is left of its columns when deleted rows are taken out.

Row addresses are (fragment id << 32) + row offset; a row id is the address, or with stable row ids
what the fragment's sequence says. Both are columns of their own on demand.

Clauses: L.table.deletions.applied, L.table.row-ids.length
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.context import Context
from lanceref.file.batches import batches
from lanceref.file.schema import Field
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader
from lanceref.table.deletions import deletion_path, read_deletions
from lanceref.table.fragments import Fragment
from lanceref.table.row_ids import decode_row_ids

ROW_ID = "_rowid"
ROW_ADDRESS = "_rowaddr"

SYSTEM_COLUMNS = (ROW_ID, ROW_ADDRESS)
"""Columns that every table has on demand: uint64."""


class FragmentRows:
    """The live rows of one fragment."""

    def __init__(self, fragment: Fragment, bases: Bases, ctx: Context, stable_ids: bool) -> None:
        self.fragment = fragment
        self.columns = FragmentReader(fragment, bases, ctx)
        self._bases = bases
        self._ctx = ctx
        self._stable_ids = stable_ids

    @property
    def num_rows(self) -> int:
        """Rows that are not deleted, as the manifest says."""
        return self.columns.physical_rows - self.fragment.num_deleted

    @cached_property
    def deleted(self) -> NDArray[np.uint32]:
        """Offsets of the deleted rows: uint32, ascending."""
        entry = self.fragment.deletion_file
        if entry is None:
            return np.empty(0, np.uint32)
        path = deletion_path(self.fragment.id, entry, self._ctx.at(0))
        base = entry.base_id if entry.HasField("base_id") else None
        source = self._bases.open_deletion_file(path, base)
        ctx = replace(self._ctx, file=PurePosixPath(path).name)
        rows = self.columns.physical_rows
        return read_deletions(source, ctx, int(entry.num_deleted_rows), rows)

    @cached_property
    def _row_ids(self) -> NDArray[np.uint64] | None:
        """Stable ids of all physical rows; None when row ids are addresses."""
        message = self.fragment.message
        if not self._stable_ids or not message.HasField("inline_row_ids"):
            return None
        rows = self.columns.physical_rows
        for file in self.fragment.files[:1]:
            rows = self.columns.open(file).num_rows
        return decode_row_ids(message.inline_row_ids, rows, self._ctx, self._ctx.at(0))

    def scan(
        self, fields: Sequence[Field], system: Sequence[str], batch_size: int
    ) -> Iterator[list[pa.Array]]:
        """Yield the live rows, cut from batches of `batch_size` physical rows."""
        readers = [self.columns.column(field) for field in fields]
        end = self.columns.physical_rows
        at, first = 0, 0
        for arrays in batches(readers, 0, end, batch_size):
            rows = min(batch_size, end - first)
            offsets = np.arange(first, first + rows)
            stop = int(np.searchsorted(self.deleted, first + rows))
            if stop > at:
                live = np.ones(rows, np.bool_)
                live[self.deleted[at:stop].astype(np.int64) - first] = False
                arrays[:] = [array.filter(pa.array(live)) for array in arrays]
                offsets = offsets[live]
            at, first = stop, first + rows
            if len(offsets):
                yield [*arrays, *(self._system(name, offsets) for name in system)]

    def take(
        self, offsets: NDArray[np.int64], fields: Sequence[Field], system: Sequence[str]
    ) -> list[pa.Array]:
        """Return the rows at ascending physical `offsets`, read column by column."""
        arrays = [self.columns.column(field).take(offsets) for field in fields]
        return [*arrays, *(self._system(name, offsets) for name in system)]

    def physical(self, live: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the physical offsets of the `live`-th rows that are not deleted (ascending)."""
        if not len(self.deleted):
            return live
        before = self.deleted.astype(np.int64) - np.arange(len(self.deleted))
        return live + np.searchsorted(before, live, "right")

    def _system(self, name: str, offsets: NDArray[np.int64]) -> pa.Array:
        if name == ROW_ID and self._row_ids is not None:
            return pa.array(self._row_ids[offsets])
        return pa.array(offsets.astype(np.uint64) + np.uint64(self.fragment.id << 32))
