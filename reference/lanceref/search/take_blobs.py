"""Blobs of a snapshot: which bytes of which file the chosen rows hold.

Rows are chosen by position among the live ones, by address or by row id, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.blob_reader import BlobRange
from lanceref.core.errors import ColumnNotFound, NotFound, RowDeleted
from lanceref.core.integers import unsigned
from lanceref.core.nesting import from_start
from lanceref.file.schema import Field, project
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS, FragmentRows


def check_buffer(size: int | None) -> None:
    """Refuse a size of buffers in bytes that is none. Raises TypeError and ValueError."""
    if size is not None and unsigned(size) == 0:
        raise ValueError("io_buffer_size must be greater than 0")


def read_ranges(
    snapshot: Snapshot, column: str, requests: Iterable[tuple[int, int, int]], selector: str
) -> list[tuple[int, int, bytes | None]]:
    """Return number, row address and bytes (None: null) for each request: row, offset, length.

    Raises ValueError for ranges outside of their blobs, and as `locate_blobs`.
    """
    if not isinstance(selector, str):
        raise TypeError(f"selector must be a str, got {type(selector).__name__}")
    if selector not in ("ids", "addresses", "indices"):
        raise ValueError(
            f"selector must be one of 'ids', 'addresses', or 'indices', got \"{selector}\""
        )
    asked = [(unsigned(row), unsigned(start), unsigned(size)) for row, start, size in requests]
    for number, (_, start, size) in enumerate(asked):
        if start + size >= 2**64:
            raise ValueError(
                f"Blob range request {number} offset + length overflowed u64: offset={start}, "
                f"length={size}"
            )
    rows = [row for row, _, _ in asked]
    chosen = {name: rows if name == selector else None for name in ("ids", "addresses", "indices")}
    found = locate_blobs(snapshot, column, **chosen) if rows else []
    return [
        (number, address, _range(number, address, blob, start, start + size))
        for number, ((address, blob), (_, start, size)) in enumerate(zip(found, asked, strict=True))
    ]


def _range(number: int, address: int, blob: BlobRange | None, start: int, end: int) -> bytes | None:
    if blob is None:
        return None
    if end > blob.size:
        raise ValueError(
            f"Blob range request {number} for row address {address} is invalid: Blob range end "
            f"{end} exceeds blob size {blob.size}"
        )
    return blob.read(start, end)


def locate_blobs(
    snapshot: Snapshot,
    column: str,
    ids: Sequence[int] | pa.Array | None,
    addresses: Sequence[int] | pa.Array | None,
    indices: Sequence[int] | pa.Array | None,
) -> list[tuple[int, BlobRange | None]]:
    """Return row address and blob (None: null) of each chosen row.

    Raises ValueError unless exactly one way of choosing is given and for a column that holds no
    blobs, NotFound for an unknown row or column.
    """
    if sum(chosen is not None for chosen in (ids, addresses, indices)) != 1:
        raise ValueError("Exactly one of ids, indices, or addresses must be specified")
    try:
        (field,) = project(snapshot.schema(BlobHandling.DESCRIPTIONS), [column])
    except NotFound as error:
        raise ColumnNotFound(f"{error}") from error
    if not _leaf(field).is_blob and not _leaf(field).is_blob_v2:
        raise ValueError(f"the column {column!r} is not a blob column")
    if indices is not None:
        found = _at_positions(snapshot, _numbers(indices))
    else:
        name, values = (ROW_ID, ids) if ids is not None else (ROW_ADDRESS, addresses)
        found = _at_values(snapshot, name, _numbers(values if values is not None else []))
    blobs: list[tuple[int, BlobRange | None]] = [(0, None)] * len(found)
    for fragment in snapshot.fragments:
        mine = [row for row, (owner, _) in enumerate(found) if owner is fragment]
        if mine:
            positions = np.array([found[row][1] for row in mine], np.int64)
            for row, one in zip(mine, _read(fragment, field, positions)):
                blobs[row] = one
    return blobs


Found = list[tuple[FragmentRows, int]]
"""The fragment of each chosen row, and its position there."""


def _at_positions(snapshot: Snapshot, positions: NDArray[np.uint64]) -> Found:
    ends = np.cumsum([fragment.num_rows for fragment in snapshot.fragments], dtype=np.uint64)
    if len(positions) and (not len(ends) or positions.max() >= ends[-1]):
        raise NotFound(f"row {int(positions.max())} of {int(ends[-1]) if len(ends) else 0} rows")
    owners = np.searchsorted(ends, positions, "right").tolist()
    starts = [0, *ends.tolist()]
    return [
        (snapshot.fragments[owner], at - starts[owner])
        for owner, at in zip(owners, positions.tolist())
    ]


def _at_values(snapshot: Snapshot, name: str, values: NDArray[np.uint64]) -> Found:
    """Find rows by what a system column says of them."""
    wanted, found = set(values.tolist()), {}
    for fragment in snapshot.fragments:
        everything = np.arange(fragment.num_rows)
        for at, value in enumerate(fragment.take(everything, (), (name,))[0].to_pylist()):
            if value in wanted:
                found[value] = (fragment, at)
    missing = wanted - found.keys()
    if missing:
        if name == ROW_ADDRESS or not snapshot.stable_row_ids:
            _check_deleted(snapshot, missing, len(values), len(found))
        raise NotFound(f"no row with {name} {min(missing)}")
    return [found[value] for value in values.tolist()]


def _check_deleted(snapshot: Snapshot, missing: set[int], wanted: int, held: int) -> None:
    """Raise RowDeleted where every row that is missing is one that has been deleted."""
    by_id = {rows.fragment.id: rows for rows in snapshot.fragments}
    for address in missing:
        rows = by_id.get(address >> 32)
        if rows is None or (address & 0xFFFFFFFF) not in rows.deleted:
            return
    raise RowDeleted(
        f"Expected {wanted} rows, got {held}. A take operation that includes row addresses must "
        "not target deleted rows."
    )


def _read(
    fragment: FragmentRows, field: Field, positions: NDArray[np.int64]
) -> list[tuple[int, BlobRange | None]]:
    """Return row address and blob of rows of one fragment."""
    unique, back = np.unique(positions, return_inverse=True)
    array, addresses = fragment.take(unique, (field,), (ROW_ADDRESS,))
    below = field
    while below.children:
        (below,), array = below.children, from_start(array).flatten()[0]
    files = fragment.columns.blob_files(field, fragment.offsets(unique))
    located: list[BlobRange | None] = [None] * len(unique)
    for own in dict.fromkeys(files):
        rows = [row for row, file in enumerate(files) if file is own]
        for row, blob in zip(rows, own.locate(array.take(pa.array(rows))), strict=True):
            located[row] = blob
    return [(addresses[at].as_py(), located[at]) for at in back.tolist()]


def _leaf(field: Field) -> Field:
    while len(field.children) == 1:
        (field,) = field.children
    return field


def _numbers(rows: Sequence[int] | pa.Array) -> NDArray[np.uint64]:
    if isinstance(rows, pa.Array):
        return np.asarray(rows, np.uint64)
    return np.array([unsigned(row) for row in rows], np.uint64)
