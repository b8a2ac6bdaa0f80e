"""IVF: the centroids of partitions, and which rows of a file each partition has.

A message in a global buffer. That of `index.idx` has the centroids, its rows are those of the
graphs; that of `auxiliary.idx` says where the vectors of each partition are.

Layout: offsets u64 and lengths u32, of each partition the first row and the number of rows; no
offsets: each partition starts where the one before ends. centroids_tensor [partitions, dimension];
older: centroids, floats one after the other. loss: the sum of the distances of all rows.

Clauses: L.index.vector.ivf.lengths, L.index.vector.ivf.rows, L.index.vector.ivf.centroids
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OutOfRange, Place
from lanceref.index.vector.tensor import parse_tensor, tensor_of
from lanceref.kernels.distance import AnyVectors
from lanceref.proto import index_pb2

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Partitions:
    """Which rows each partition has: the first one and their number."""

    starts: Rows
    lengths: Rows

    def rows(self, number: int) -> tuple[int, int]:
        """Return the first row of a partition, and the one behind its last."""
        start = int(self.starts[number])
        return start, start + int(self.lengths[number])


def partitions_of(lengths: Sequence[int] | Rows) -> Partitions:
    """Return partitions that stand one after the other."""
    sizes = np.asarray(lengths, np.int64)
    return Partitions(np.cumsum(sizes) - sizes, sizes)


def parse_partitions(message: index_pb2.IVF, num_rows: int, place: Place) -> Partitions:
    """Return the rows of each partition: together all rows of a file. Raises FormatError."""
    lengths = np.array(message.lengths, np.uint32).astype(np.int64)
    offsets = np.array(message.offsets, np.uint64)
    if len(offsets) not in (0, len(lengths)):
        raise FormatError(
            "L.index.vector.ivf.lengths",
            place,
            found=f"{len(offsets)} offsets, {len(lengths)} lengths",
            wanted="as many, or no offsets",
        )
    found = partitions_of(lengths)
    if len(offsets) and not np.array_equal(offsets, found.starts.astype(np.uint64)):
        first = int(np.argmax(offsets != found.starts.astype(np.uint64)))
        raise FormatError(
            "L.index.vector.ivf.rows",
            place,
            found=f"partition {first} at row {offsets[first]}",
            wanted=f"row {found.starts[first]}",
        )
    if int(lengths.sum()) != num_rows:
        raise OutOfRange(
            "L.index.vector.ivf.rows",
            place,
            found=f"{int(lengths.sum())} rows in partitions",
            wanted=f"{num_rows}, as the file has",
        )
    return found


def parse_centroids(message: index_pb2.IVF, place: Place) -> AnyVectors:
    """Return the centroids [partitions, dimension]. Raises FormatError."""
    if message.HasField("centroids_tensor"):
        found = parse_tensor(message.centroids_tensor, place)
    else:
        count = len(message.lengths)
        if not count or len(message.centroids) % count:
            raise FormatError(
                "L.index.vector.ivf.centroids",
                place,
                found=f"{len(message.centroids)} numbers for {count} partitions",
                wanted="centroids of one size",
            )
        found = np.array(message.centroids, np.float32).reshape(count, -1)
    if not found.size or (len(message.lengths) and len(message.lengths) != len(found)):
        raise FormatError(
            "L.index.vector.ivf.centroids",
            place,
            found=f"centroids {found.shape} for {len(message.lengths)} partitions",
            wanted="one for each",
        )
    return found


def ivf_message(
    partitions: Partitions, centroids: AnyVectors | None = None, loss: float | None = None
) -> index_pb2.IVF:
    """Return the message of partitions."""
    tensor = None if centroids is None else tensor_of(centroids)
    return index_pb2.IVF(
        offsets=partitions.starts.tolist(),
        lengths=partitions.lengths.tolist(),
        centroids_tensor=tensor,
        loss=loss,
    )
