"""Duplicate pairs: rows of which an index over vectors keeps nearly the same (face).

Has the names, arguments and errors of pylance's `lance.vector`. Rows are held against those of
their own partition, and no others; what is deleted is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import pyarrow as pa
from lanceref.core.arguments import unsigned
from lanceref.core.errors import NotFound, QueryRefused
from lanceref.index.indices import Index, indexed_path
from lanceref.index.segment import Segment
from lanceref.index.vector.near_rows import NearRows
from lanceref.index.vector.single_file_index import SingleFileIndex
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.search.live_rows import live_rows
from lanceref.search.snapshot import Snapshot

from pylanceref.dataset import LanceDataset
from pylanceref.index_request import VECTOR_DETAILS

PAIRS = pa.schema(
    [
        pa.field("row_id_a", pa.uint64(), nullable=False),
        pa.field("row_id_b", pa.uint64(), nullable=False),
        pa.field("distance", pa.float32(), nullable=False),
    ]
)
"""Two rows, first that which the index has first, and how far they are from each other."""


def find_duplicate_pairs(
    dataset: LanceDataset,
    column: str,
    distance_threshold: float,
    *,
    memory_limit: int | None = None,
    max_concurrency: int | None = None,
) -> pa.RecordBatchReader:
    """Return the pairs of all partitions whose distance is at most the threshold.

    `memory_limit` and `max_concurrency` change nothing: one pair of batches of at most 8192 rows is
    looked at at a time. Raises QueryRefused where there is not one index for the whole column,
    NotFound, TypeError and OverflowError for other arguments, FormatError.
    """
    asked = _asked(dataset, column, distance_threshold, memory_limit, max_concurrency)
    covered = set[int]().union(*(one.covers for one in asked.index.segments))
    if any(one.fragment.id not in covered for one in asked.snapshot.fragments):
        raise QueryRefused(
            f"Invalid user input: vector index on column '{column}' does not cover all fragments; "
            "optimize the index first"
        )
    chosen: list[tuple[Segment, int]] = []
    for segment in asked.index.segments:
        chosen += [(segment, number) for number in range(asked.partitions(segment))]
    return asked.reader(chosen)


def find_duplicate_pairs_in_partition(
    dataset: LanceDataset,
    column: str,
    segment_id: str | UUID,
    partition_id: int,
    distance_threshold: float,
    *,
    memory_limit: int | None = None,
    max_concurrency: int | None = None,
) -> pa.RecordBatchReader:
    """Return those of one partition of a segment; rows that it does not cover are in none.

    Raises the same, and QueryRefused where there is no such segment or partition.
    """
    try:
        uuid = UUID(f"{segment_id}")
    except ValueError as error:
        raise QueryRefused(f"invalid segment_id '{segment_id}': {error}") from error
    number = unsigned(partition_id)
    asked = _asked(dataset, column, distance_threshold, memory_limit, max_concurrency)
    segment = next((one for one in asked.index.segments if UUID(one.uuid) == uuid), None)
    if segment is None:
        raise QueryRefused(
            f"Invalid user input: segment_id={uuid} is not an active segment of column '{column}'"
        )
    count = asked.partitions(segment)
    if number >= count:
        raise QueryRefused(
            f"Invalid user input: partition_id={number} out of range 0..{count} for segment {uuid}"
        )
    return asked.reader([(segment, number)])


@dataclass(frozen=True, slots=True)
class _Asked:
    """An index of a version, and what is near."""

    snapshot: Snapshot
    index: Index
    threshold: np.float32

    def opened(self, segment: Segment) -> VectorIndex:
        """Return a segment with its files open. Raises QueryRefused for one of the old form."""
        found = self.index.open(segment).index
        assert isinstance(found, VectorIndex)
        if isinstance(found, SingleFileIndex):
            raise QueryRefused(
                f"Not supported: segment {segment.uuid} requires a current-format vector index; "
                "rebuild the index"
            )
        return found

    def partitions(self, segment: Segment) -> int:
        """Return the number of partitions of a segment: none where it is not built yet."""
        return len(self.opened(segment).head.model.centroids) if segment.built else 0

    def reader(self, chosen: list[tuple[Segment, int]]) -> pa.RecordBatchReader:
        """Return the pairs of partitions."""
        batches = (batch for segment, number in chosen for batch in self._pairs(segment, number))
        return pa.RecordBatchReader.from_batches(PAIRS, batches)

    def _pairs(self, segment: Segment, number: int) -> Iterator[pa.RecordBatch]:
        """Yield the pairs of a partition."""
        opened = self.opened(segment)
        own = [one for one in self.snapshot.fragments if one.fragment.id in segment.covers]
        alive = live_rows(segment, own, None, by_address=self.index.open(segment).by_address)
        mask, ids = alive(opened.keys(number))
        if len(ids) < 2:
            return
        stored = opened.auxiliary.quantizer.stored(opened.rows(number), number)
        near = NearRows(stored, opened.head.model.metric, self.threshold)
        places = np.cumsum(mask) - 1
        for one, other, distances in near.pairs(np.flatnonzero(mask)):
            left, right = ids[places[one]], ids[places[other]]
            apart = left != right  # a row of several vectors is no pair
            if apart.any():
                columns = [left[apart], right[apart], distances[apart]]
                yield pa.RecordBatch.from_arrays(list(map(pa.array, columns)), schema=PAIRS)


def _asked(
    dataset: LanceDataset,
    column: str,
    threshold: float,
    memory_limit: int | None,
    max_concurrency: int | None,
) -> _Asked:
    """Check what both are given. Raises as they do."""
    if not isinstance(column, str):
        raise TypeError(f"argument 'column': {type(column).__name__!r} is not an instance of 'str'")
    is_number = not math.isnan(threshold)
    for limit in (memory_limit, max_concurrency):
        if limit is not None:
            unsigned(limit)
    if max_concurrency == 0:
        raise QueryRefused("Invalid user input: max_concurrency must be positive, got 0")
    index = _index(dataset._snapshot, column)
    with np.errstate(over="ignore"):
        rounded = np.float32(threshold)
    if not np.isfinite(rounded):
        shown = f"{rounded}" if is_number else "NaN"
        raise QueryRefused(f"Invalid user input: distance_threshold must be finite, got {shown}")
    return _Asked(dataset._snapshot, index, rounded)


def _index(snapshot: Snapshot, column: str) -> Index:
    """Return the only index over the vectors of a column. Raises QueryRefused, NotFound."""
    try:
        path, field_id = indexed_path(snapshot.manifest.schema, column)
    except NotFound:
        path = ""
    if not column or path != column.replace("`", ""):  # letters of the other case are others
        raise NotFound(f"Vector column not in schema: {column!r}")
    known = [one for one in snapshot.indices.known if one.field_id == field_id]
    found = [one for one in known if one.kind.details == VECTOR_DETAILS]
    if len(found) != 1:
        raise QueryRefused(
            f"Invalid user input: column '{column}' requires exactly one vector index, found "
            f"{len(found)}"
        )
    return found[0]
