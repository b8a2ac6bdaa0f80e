"""Vector index: an opened segment, and its partitions as they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from lanceref.index.predicate import Predicate
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.index.vector.storage import Columns, Stored
from lanceref.index.vector.stored_columns import read_column
from lanceref.index.vector.vector_file import (
    ROW_ID_COLUMN,
    Auxiliary,
    Head,
    read_auxiliary,
    read_head,
)


@dataclass(frozen=True, slots=True)
class Partition:
    """The rows of a partition: their ids [n], and what distances are computed from."""

    keys: Keys
    stored: Stored


class VectorIndex:
    """An opened segment."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.head: Head = read_head(segment)
        self._partitions: dict[int, Partition] = {}

    @cached_property
    def auxiliary(self) -> Auxiliary:
        """How vectors are stored, and where. Raises FormatError."""
        return read_auxiliary(self.segment, self.head)

    def search(self, predicate: Predicate) -> None:
        """Return nothing: no condition is answered by vectors."""

    def keys(self, number: int) -> Keys:
        """Return the row ids of a partition. Raises FormatError."""
        start, end = self.auxiliary.partitions.rows(number)
        field = pa.field(ROW_ID_COLUMN, pa.uint64())
        return read_column(self.auxiliary.file, field, start, end)  # type: ignore[return-value]

    def rows(self, number: int) -> Columns:
        """Return the columns of a partition, row by row. Raises FormatError."""
        held = self.auxiliary
        start, end = held.partitions.rows(number)
        columns = {
            field.name: read_column(held.file, field, start, end) for field in held.quantizer.fields
        }
        return held.quantizer.unpacked(columns)

    def partition(self, number: int) -> Partition:
        """Return a partition, which stays open. Raises FormatError."""
        if number not in self._partitions:
            stored = self.auxiliary.quantizer.stored(self.rows(number), number)
            self._partitions[number] = Partition(self.keys(number), stored)
        return self._partitions[number]

    def statistics(self) -> dict[str, object]:
        """Return the type, the metric, and the sizes and centroids of partitions."""
        head, sizes = self.head, self.auxiliary.partitions.lengths.tolist()
        storage = self.head.type.storage.name
        sub_index = {"index_type": storage, "metric_type": head.model.metric}
        return {
            "index_type": head.type.name,
            "uuid": self.segment.uuid,
            "uri": f"{self.segment.folder}/{head.file.ctx.file.rpartition('/')[2]}",
            "metric_type": head.model.metric,
            "num_partitions": len(sizes),
            "sub_index": {**self.auxiliary.quantizer.metadata(), **sub_index},
            "partitions": [{"size": size} for size in sizes],
            "centroids": head.model.centroids.tolist(),
            "loss": head.message.loss if head.message.HasField("loss") else None,
            "index_file_version": "V3",
        }
