"""Deletion files: the deleted rows of a fragment.

Up to 4 999 deleted rows are an Arrow file of one column, more a Roaring bitmap without run
containers. Values are row offsets in the fragment. A newer file holds everything that the older one
did, and takes its place.

Layout: `_deletions/{fragment}-{read_version}-{id}.arrow`: an Arrow IPC file with one column
`row_id`, uint32, not null, in any order, its body compressed with zstd; `.bin`: a portable 32-bit
Roaring bitmap.

Clauses: L.table.deletions.arrow, L.table.deletions.arrow-magic, L.table.deletions.arrow-distinct,
L.table.limits.deletions, L.table.deletions.bitmap, L.table.deletions.count,
L.table.deletions.range, L.table.deletions.type, L.table.deletions.applied, L.table.deletions.name,
L.table.deletions.threshold

Divergences: D.table.deletion-column-uint32, D.table.deletion-arrow-order
"""

from __future__ import annotations

import io
import secrets

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context, expect
from lanceref.core.cursor import Cursor, FileBytes
from lanceref.core.errors import (
    BadMagic,
    CorruptPage,
    FormatError,
    LimitExceeded,
    OutOfRange,
    Place,
)
from lanceref.core.integers import unique
from lanceref.proto import table_pb2
from lanceref.storage import Source, Store
from lanceref.storage.protocol import Draft
from lanceref.table.arrow_file import MAGIC, expanded_bytes, own_arrow_file
from lanceref.table.roaring import parse_set

FOLDER = "_deletions"

ARROW_BUFFERS = (("validity", "bitmap"), ("row_id", "uint32[]"))
"""Name and kind in spans of the buffers of the one column."""
EXTENSIONS: dict[int, str] = {
    table_pb2.DeletionFile.ARROW_ARRAY: ".arrow",
    table_pb2.DeletionFile.BITMAP: ".bin",
}
"""End of the file's name by its type."""

COPIES = 4
"""Times that rows of an Arrow file are in memory: as they are read, joined, sorted and chosen."""

BITMAP_FROM = 5000
"""Deleted rows from which on they are written as a bitmap."""
_SCHEMA = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])


def deletion_path(fragment_id: int, entry: table_pb2.DeletionFile, place: Place) -> str:
    """Return the path of a deletion file below its base. Raises FormatError for an unknown type."""
    # L.table.deletions.name
    if entry.file_type not in EXTENSIONS:
        raise FormatError("L.table.deletions.type", place, entry.file_type, "0 or 1")
    name = f"{fragment_id}-{entry.read_version}-{entry.id}{EXTENSIONS[entry.file_type]}"
    return f"{FOLDER}/{name}"


def read_deletions(
    source: Source, ctx: Context, num_deleted: int | None = None, num_rows: int | None = None
) -> NDArray[np.uint32]:
    """Return the deleted row offsets: uint32, ascending.

    Raises FormatError where they are not `num_deleted`, as in the manifest, OutOfRange for one that
    is not below `num_rows`; None: unknown: (deleted rows,).
    """
    file = FileBytes(source, ctx.during("metadata"))
    rows: NDArray[np.uint32] | bitmaps.BitMap  # a bitmap takes no more memory than its bytes
    if source.path.endswith(".arrow"):
        rows = _parse_arrow(file.whole("deletion file", "L.table.deletions.arrow"))
    else:
        rows = parse_set(file.whole("deletion file", "L.table.deletions.bitmap"))
    place = file.ctx.at(0, file.size)
    if num_deleted is not None and len(rows) != num_deleted:
        error = FormatError("L.table.deletions.count", place, len(rows), f"{num_deleted} rows")
        if len(rows) > num_deleted:  # few bytes can hold any number of rows
            raise error
        file.ctx.refuse(error)
    last = int(rows[-1]) if len(rows) else -1
    if num_rows is not None and last >= num_rows:
        raise OutOfRange("L.table.deletions.range", place, f"row {last}", f"rows below {num_rows}")
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.to_array(), np.uint32)


def _parse_arrow(cursor: Cursor) -> NDArray[np.uint32]:
    """Read the one column of an Arrow file. Its values come from the library."""
    ctx, clause = cursor.ctx, "L.table.deletions.arrow"
    place, data = ctx.at(cursor.offset, cursor.remaining), pa.py_buffer(cursor.data)
    magic = bytes(cursor.data[: len(MAGIC)])
    expect("L.table.deletions.arrow-magic", magic, MAGIC, place, BadMagic)
    try:
        file = pa.ipc.open_file(data)
        if file.schema.names != ["row_id"] or file.schema.types != [pa.uint32()]:
            raise ValueError(f"{file.schema} in place of one column row_id: uint32")
        size, limit = expanded_bytes(data), ctx.limits.expanded(data.size) // COPIES
        if size > limit:  # compressed batches, or one batch listed often
            raise LimitExceeded("L.table.limits.deletions", place, size, f"{limit} bytes at most")
        table = file.read_all()
        table.validate(full=True)
        if ctx.spans is not None or ctx.validating:
            own_arrow_file(ctx, data, ARROW_BUFFERS)
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, MemoryError) as error:
        raise CorruptPage(clause, place, f"{error}", "an Arrow IPC file") from error
    if table["row_id"].null_count:
        raise CorruptPage(clause, place, "a null row id", "no null")
    stored = np.asarray(table["row_id"].to_numpy(), dtype=np.uint32)
    rows = unique(stored)
    found = f"{len(rows)} different values"
    expect("L.table.deletions.arrow-distinct", found, f"{len(stored)} different values", place)
    return rows


def write_deletions(
    store: Store,
    fragment_id: int,
    read_version: int,
    offsets: NDArray[np.int64],
    draft: Draft,
    *,
    as_bitmap: bool = False,
) -> table_pb2.DeletionFile:
    """Write the deletion file of a fragment and return its entry.

    `offsets`, int64, are all deleted rows, ascending; a rebased deletion is a bitmap whatever its
    size, and so is what takes the place of one. `offsets` (deleted rows,).
    """
    bitmap = as_bitmap or len(offsets) >= BITMAP_FROM
    entry = table_pb2.DeletionFile(
        file_type=table_pb2.DeletionFile.BITMAP if bitmap else table_pb2.DeletionFile.ARROW_ARRAY,
        read_version=read_version,
        id=secrets.randbits(64),
        num_deleted_rows=len(offsets),
    )
    path = deletion_path(fragment_id, entry, Place("deletion file", 0, 0))
    store.put(path, encode_bitmap(offsets) if bitmap else encode_arrow(offsets))
    draft.add((store, path))
    return entry


def encode_bitmap(offsets: NDArray[np.int64]) -> bytes:
    """Return row offsets, int64, as a Roaring bitmap. `offsets` (n,), ascending."""
    return bitmaps.BitMap(offsets.tolist(), optimize=False).serialize()


def encode_arrow(offsets: NDArray[np.int64]) -> bytes:
    """Return row offsets, int64, as an Arrow file of one batch. `offsets` (n,), ascending."""
    batch = pa.record_batch([pa.array(offsets.astype(np.uint32))], schema=_SCHEMA)
    out, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(out, _SCHEMA, options=options) as writer:
        writer.write_batch(batch)
    return out.getvalue()
