"""Blobs of a snapshot: which bytes of which file the chosen rows hold.

Rows are chosen by position among the live ones, by address or by row id, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lanceref.blobs.descriptors import BlobRange
from lanceref.core.arrow_buffers import from_start
from lanceref.core.errors import ColumnNotFound, NotFound, RowDeleted
from lanceref.core.integers import unsigned
from lanceref.file.arrow_schema import project
from lanceref.file.schema import Field
from lanceref.index.row_set import Keys
from lanceref.search.row_locator import DELETED, Places, RowLocator
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS, FragmentRows

Rows: TypeAlias = Sequence[int] | pa.Array


def locate_blobs(
    snapshot: Snapshot,
    column: str,
    ids: Rows | None,
    addresses: Rows | None,
    indices: Rows | None,
) -> list[BlobRange | None]:
    """Return the blob of each chosen row, None for a null.

    Raises ValueError unless exactly one way of choosing is given and for a column that holds no
    blobs, NotFound for an unknown row or column, RowDeleted where all unknown rows are deleted.
    """
    given = [rows for rows in (ids, addresses, indices) if rows is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of ids, indices, or addresses must be specified")
    try:
        (field,) = project(snapshot.schema(BlobHandling.DESCRIPTIONS), [column])
    except NotFound as error:
        raise ColumnNotFound(f"{error}") from error
    leaf = field
    while len(leaf.children) == 1:
        (leaf,) = leaf.children
    if not leaf.is_blob and not leaf.is_blob_v2:
        raise ValueError(f"the column {column!r} is not a blob column")
    rows = given[0] if isinstance(given[0], pa.Array) else [unsigned(row) for row in given[0]]
    keys = np.asarray(rows, np.uint64)
    if indices is None:
        by_address = ids is None or not snapshot.stable_row_ids
        positions = RowLocator(snapshot.fragments, by_address=by_address)(keys)
        name = ROW_ADDRESS if ids is None else ROW_ID
        _check_known(positions, keys, name, by_address=by_address)
    else:
        count = snapshot.fragments.num_rows
        if len(keys) and int(keys.max()) >= count:
            raise NotFound(f"row {int(keys.max())} of {count} rows")
        positions = keys.astype(np.int64)
    owners = np.searchsorted(snapshot.fragments.ends, positions, "right")
    blobs: list[BlobRange | None] = [None] * len(keys)
    for number in np.unique(owners).tolist():
        fragment, mine = snapshot.fragments[number], np.flatnonzero(owners == number)
        located = _read(fragment, field, positions[mine] - fragment.rows_before)
        for row, blob in zip(mine.tolist(), located, strict=True):
            blobs[row] = blob
    return blobs


def _check_known(positions: Places, keys: Keys, name: str, *, by_address: bool) -> None:
    """Raise NotFound, or RowDeleted where all missing rows are known to be deleted."""
    missing = positions < 0
    if not missing.any():
        return
    if by_address and (positions[missing] == DELETED).all():
        raise RowDeleted(
            f"Expected {len(keys)} rows, got {len(np.unique(keys[~missing]))}. A take operation "
            "that includes row addresses must not target deleted rows."
        )
    raise NotFound(f"no row with {name} {int(keys[missing].min())}")


def _read(fragment: FragmentRows, field: Field, positions: Places) -> list[BlobRange | None]:
    """Return the blobs of rows of one fragment."""
    unique, back = np.unique(positions, return_inverse=True)
    (array,) = fragment.take(unique, (field,), ())
    below = field
    while below.children:
        (below,), array = below.children, from_start(array).flatten()[0]
    files = fragment.columns.blob_files(field, fragment.offsets(unique))
    located: list[BlobRange | None] = [None] * len(unique)
    for own in dict.fromkeys(files):
        rows = [row for row, file in enumerate(files) if file is own]
        for row, blob in zip(rows, own.locate(array.take(pa.array(rows))), strict=True):
            located[row] = blob
    return [located[at] for at in back.tolist()]
