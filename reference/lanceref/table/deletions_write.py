"""Deletion files, written.

Fewer than 5 000 deleted rows of a fragment are an Arrow file, more a Roaring bitmap without run
containers. A file holds all deleted rows of its fragment: it takes the place of the one before.

Layout: see `deletions`. The body of the Arrow file is compressed with zstd.

Clauses: L.table.deletions.arrow, L.table.deletions.bitmap, L.table.deletions.name,
L.table.deletions.threshold
"""

from __future__ import annotations

import io
import secrets

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.errors import Place
from lanceref.proto import table_pb2
from lanceref.storage import Store
from lanceref.table.deletions import deletion_path
from lanceref.table.uncommitted_files import Draft

BITMAP_FROM = 5000
"""Deleted rows from which on they are written as a bitmap."""

_SCHEMA = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
_NOWHERE = Place("deletion file", 0, 0)


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

    `offsets` are all deleted rows, ascending; a rebased deletion is a bitmap whatever its size, and
    so is what takes the place of one.
    """
    bitmap = as_bitmap or len(offsets) >= BITMAP_FROM
    entry = table_pb2.DeletionFile(
        file_type=table_pb2.DeletionFile.BITMAP if bitmap else table_pb2.DeletionFile.ARROW_ARRAY,
        read_version=read_version,
        id=secrets.randbits(64),
        num_deleted_rows=len(offsets),
    )
    data = encode_bitmap(offsets) if bitmap else encode_arrow(offsets)
    path = deletion_path(fragment_id, entry, _NOWHERE)
    store.put(path, data)
    draft.add((store, path))
    return entry


def encode_bitmap(offsets: NDArray[np.int64]) -> bytes:
    """Return row offsets as a Roaring bitmap."""
    return BitMap(offsets.tolist(), optimize=False).serialize()


def encode_arrow(offsets: NDArray[np.int64]) -> bytes:
    """Return row offsets as an Arrow file of one batch."""
    batch = pa.record_batch([pa.array(offsets.astype(np.uint32))], schema=_SCHEMA)
    out, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(out, _SCHEMA, options=options) as writer:
        writer.write_batch(batch)
    return out.getvalue()
