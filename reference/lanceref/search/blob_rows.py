"""Blob rows: the blobs of chosen rows of a table, which are located and not yet read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lanceref.blobs.descriptors import BlobRange
from lanceref.core.errors import ColumnNotFound, NotFound, RowDeleted
from lanceref.core.integers import unique_inverse, unsigned
from lanceref.file.schema import Field
from lanceref.file.schema_view import from_start, project
from lanceref.index.row_set import Keys
from lanceref.search.row_locator import DELETED, Places, RowLocator
from lanceref.search.snapshot import Snapshot, positions_of
from lanceref.table.fragments import addresses as addresses_of
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

Rows: TypeAlias = Sequence[int] | pa.Array | None
"""Row ids, row addresses or positions."""


def locate_blobs(
    snapshot: Snapshot, column: str, ids: Rows, addresses: Rows, indices: Rows
) -> list[tuple[int, BlobRange | None]]:
    """Return the address of each chosen row and its blob, None for a null.

    Raises ValueError unless exactly one way of choosing is given and for a column that holds no
    blobs, NotFound for an unknown row or column, RowDeleted where all unknown rows are deleted.
    """
    choices = [rows for rows in (ids, addresses, indices) if rows is not None]
    if len(choices) != 1:
        raise ValueError("Exactly one of ids, indices, or addresses must be specified")
    try:
        (field,) = project(snapshot.schema(BlobHandling.DESCRIPTIONS), [column])
    except NotFound as error:
        raise ColumnNotFound(f"{error}") from error
    leaf = field
    while len(leaf.children) == 1:
        (leaf,) = leaf.children
    if not (leaf.is_blob or leaf.is_blob_v2) or not pa.types.is_struct(leaf.arrow.type):
        raise ValueError(f"the column {column!r} is not a blob column")
    rows = choices[0] if isinstance(choices[0], pa.Array) else [unsigned(row) for row in choices[0]]
    keys = np.asarray(rows, np.uint64)
    if indices is not None:
        positions = positions_of(keys, snapshot.fragments.num_rows)
    else:
        by_address = ids is None or not snapshot.stable_row_ids
        positions = RowLocator(snapshot.fragments, by_address=by_address)(keys)
        _check_known(positions, keys, by_address=by_address)
    unique, back = unique_inverse(positions)
    parts = snapshot.fragments.split(unique)
    blobs = [blob for rows, chosen in parts for blob in _read(rows, field, chosen).items()]
    return [blobs[at] for at in back.tolist()]


def _check_known(positions: Places, keys: Keys, *, by_address: bool) -> None:
    """Raise NotFound, or RowDeleted where all missing rows are known to be deleted."""
    missing = positions < 0
    if not missing.any():
        return
    if by_address and (positions[missing] == DELETED).all():
        found = f"{missing.sum()} of {len(keys)} are"
        refused = "A take operation that includes row addresses must not target deleted rows"
        raise RowDeleted(f"{refused}: {found}")
    raise NotFound(f"no row {int(keys[missing].min())}")


def _read(fragment: FragmentRows, field: Field, positions: Places) -> dict[int, BlobRange | None]:
    """Return the blobs of ascending rows of one fragment, by the addresses of these."""
    (array,) = fragment.take(positions, (field,), ())
    below = field
    while below.children:
        (below,), array = below.children, from_start(array).flatten()[0]
    offsets = fragment.offsets(positions)
    files = fragment.columns.blob_files(field, offsets)
    keys = addresses_of(fragment.fragment.id, offsets).tolist()
    located: dict[int, BlobRange | None] = dict.fromkeys(keys)
    for own in dict.fromkeys(files):
        rows = [row for row, file in enumerate(files) if file is own]
        for row, blob in zip(rows, own.locate(array.take(pa.array(rows))), strict=True):
            located[keys[row]] = blob
    return located
