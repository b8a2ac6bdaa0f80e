"""Row locator: at which positions of the table the rows of a segment are.

The keys in its files are addresses or ids of rows. Some rows are deleted, some have moved, and some
lie in fragments that the segment itself leaves out.

Clauses: L.index.fts.deleted-fragments
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.integers import unique
from lanceref.index.row_set import SHIFT, Keys
from lanceref.index.segment import Moves
from lanceref.search.text_parts import Places
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows

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
