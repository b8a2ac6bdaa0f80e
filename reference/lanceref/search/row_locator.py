"""Row locator: where the rows with given addresses or ids are, among those of some fragments.

Without stable row ids the id of a row is its address: fragment and offset. The keys in the files of
an index are addresses or ids. Some of its rows are deleted, some have moved, some are in fragments
that the index does not cover or that its segment leaves out.

Clauses: L.index.fts.deleted-fragments, L.index.vector.row-id
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import OutOfRange, RowNotFound
from lanceref.core.integers import is_in
from lanceref.index.index_type import IndexType
from lanceref.index.predicate import Mask
from lanceref.index.row_set import LOW, NO_KEYS, SHIFT, Keys
from lanceref.index.segment import Moved
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.rows import FragmentRows, Fragments

Places = NDArray[np.int64]
"""Positions of rows in the table, or places of documents; negative for those that are not there."""

Locate: TypeAlias = Callable[[Keys], Places]

DELETED, BEYOND, NOWHERE = -1, -2, -3
"""Instead of a position: a deleted row, an offset beyond its fragment's rows, an unknown row."""


class RowLocator:
    """Returns the positions in the table of rows of some fragments, by their addresses or ids."""

    def __init__(self, fragments: Sequence[FragmentRows], *, by_address: bool) -> None:
        self.fragments = Fragments(sorted(fragments, key=lambda rows: rows.fragment.id))
        self._by_address = by_address

    def __call__(self, keys: Keys) -> Places:
        """Return the position of each row, else DELETED, BEYOND or NOWHERE."""
        if not self._by_address:
            return self._of_ids(keys)
        rows = self.numbers(keys)
        starts, deleted = self.starts, self._deleted
        at = np.searchsorted(starts, np.maximum(rows, 0), "right") - 1
        before = np.array([one.rows_before for one in self.fragments], np.int64) - starts
        before += np.searchsorted(deleted, starts)
        first = np.searchsorted(deleted, rows)
        positions = np.where(rows < 0, rows, before[at] + rows - first) if len(starts) else rows
        if len(deleted):
            gone = deleted[np.minimum(first, len(deleted) - 1)] == rows
            positions[gone] = DELETED
        return positions

    def numbers(self, keys: Keys) -> Places:
        """Return the number of each row among all rows of the fragments, deleted ones too.

        It is BEYOND or NOWHERE for those that are not there. `keys` and the result (n,).
        """
        if not self.fragments:
            return np.full(len(keys), NOWHERE, np.int64)
        owners, offsets = keys >> SHIFT, (keys & LOW).astype(np.int64)
        ids = self.fragments.ids
        at = np.minimum(np.searchsorted(ids, owners), len(ids) - 1)
        numbers = self.starts[at] + offsets
        numbers[offsets >= self._sizes[at]] = BEYOND
        numbers[ids[at] != owners] = NOWHERE
        return numbers

    @cached_property
    def _sizes(self) -> Places:
        return np.array([rows.columns.stated_rows for rows in self.fragments], np.int64)

    @cached_property
    def starts(self) -> Places:
        """Rows, deleted ones too, of the fragments before each: (fragments,)."""
        return np.asarray(np.cumsum(self._sizes) - self._sizes)

    @cached_property
    def _deleted(self) -> Places:
        pairs = zip(self.fragments, self.starts.tolist(), strict=True)
        own = [rows.deleted.astype(np.int64) + start for rows, start in pairs]
        return np.concatenate([np.empty(0, np.int64), *own])

    def _of_ids(self, keys: Keys) -> Places:
        positions = np.full(len(keys), NOWHERE, np.int64)
        for rows in self.fragments:
            ids, own = rows.by_id
            if len(ids):
                near = np.flatnonzero((keys >= ids[0]) & (keys <= ids[-1]))
                at = np.searchsorted(ids, keys[near])
                same = ids[at] == keys[near]
                positions[near[same]] = own[at[same]] + rows.rows_before
        return positions


def positions_of_ids(snapshot: Snapshot, ids: Sequence[int] | pa.Array) -> Places:
    """Return positions among the live rows of the table, as asked; deleted rows are left out.

    Raises RowNotFound for an address of no fragment, or beyond the rows of its fragment. int64
    The result is (rows,).
    """
    keys, table = np.asarray(ids, np.uint64), snapshot.fragments
    by_address, fragments = not snapshot.stable_row_ids, [*table]
    if by_address:  # no other deletion files are read
        named = np.flatnonzero(is_in(table.ids, keys >> SHIFT))
        fragments = [table[at] for at in named.tolist()]
    positions = RowLocator(fragments, by_address=by_address)(keys)
    unknown = positions < DELETED
    if by_address and unknown.any():
        raise RowNotFound(f"no fragment has a row with address {int(keys[unknown][0])}")
    return positions[positions >= 0]


def locator(
    index: IndexType, fragments: Sequence[FragmentRows], excluded: Keys = NO_KEYS
) -> Locate:
    """Return a locator of the rows of a segment among those of the fragments that it covers.

    Keys of `excluded` fragments (n,) are not found.
    """
    locate = RowLocator(fragments, by_address=index.by_address)
    moves = index.segment.moves if index.by_address else None

    def located(keys: Keys) -> Places:
        positions = np.full(len(keys), NOWHERE, np.int64)
        if moves is None:
            positions[:] = locate(keys)
        else:
            kept, now = moves(keys)
            positions[kept] = locate(now)
        if len(excluded):
            positions[np.isin(keys >> SHIFT, excluded)] = NOWHERE
        return positions

    return located


def live_rows(
    index: IndexType, fragments: Sequence[FragmentRows], condition: Condition | None
) -> Moved:
    """Return a function from keys of a segment to those of live rows in the fragments it covers.

    It returns a mask of the keys of rows that live and pass the filter, and these keys as they are
    now. It raises OutOfRange for an address beyond the rows of its fragment.
    """
    segment, by_address = index.segment, index.by_address
    locate = RowLocator(fragments, by_address=by_address)
    whole = condition is None and not (by_address and any(len(one.deleted) for one in fragments))
    size = sum(rows.columns.stated_rows for rows in fragments)
    if not by_address:
        size = max((rows.rows_before + rows.num_rows for rows in fragments), default=0)
    mask = np.zeros(0 if whole else size, np.bool_)  # by number, or position in the table
    for at, rows in enumerate(() if whole else locate.fragments):
        chosen = np.arange(rows.num_rows) if condition is None else condition.positions(rows)
        if by_address:
            mask[locate.starts[at] + rows.offsets(chosen)] = True
        else:
            mask[rows.rows_before + chosen] = True

    def live(keys: Keys) -> tuple[Mask, Keys]:
        rows = locate.numbers(keys) if by_address else locate(keys)
        if by_address and (rows == BEYOND).any():
            address = int(keys[np.argmax(rows == BEYOND)])
            given = f"row address {address} in {segment.folder}"
            raise OutOfRange("L.index.vector.row-id", segment.place, given, "a row of its fragment")
        kept = rows >= 0
        if not whole:
            kept[kept] = mask[rows[kept]]
        return kept, keys if kept.all() else keys[kept]

    return segment.then(live) if by_address else live


def cached_moves(moved: Moved) -> Moved:
    """Return a function that keeps the result for the keys of each partition, by their array."""
    results: dict[int, tuple[Keys, tuple[Mask, Keys]]] = {}

    def cached(keys: Keys) -> tuple[Mask, Keys]:
        if id(keys) not in results:
            results[id(keys)] = keys, moved(keys)
        return results[id(keys)][1]

    return cached
