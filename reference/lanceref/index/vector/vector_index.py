"""Vector index: an opened segment, whose partitions are read on demand.

Clauses: L.index.vector.column-type
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.core.errors import FormatError
from lanceref.index.predicate import Predicate
from lanceref.index.row_set import Keys
from lanceref.index.segment import Moved, Segment
from lanceref.index.vector.graph import GraphText, parse_graph_text, read_graph
from lanceref.index.vector.storage import Columns, PartitionRows, read_column
from lanceref.index.vector.vector_file import (
    AUXILIARY,
    HEAD,
    ROW_ID_COLUMN,
    Auxiliary,
    Head,
    Partitions,
    parse_partitions,
    read_auxiliary,
    read_head,
)
from lanceref.index.vector.vectors import VectorType as ColumnType
from lanceref.kernels.hnsw_graph import Graph


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: the ids of its rows [n], the rows, and their graph."""

    keys: Keys
    rows: PartitionRows
    graph: Graph | None


class VectorIndex:
    """An opened segment.

    `living` is a cache of searches: rows of a table, and the function that finds their keys.
    """

    def __init__(self, segment: Segment, head: Head | None = None) -> None:
        self.segment = segment
        self.head = read_head(segment) if head is None else head
        self.living: tuple[object, Moved] | None = None
        self._partitions: dict[int, Partition] = {}

    @cached_property
    def auxiliary(self) -> Auxiliary:
        """How vectors are stored, and where. Raises FormatError."""
        return read_auxiliary(self.segment, self.head)

    def check_column(self, type_: ColumnType) -> None:
        """Raise FormatError where centroids are of another size or type than a column."""
        # L.index.vector.column
        model, wanted = self.head.model, f"{type_.dimension} {type_.dtype}, as the column has"
        if (model.dimension, model.centroids.dtype) != (type_.dimension, type_.dtype):
            found = f"centroids of {model.dimension} {model.centroids.dtype} each"
            raise FormatError("L.index.vector.column-type", self.head.place, found, wanted)

    def search(self, predicate: Predicate) -> None:
        """Return nothing: no condition is answered by vectors."""

    def keys(self, number: int) -> Keys:
        """Return the row ids of a partition: (rows,). Raises FormatError."""
        start, end = self.auxiliary.partitions.rows(number)
        field = pa.field(ROW_ID_COLUMN, pa.uint64())
        return read_column(self.segment.file(AUXILIARY), field, start, end)  # type: ignore[return-value]

    def rows(self, number: int) -> Columns:
        """Return the columns of a partition, row by row. Raises FormatError."""
        quantizer, file = self.auxiliary.quantizer, self.segment.file(AUXILIARY)
        start, end = self.auxiliary.partitions.rows(number)
        columns = {one.name: read_column(file, one, start, end) for one in quantizer.fields}
        return quantizer.unpack(columns)

    def partition(self, number: int) -> Partition:
        """Return a partition, which stays open. Raises FormatError."""
        if number in self._partitions:
            self.segment.uses.hit()
        else:
            self.segment.uses.load()
        return self._kept(number)

    def warm(self, *, positions: bool = False) -> int:
        """Keep all partitions in memory; return how many. Raises FormatError."""
        numbers = np.flatnonzero(self.auxiliary.partitions.lengths).tolist()
        return len([self._kept(number) for number in numbers])

    def _kept(self, number: int) -> Partition:
        if number not in self._partitions:
            rows = self.auxiliary.quantizer.open_rows(self.rows(number), number)
            graph = self.graph(number) if self.head.type.graphs else None
            self._partitions[number] = Partition(self.keys(number), rows, graph)
        return self._partitions[number]

    @cached_property
    def graph_rows(self) -> Partitions:
        """The rows of the graphs in the head. Raises FormatError."""
        file = self.segment.file(HEAD)
        return parse_partitions(self.head.message, file.num_rows, file.place)

    def graph(self, number: int, distances: bool = False) -> Graph:
        """Read the graph of a partition, with or without distances. Raises FormatError."""
        (start, end), text = self.graph_rows.rows(number), self.head.texts[number]
        num_rows = int(self.auxiliary.partitions.lengths[number])
        return read_graph(self.segment.file(HEAD), text, start, end, num_rows, distances)

    @property
    def graph_text(self) -> GraphText | None:
        """The text of the first graph, None when there is none. Raises FormatError."""
        texts = self.head.texts if self.head.type.graphs else []
        return parse_graph_text(next(filter(None, texts), ""), self.head.place)

    def statistics(self) -> dict[str, object]:
        """Return the type, the metric, and the sizes and centroids of partitions."""
        head, sizes = self.head, self.auxiliary.partitions.lengths.tolist()
        graph = self.graph_text
        sub_index: dict[str, object] = {
            **({} if graph is None else graph.shown()),
            "index_type": "HNSW" if head.type.graphs else head.type.storage.name,
            "metric_type": head.model.metric,
            **self.auxiliary.quantizer.statistics(),
        }
        return {
            "index_type": head.type.name,
            "uuid": self.segment.uuid,
            "uri": f"{self.segment.store.root}/{self.segment.folder}/{HEAD}",
            "metric_type": head.model.metric,
            "num_partitions": len(sizes),
            "sub_index": sub_index,
            "partitions": [{"size": size} for size in sizes],
            "centroids": head.model.centroids.tolist(),
            "loss": head.message.loss if head.message.HasField("loss") else None,
            "index_file_version": "V3",
        }
