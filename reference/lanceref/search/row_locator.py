"""Row locator: at which positions of the table the rows of a segment are.

The keys in its files are addresses or ids of rows. Some rows are deleted, some have moved, and some
lie in fragments that the segment itself leaves out.

Clauses: L.index.fts.deleted-fragments

Row ids of a query: where the rows with given ids lie.

Without stable row ids an id is an address: fragment and offset. What is deleted is left out.

Live rows: which keys of a segment are of rows that count, and the ids these have now.

A row counts that lives in a fragment that the segment covers, and passes the filter if one is asked
before.

Clauses: L.index.vector.row-id
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import OutOfRange, RowNotFound
from lanceref.core.integers import unique
from lanceref.index.row_set import LOW, SHIFT, Keys
from lanceref.index.segment import Moved, Moves, Segment
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows

Places = NDArray[np.int64]
"""Positions of rows in the table, or places of documents; -1 for those that are deleted."""

Locate: TypeAlias = Callable[[Keys], Places]
"""Returns the positions of rows, -1 for those that are gone or elsewhere now."""


def locator(
    fragments: Sequence[FragmentRows],
    moves: Moves | None,
    without: NDArray[np.uint32],
    by_address: bool,
) -> Locate:
    """Return what finds the rows of a segment among those of the fragments that it covers.

    `moves` says where rows are now whose addresses are in the files. Keys of the fragments
    `without` are not found.
    """
    locate: Locate = _Locator(fragments, by_address).places
    if moves is not None:
        locate = _where_now(moves, locate)
    return _without(without, locate) if len(without) else locate


class _Locator:
    """Says at which live positions of the table rows are, among those of some fragments."""

    def __init__(self, fragments: Sequence[FragmentRows], by_address: bool) -> None:
        self._by_address = by_address
        self._fragments = {rows.fragment.id: rows for rows in fragments}

    @cached_property
    def _by_id(self) -> tuple[Keys, Places]:
        """Row ids, ascending, and the position of each."""
        ids, positions = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        for rows in self._fragments.values():
            own = np.arange(rows.num_rows)
            ids.append(rows.take(own, (), (ROW_ID,))[0].to_numpy())
            positions.append(own + rows.rows_before)
        all_ids = np.concatenate(ids)
        order = np.argsort(all_ids, kind="stable")
        return all_ids[order], np.concatenate(positions)[order]

    def places(self, keys: Keys) -> Places:
        """Return the positions of rows, -1 for those that are gone or elsewhere now."""
        if not self._by_address:
            return _looked_up(keys, *self._by_id)
        found = np.full(len(keys), -1, np.int64)
        owners = (keys >> SHIFT).astype(np.int64)
        for number in unique(owners).tolist():
            rows = self._fragments.get(number)
            if rows is None:
                continue
            own = np.flatnonzero(owners == number)
            offsets = (keys[own] & np.uint64(0xFFFFFFFF)).astype(np.int64)
            found[own] = _live_positions(rows, offsets)
        return found


def _live_positions(rows: FragmentRows, offsets: Places) -> Places:
    """Return the positions of rows of a fragment, -1 for those that are not there."""
    deleted = rows.deleted
    before = np.searchsorted(deleted, offsets, "right")
    there = offsets < rows.num_rows + len(deleted)
    if len(deleted):
        there &= deleted[np.maximum(before - 1, 0)] != offsets
    return np.where(there, offsets - before + rows.rows_before, -1)


def _where_now(moves: Moves, locate: Locate) -> Locate:
    """Return `locate` for the addresses in the files of a segment, whose rows have moved."""

    def places(keys: Keys) -> Places:
        kept, now = moves(keys)
        found = np.full(len(keys), -1, np.int64)
        found[kept] = locate(now)
        return found

    return places


def _without(fragments: NDArray[np.uint32], locate: Locate) -> Locate:
    """Return `locate` that finds no row of some fragments."""

    def places(keys: Keys) -> Places:
        return np.where(np.isin(keys >> SHIFT, fragments), -1, locate(keys))

    return places


def _looked_up(keys: Keys, ascending: Keys, values: Places) -> Places:
    """Return the value of each key, -1 for one that is not there."""
    if not len(ascending):
        return np.full(len(keys), -1, np.int64)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.where(ascending[at] == keys, values[at], -1)


def positions_of_ids(snapshot: Snapshot, ids: Sequence[int] | pa.Array) -> NDArray[np.int64]:
    """Return positions among the live rows of the table, as asked; deleted rows are left out.

    Raises RowNotFound for an address of no fragment, or behind the rows of its fragment.
    """
    wanted = np.asarray(ids, np.uint64)
    found = np.full(len(wanted), -1, np.int64)
    known = np.zeros(len(wanted), np.bool_)
    named = set((wanted // np.uint64(ADDRESS_LIMIT)).tolist())
    for rows in snapshot.fragments:
        if not snapshot.stable_row_ids and rows.fragment.id not in named:
            continue
        places = _by_id(rows, wanted) if snapshot.stable_row_ids else _by_address(rows, wanted)
        mine = np.flatnonzero(places >= -1)
        known[mine] = True
        live = mine[places[mine] >= 0]
        if len(live):
            found[live] = places[live] + rows.rows_before
    if not snapshot.stable_row_ids and not known.all():
        raise RowNotFound(f"no fragment has a row with address {int(wanted[~known][0])}")
    return found[found >= 0]


def _by_address(rows: FragmentRows, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the position in a fragment for each address: -1 when deleted, -2 when not there."""
    owners, offsets = np.divmod(wanted, np.uint64(ADDRESS_LIMIT))
    places = offsets.astype(np.int64)
    mine = (owners == rows.fragment.id) & (places < rows.columns.stated_rows)
    before = np.searchsorted(rows.deleted, places)
    gone = np.isin(places, rows.deleted)
    return np.where(mine, np.where(gone, -1, places - before), -2)


def _by_id(rows: FragmentRows, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the position in a fragment for each id, -2 when not there."""
    ids, positions = rows.by_id
    if not len(ids):
        return np.full(len(wanted), -2, np.int64)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, positions[at], -2)


Mask = NDArray[np.bool_]


def live_rows(
    segment: Segment,
    fragments: Sequence[FragmentRows],
    condition: Condition | None,
    *,
    by_address: bool,
) -> Moved:
    """Return what says of keys which rows of some fragments they are."""
    if by_address:
        return segment.then(_Addresses(segment, fragments, condition))
    return _Ids(fragments, condition)


class Remembered:
    """Asks once about the keys of each partition, which stay the same array."""

    def __init__(self, moved: Moved) -> None:
        self._moved = moved
        self._found: dict[int, tuple[Keys, tuple[Mask, Keys]]] = {}

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if id(keys) not in self._found:
            self._found[id(keys)] = keys, self._moved(keys)
        return self._found[id(keys)][1]


class _Addresses:
    """Looks addresses up in one mask over the rows of all fragments."""

    def __init__(
        self,
        segment: Segment,
        fragments: Sequence[FragmentRows],
        condition: Condition | None,
    ) -> None:
        fragments = sorted(fragments, key=lambda rows: rows.fragment.id)
        self._segment = segment
        self._owners = np.array([rows.fragment.id for rows in fragments], np.uint64)
        self._sizes = np.array([rows.columns.stated_rows for rows in fragments], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        whole = condition is None and not any(len(rows.deleted) for rows in fragments)
        self._mask = None if whole else self._live(fragments, condition)

    def _live(self, fragments: Sequence[FragmentRows], condition: Condition | None) -> Mask:
        mask = np.zeros(int(self._sizes.sum()), np.bool_)
        for start, rows in zip(self._starts.tolist(), fragments, strict=True):
            chosen = np.arange(rows.num_rows) if condition is None else condition.positions(rows)
            mask[start + rows.offsets(chosen)] = True
        return mask

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if not len(self._owners):
            return np.zeros(len(keys), np.bool_), keys[:0]
        owners, offsets = keys >> SHIFT, (keys & LOW).astype(np.int64)
        places = np.minimum(np.searchsorted(self._owners, owners), len(self._owners) - 1)
        kept = self._owners[places] == owners
        beyond = kept & (offsets >= self._sizes[places])
        if beyond.any():
            raise OutOfRange(
                "L.index.vector.row-id",
                self._segment.place,
                found=f"row address {int(keys[np.argmax(beyond)])} in {self._segment.folder}",
                wanted=f"one of {int(self._sizes[places[np.argmax(beyond)]])} rows",
            )
        if self._mask is not None:
            kept[kept] = self._mask[(self._starts[places] + offsets)[kept]]
        return kept, keys if kept.all() else keys[kept]


class _Ids:
    """Looks ids up among those of all rows that count."""

    def __init__(self, fragments: Sequence[FragmentRows], condition: Condition | None) -> None:
        parts = [np.empty(0, np.uint64)]
        for rows in fragments:
            chosen = np.arange(rows.num_rows) if condition is None else condition.positions(rows)
            parts.append(rows.take(chosen, (), (ROW_ID,))[0].to_numpy())
        self._ids = np.sort(np.concatenate(parts))

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if not len(self._ids):
            return np.zeros(len(keys), np.bool_), keys[:0]
        places = np.minimum(np.searchsorted(self._ids, keys), len(self._ids) - 1)
        kept = self._ids[places] == keys
        return kept, keys[kept]
