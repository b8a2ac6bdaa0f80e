"""Rows of a fragment: its columns without the deleted rows.

A row address is (fragment id << 32) + row offset; a row id is the address, or with stable row ids
the value of the fragment's sequence. Row ids, the versions that made and last changed a row, and
its position among all live rows of the table are system columns.

Clauses: L.table.deletions.applied
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import nests_fixed_size_lists, whole
from lanceref.core.context import Context
from lanceref.core.file_versions import V0_1, V2_1
from lanceref.file.column_io import batches
from lanceref.file.schema import Field
from lanceref.pages.column import check_required
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader
from lanceref.table.deletions import deletion_path, read_deletions
from lanceref.table.file_entries import base_of
from lanceref.table.fragments import Fragment, addresses
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID, Values, open_lineage

ROW_ADDRESS = "_rowaddr"

ROW_OFFSET = "_rowoffset"
"""Position of a row among the live rows of the table."""

SYSTEM_COLUMNS = (ROW_ID, ROW_ADDRESS, ROW_OFFSET, CREATED_AT, LAST_UPDATED_AT)
"""Columns that every table has on demand: uint64."""

POSITION = "_position"
"""Column that is never shown: the place of a row among those of a snapshot, all or live ones."""

KEPT_ROWS = 1 << 16
"""A scan of fewer rows of a fragment, but not of all, is likely to be followed by another."""
Offsets = NDArray[np.int64]

NO_OFFSETS = np.empty(0, np.int64)


class FragmentRows:
    """The live rows of one fragment; positions count them, offsets count the deleted ones too."""

    def __init__(self, fragment: Fragment, bases: Bases, ctx: Context, stable_ids: bool) -> None:
        self.fragment = fragment
        self._bases = bases
        self._ctx = ctx
        self._stable_ids = stable_ids
        self._previous: FragmentRows | None = None
        self._lineage: dict[str, Values] = {}

    @cached_property
    def columns(self) -> FragmentReader:
        """The columns of the fragment, deleted rows among them."""
        return FragmentReader(self.fragment, self._bases, self._ctx)

    @property
    def num_rows(self) -> int:
        """Rows that are not deleted, as in the manifest."""
        stated = self.fragment.physical_rows or self.columns.stated_rows
        return max(0, stated - self.num_deleted)

    @property
    def num_deleted(self) -> int:
        """Rows that are deleted; early manifests leave the count to the deletion file."""
        stated = self.fragment.num_deleted
        return len(self.deleted) if not stated and self.fragment.deletion_file else stated

    def with_deleted(self) -> FragmentRows:
        """Return the same with the deleted rows among the live ones, their id and address null."""
        return _AllRows(self)

    @cached_property
    def rows_before(self) -> int:
        """Live rows of the table before those of this fragment."""
        unknown, one = [], self._previous
        while one is not None and "rows_before" not in vars(one):
            unknown.append(one)
            one = one._previous
        before = 0 if one is None else one.rows_before + one.num_rows
        for rows in reversed(unknown):
            vars(rows)["rows_before"] = before
            before += rows.num_rows
        return before

    @cached_property
    def deleted(self) -> Offsets:
        """Offsets of the deleted rows, ascending: (deleted rows,). Raises FormatError."""
        entry = self.fragment.deletion_file
        if entry is None:
            return NO_OFFSETS
        path = deletion_path(self.fragment.id, entry, self.fragment.place)
        source = self._bases.open_listed_file(path, base_of(entry))
        ctx = replace(self._ctx, file=PurePosixPath(path).name)
        stated = int(entry.num_deleted_rows) or None
        return read_deletions(source, ctx, stated, self.columns.stated_rows).astype(np.int64)

    @cached_property
    def _live_before(self) -> Offsets:
        """How many live rows come before each deleted one."""
        return self.deleted - np.arange(len(self.deleted))

    @cached_property
    def by_id(self) -> tuple[NDArray[np.uint64], Offsets]:
        """The ids of the live rows, ascending, and the position of each. Both are (live rows,)."""
        count = min(self.num_rows, self.columns.bounded_rows)
        (ids,) = self.take(np.arange(count), (), (ROW_ID,))
        own = ids.to_numpy()
        order = np.argsort(own, kind="stable")
        return own[order], order

    def offsets(self, positions: Offsets) -> Offsets:
        """Return the offsets of the live rows at ascending `positions`.

        `positions` and the result (n,).
        """
        if not len(self.deleted):
            return positions
        return positions + np.searchsorted(self._live_before, positions, "right")

    def positions(self, offsets: Offsets) -> Offsets:
        """Return the positions of the rows at ascending `offsets`; deleted ones are left out.

        `offsets` (n,), the result (live rows,).
        """
        before = np.searchsorted(self.deleted, offsets, "right")
        if not len(self.deleted):
            return offsets
        live = self.deleted[np.maximum(before - 1, 0)] != offsets
        return np.asarray((offsets - before)[live], np.int64)

    def scan(
        self,
        fields: Sequence[Field],
        system: Sequence[str],
        batch_size: int,
        start: int,
        end: int,
        *,
        uncut: bool = False,
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Yield the live rows at positions start..end: number of rows, fields, system columns.

        `batch_size` at a time, or `uncut`: see `batches`.
        """
        uncut &= not any(nests_fixed_size_lists(field.arrow.type) for field in fields)
        columns, first = [self._live(field, start, end) for field in fields], start
        for rows, arrays in batches(columns, start, end, batch_size, uncut=uncut):
            offsets = self.offsets(np.arange(first, first + rows)) if system else NO_OFFSETS
            yield rows, [*arrays, *(self._system(name, offsets) for name in system)]
            first += rows
        self.columns.end_call()

    def take(
        self, positions: Offsets, fields: Sequence[Field], system: Sequence[str]
    ) -> list[pa.Array]:
        """Return the live rows at ascending `positions`, read column by column.

        `positions` (n,).
        """
        offsets = self.offsets(positions)
        column = self.columns.cached_column
        arrays = [self._checked(field, column(field).take(offsets)) for field in fields]
        arrays += [self._system(name, offsets) for name in system]
        self.columns.end_call()
        return arrays

    def _live(self, field: Field, start: int, end: int) -> Iterator[pa.Array]:
        """Yield the live rows start..end of one column, cut where the column likes."""
        is_part = end - start < min(KEPT_ROWS, self.num_rows)  # other scans keep no page tables
        reader = (self.columns.cached_column if is_part else self.columns.column)(field)
        if start >= end:
            return
        at, last = self.offsets(np.array([start, end - 1])).tolist()
        for array in reader.scan(at, last + 1):
            first, stop = np.searchsorted(self.deleted, [at, at + len(array)])
            # L.table.deletions.applied
            if first == stop:
                yield self._checked(field, array)
            else:
                live = np.ones(len(array), np.bool_)
                live[self.deleted[first:stop] - at] = False
                yield self._checked(field, whole(array).filter(pa.array(live)))
            at += len(array)

    def _checked(self, field: Field, array: pa.Array) -> pa.Array:
        """Return live values, which their file has not been held to where rows are deleted."""
        versions = [file.version for file in self.fragment.files]
        if self.fragment.deletion_file is not None and max(versions, default=V0_1) >= V2_1:
            check_required(field, array, self.fragment.place)  # L.page.required.null
        return array

    def _system(self, name: str, offsets: Offsets) -> pa.Array:
        if name in (ROW_OFFSET, POSITION):
            positions = offsets - np.searchsorted(self.deleted, offsets) + self.rows_before
            return pa.array(positions.astype(np.uint64))
        if name == ROW_ADDRESS or (name == ROW_ID and not self._stable_ids):
            return pa.array(addresses(self.fragment.id, offsets))
        if name not in self._lineage:
            self._lineage[name] = open_lineage(name, self.columns, self._ctx)
        return pa.array(self._lineage[name].at(offsets))


class _AllRows(FragmentRows):
    """All rows of a fragment; deleted ones have neither id nor address."""

    def __init__(self, live: FragmentRows) -> None:
        super().__init__(live.fragment, live._bases, live._ctx, live._stable_ids)
        self._only_live = live

    @property
    def num_rows(self) -> int:
        """Rows of the fragment."""
        return self.columns.stated_rows

    @cached_property
    def deleted(self) -> Offsets:
        """Nothing: deleted rows are rows here: (deleted rows,)."""
        return np.empty(0, np.int64)

    def _checked(self, field: Field, array: pa.Array) -> pa.Array:
        return array

    def _system(self, name: str, offsets: Offsets) -> pa.Array:
        if name == ROW_OFFSET:  # the live rows before it
            return self._only_live._system(name, offsets)
        values = super()._system(name, offsets)
        if name not in (ROW_ID, ROW_ADDRESS):
            return values
        return pa.array(values.to_numpy(), mask=np.isin(offsets, self._only_live.deleted))


class Fragments(tuple[FragmentRows, ...]):
    """The fragments of a table, in their order."""

    @cached_property
    def ids(self) -> NDArray[np.uint64]:
        """The id of each fragment, in the order of the table: (fragments,)."""
        return np.array([rows.fragment.id for rows in self], np.uint64)

    @cached_property
    def ends(self) -> Offsets:
        """The live rows of the table up to the end of each: (fragments,)."""
        ends = accumulate(rows.num_rows for rows in self)  # a file may state any number
        return np.array([min(end, 2**63 - 1) for end in ends], np.int64)

    @cached_property
    def num_rows(self) -> int:
        """The number of live rows of the whole table."""
        return sum(rows.num_rows for rows in self)

    def split(self, positions: Offsets) -> Iterator[tuple[FragmentRows, Offsets]]:
        """Yield the fragments that have some live rows of the table, with their rows among these.

        `positions` (n,), ascending, become positions in the fragment.
        """
        owners = np.searchsorted(self.ends, positions, "right")
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        parts = np.split(positions, starts[1:])
        for rows, own in zip([self[one] for one in owners[starts].tolist()], parts):
            yield rows, own - rows.rows_before


def in_order(fragments: Sequence[FragmentRows]) -> Fragments:
    """Return the fragments of a table, so that each knows how many rows come before it."""
    for previous, rows in pairwise(fragments):
        rows._previous = previous
    return Fragments(fragments)
