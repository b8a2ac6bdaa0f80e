"""Row ids of a query: where the rows with given ids lie.

Without stable row ids an id is an address: fragment and offset. What is deleted is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import RowNotFound
from lanceref.search.snapshot import Snapshot
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.rows import FragmentRows


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
