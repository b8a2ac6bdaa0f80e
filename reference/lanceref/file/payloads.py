"""Payloads: values that lie outside the pages of their column.

A blob column holds descriptors, where in the file each value lies and how many bytes it has. Here
descriptors become values: their bytes are fetched about a run at a time, neighbours together.

Layout of a descriptor: u64 position (absolute), u64 size.

Clauses: L.array.blob.payload, L.page.blob.payload
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import LimitExceeded, Place
from lanceref.core.integers import unique
from lanceref.file.column_reader import RUN_BYTES

DESCRIPTOR = pa.struct([("position", pa.uint64()), ("size", pa.uint64())])
"""What the pages of a blob column hold, and what a table shows of it."""

KINDS = 6
"""Kinds of the blobs whose descriptors can point out of the file."""

Words = NDArray[np.uint64]


def words(descriptors: pa.Array) -> tuple[Words, Words]:
    """Return positions and sizes."""
    return np.asarray(descriptors.field(0)), np.asarray(descriptors.field(1))


def extents(descriptors: pa.Array) -> list[Extent]:
    """Return where the payloads that have bytes lie."""
    positions, sizes = words(descriptors)
    return [Extent(p, s) for p, s in zip(positions.tolist(), sizes.tolist()) if s]


def runs(descriptors: pa.Array, multiple: int = 1) -> Iterator[pa.Array]:
    """Cut descriptors, in groups of `multiple`, where about RUN_BYTES of payloads come together."""
    sizes = np.cumsum(words(descriptors)[1]) // RUN_BYTES
    inside = (np.flatnonzero(np.diff(sizes)) + 1) // multiple * multiple
    cuts = [0, *unique(inside[inside > 0]).tolist(), len(descriptors)]
    for first, last in pairwise(cuts):
        yield descriptors.slice(first, last - first)


def fetch(
    file: FileBytes, descriptors: pa.Array, valid: NDArray[np.bool_], clause: str, place: Place
) -> pa.Array:
    """Read the payloads of `descriptors` as large_binary, null where not `valid`.

    Raises OutOfRange for one outside the file, LimitExceeded for more bytes than a run may have.
    """
    sizes = words(descriptors)[1]
    allowed = file.ctx.limits.expanded(file.size)
    if len(sizes) and (int(sizes.max()) > file.size or sum(sizes.tolist()) > allowed):
        raise LimitExceeded(
            clause,
            place,
            found=f"{sum(sizes.tolist())} bytes of payloads in one run of rows",
            wanted=f"at most {allowed} bytes",
        )
    data = b"".join(
        cursor.take(cursor.remaining, "payload", clause, "blob")
        for cursor in file.cursors(extents(descriptors), "blob payload", clause)
    )
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    validity = np.packbits(valid, bitorder="little")
    buffers = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)
