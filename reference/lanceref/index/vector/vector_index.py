"""Vector index: its files, and an opened segment, whose partitions are read on demand.

Layout: `index.idx`, the head: metadata lance:index {"type":t,"distance_type":m}, lance:ivf the
number of the global buffer with the centroids; lance:flat or lance:hnsw a list of one text for each
partition. Its columns are those of graphs, and it has no rows without them.

`auxiliary.idx`: _rowid u64 and the columns of the storage, partition by partition; metadata
distance_type, lance:ivf the number of the buffer with the rows of each partition, storage_metadata
a list of one text, the metadata of the quantizer.

IVF message: offsets u64 and lengths u32, of each partition the first row and the number of rows,
in the head of its graph, in `auxiliary.idx` of its vectors; without offsets each partition starts
at the end of the one before. centroids_tensor [partitions, dimension]; older: centroids, the floats
of one after those of another. loss: the sum of the distances of all rows.

Clauses: L.index.vector.head.type, L.index.vector.head.metric, L.index.vector.head.texts,
L.index.vector.auxiliary.metric, L.index.vector.auxiliary.partitions,
L.index.vector.auxiliary.storage, L.index.vector.ivf.lengths, L.index.vector.ivf.rows,
L.index.vector.ivf.centroids, L.index.vector.column-type
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OutOfRange, Place, UnknownIndex
from lanceref.index.index_file import IndexFile
from lanceref.index.index_type import IndexType
from lanceref.index.row_set import Keys
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.vector.graph import GRAPH_SCHEMA, GraphText, parse_graph_text, read_graph
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.rq_storage import Rotated
from lanceref.index.vector.sq_storage import Sq
from lanceref.index.vector.storage import (
    Columns,
    Flat,
    Model,
    PartitionRows,
    Quantizer,
    check_named,
    compact,
    parse_json,
    parse_tensor,
    read_column,
    tensor_of,
)
from lanceref.index.vector.vectors import VectorType as ColumnType
from lanceref.kernels.distance import METRICS, AnyVectors, Metric
from lanceref.kernels.hnsw_graph import Graph
from lanceref.proto import index_pb2

HEAD = "index.idx"
AUXILIARY = "auxiliary.idx"
ROW_ID_COLUMN = "_rowid"
FLAT_SCHEMA = pa.schema([pa.field("__flat_marker", pa.uint64(), nullable=False)])
"""The schema of a head without graphs."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VectorType:
    """A type of index: its name as users give it, a storage, and whether partitions have graphs."""

    name: str
    storage: type[Quantizer]
    graphs: bool


TYPES = {
    name: VectorType(name, storage, graphs)
    for graphs, prefix in ((False, "IVF_"), (True, "IVF_HNSW_"))
    for storage in (Flat, Product, Sq, Rotated)
    if (name := prefix + storage.name) != "IVF_HNSW_RQ"
}
"""Types of vector indices by name."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The first row of each partition, and their number."""

    starts: Counts
    lengths: Counts

    def rows(self, number: int) -> tuple[int, int]:
        """Return the first row of a partition, and the end of its rows."""
        start = int(self.starts[number])
        return start, start + int(self.lengths[number])


def partitions_of(lengths: Sequence[int] | Counts) -> Partitions:
    """Return partitions that follow each other. `lengths` (partitions,)."""
    sizes = np.asarray(lengths, np.int64)
    return Partitions(np.cumsum(sizes) - sizes, sizes)


def parse_partitions(message: index_pb2.IVF, num_rows: int, place: Place) -> Partitions:
    """Return the rows of each partition: together all rows of a file. Raises FormatError."""
    partitions = partitions_of(np.array(message.lengths, np.uint32).astype(np.int64))
    offsets, starts = np.array(message.offsets, np.uint64), partitions.starts.astype(np.uint64)
    if len(offsets):
        check_named("L.index.vector.ivf.lengths", place, "offsets:", len(offsets), len(starts))
        for wrong in np.flatnonzero(offsets != starts).tolist():
            name = f"partition {wrong} at row"
            check_named("L.index.vector.ivf.rows", place, name, offsets[wrong], starts[wrong])
    total = int(partitions.lengths.sum())
    if total != num_rows:
        raise OutOfRange("L.index.vector.ivf.rows", place, total, f"{num_rows} rows")
    return partitions


def parse_centroids(message: index_pb2.IVF, place: Place) -> AnyVectors:
    """Return the centroids [partitions, dimension]. Raises FormatError."""
    count, values = len(message.lengths), len(message.centroids)
    if message.HasField("centroids_tensor"):
        centroids = parse_tensor(message.centroids_tensor, place)
    elif count and values % count == 0:
        centroids = np.array(message.centroids, np.float32).reshape(count, -1)
    else:
        centroids = np.empty((0, 0), np.float32)
    if not centroids.size or (count and count != len(centroids)):
        found = f"centroids {centroids.shape}, {values} numbers for {count} partitions"
        raise FormatError("L.index.vector.ivf.centroids", place, found, "one for each")
    return centroids


def ivf_message(
    partitions: Partitions, centroids: AnyVectors | None = None, loss: float | None = None
) -> index_pb2.IVF:
    """Return the message that holds centroids, lengths and offsets of partitions."""
    return index_pb2.IVF(
        offsets=partitions.starts.tolist(),
        lengths=partitions.lengths.tolist(),
        centroids_tensor=None if centroids is None else tensor_of(centroids),
        loss=loss,
    )


@dataclass(frozen=True, slots=True)
class Head:
    """The content of `index.idx`; `message` has the rows of graphs, `texts` describe each graph."""

    place: Place
    type: VectorType
    model: Model
    message: index_pb2.IVF
    texts: list[str]


def read_head(segment: Segment) -> Head:
    """Read the head of an index. Raises FormatError, UnknownIndex."""
    file = segment.file(HEAD)
    place = file.place
    description = parse_json(file.text("lance:index"), place, "lance:index", dict)
    type_ = TYPES.get(str(description.get("type")))
    if type_ is None:
        found, wanted = f"type {str(description.get('type'))[:40]!r}", f"one of {sorted(TYPES)}"
        raise UnknownIndex("L.index.vector.head.type", place, found, wanted)
    metric = _metric(str(description.get("distance_type")), file, "L.index.vector.head.metric")
    message = file.message(file.number("lance:ivf"), index_pb2.IVF)
    centroids = parse_centroids(message, place)
    name = "lance:hnsw" if type_.graphs else "lance:flat"
    texts = parse_json(file.text(name), place, name, list)
    clause = "L.index.vector.head.texts"
    check_named(clause, place, f"texts in {name}:", len(texts), len(centroids))
    return Head(place, type_, Model(metric, centroids), message, texts)


def _metric(name: str, file: IndexFile, clause: str) -> Metric:
    for metric in METRICS:
        if metric == name.lower():
            return metric
    raise FormatError(clause, file.place, f"metric {name[:40]!r}", f"one of {METRICS}")


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """What `auxiliary.idx` states of itself: type, metric and quantizer."""

    partitions: Partitions
    quantizer: Quantizer


def read_auxiliary(segment: Segment, head: Head) -> Auxiliary:
    """Read how the vectors of an index are stored. Raises FormatError."""
    file, clause = segment.file(AUXILIARY), "L.index.vector.auxiliary.metric"
    place, metric = file.place, _metric(file.text("distance_type"), file, clause)
    check_named(clause, place, "metric", metric, head.model.metric)
    message = file.message(file.number("lance:ivf"), index_pb2.IVF)
    clause, count = "L.index.vector.auxiliary.partitions", len(head.model.centroids)
    check_named(clause, place, "partitions:", len(message.lengths), count)
    partitions = parse_partitions(message, file.num_rows, place)
    texts = parse_json(file.text("storage_metadata"), place, "storage_metadata", list)
    check_named("L.index.vector.auxiliary.storage", place, "texts of the storage:", len(texts), 1)
    metadata = parse_json(texts[0], place, "storage_metadata", dict)
    return Auxiliary(partitions, head.type.storage.parse(metadata, file, head.model, place))


def write_head(
    writer: SegmentWriter,
    type_: VectorType,
    model: Model,
    loss: float,
    nodes: Partitions,
    texts: list[str],
    graphs: Iterable[pa.RecordBatch],
) -> None:
    """Write `index.idx`: of each partition the rows of its graph, a text, and the rows."""
    metadata = {
        "lance:index": compact({"type": type_.name, "distance_type": model.metric}),
        "lance:ivf": "1",
        "lance:hnsw" if type_.graphs else "lance:flat": compact(texts),
    }
    message = ivf_message(nodes, model.centroids, loss)
    schema = GRAPH_SCHEMA if type_.graphs else FLAT_SCHEMA
    writer.write_file(HEAD, schema, graphs, metadata, [message.SerializeToString()])


def write_auxiliary(
    writer: SegmentWriter,
    quantizer: Quantizer,
    partitions: Partitions,
    batches: Iterable[pa.RecordBatch],
) -> None:
    """Write `auxiliary.idx`: batches of row ids and the columns of the quantizer."""
    metadata = {
        "distance_type": quantizer.model.metric,
        "lance:ivf": "1",
        "storage_metadata": compact([compact(quantizer.metadata())]),
    }
    buffers = [ivf_message(partitions).SerializeToString(), *quantizer.buffers()]
    writer.write_file(AUXILIARY, storage_schema(quantizer), batches, metadata, buffers)


def storage_schema(quantizer: Quantizer) -> pa.Schema:
    """Return the schema of `auxiliary.idx` for a quantizer."""
    return pa.schema([pa.field(ROW_ID_COLUMN, pa.uint64()), *quantizer.fields])


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: the ids of its rows [n], the rows, and their graph."""

    keys: Keys
    rows: PartitionRows
    graph: Graph | None


class VectorIndex(IndexType):
    """An opened segment of the type, whatever its files.

    `living` is a cache of searches: rows of a table, and the function that finds their keys.
    """

    def __init__(self, segment: Segment, head: Head | None = None) -> None:
        super().__init__(segment)
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
        clause, model = "L.index.vector.column-type", self.head.model
        found = f"{model.dimension} {model.centroids.dtype}"
        wanted = f"{type_.dimension} {type_.dtype}"
        check_named(clause, self.head.place, "centroids of", found, wanted)

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
        self.segment.uses.count(number in self._partitions)
        return self._cached_partition(number)

    def warm(self, *, positions: bool = False) -> None:
        """Keep all partitions in memory. Raises FormatError."""
        for number in np.flatnonzero(self.auxiliary.partitions.lengths).tolist():
            self._cached_partition(number)

    def _cached_partition(self, number: int) -> Partition:
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
