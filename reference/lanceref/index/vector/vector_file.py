"""Vector index files: the head, and the vectors by partition.

Layout: `index.idx`, the head: metadata lance:index {"type":t,"distance_type":m}, lance:ivf the
number of the global buffer with the centroids; lance:flat or lance:hnsw a list of one text for each
partition. Its columns are those of graphs, and no row without them.

`auxiliary.idx`: _rowid u64 and the columns of the storage, partition by partition; metadata
distance_type, lance:ivf the number of the buffer with the rows of each partition, storage_metadata
a list of one text, an object that says how vectors are stored.

Clauses: L.index.vector.head.type, L.index.vector.head.metric, L.index.vector.head.texts,
L.index.vector.auxiliary.metric, L.index.vector.auxiliary.partitions,
L.index.vector.auxiliary.storage

The types of storage, by the names that index types have in them.

IVF: the centroids of partitions, and which rows of a file each partition has.

A message in a global buffer. That of `index.idx` has the centroids, its rows are those of the
graphs; that of `auxiliary.idx` says where the vectors of each partition are.

Layout: offsets u64 and lengths u32, of each partition the first row and the number of rows; no
offsets: each partition starts where the one before ends. centroids_tensor [partitions, dimension];
older: centroids, floats one after the other. loss: the sum of the distances of all rows.

Clauses: L.index.vector.ivf.lengths, L.index.vector.ivf.rows, L.index.vector.ivf.centroids
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OutOfRange, Place, UnknownIndex
from lanceref.index.index_file import IndexFile
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.vector.flat_storage import FLAT
from lanceref.index.vector.pq_storage import PQ
from lanceref.index.vector.rq_storage import RQ
from lanceref.index.vector.sq_storage import SQ
from lanceref.index.vector.storage import (
    Model,
    Quantizer,
    StorageType,
    compact,
    parse_object,
    parse_tensor,
    parse_texts,
    tensor_of,
)
from lanceref.kernels.distance import METRICS, AnyVectors, Metric
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


STORAGES = {one.name: one for one in (FLAT, PQ, SQ, RQ)}
"""Type of storage by its name."""


HEAD = "index.idx"
AUXILIARY = "auxiliary.idx"
ROW_ID_COLUMN = "_rowid"
FLAT_MARKER = "__flat_marker"
"""The column of a head without graphs."""

GRAPH_PREFIX = "HNSW_"


def type_name(storage: str, graphs: bool) -> str:
    """Return the name of a type of index."""
    return f"IVF_{GRAPH_PREFIX if graphs else ''}{storage}"


@dataclass(frozen=True, slots=True)
class VectorType:
    """What an index is made of: a storage, with or without graphs over the partitions."""

    storage: StorageType
    graphs: bool

    @property
    def name(self) -> str:
        """The name as users give it."""
        return type_name(self.storage.name, self.graphs)


TYPES: dict[str, VectorType] = {
    one.name: one
    for graphs in (False, True)
    for one in (VectorType(storage, graphs) for storage in STORAGES.values())
    if one.name != "IVF_HNSW_RQ"
}
"""Types of vector indices by name."""


@dataclass(frozen=True, slots=True)
class Head:
    """What `index.idx` says; `message` has the rows of the graphs, `texts` what they begin with."""

    place: Place
    type: VectorType
    model: Model
    message: index_pb2.IVF
    texts: list[str]


def read_head(segment: Segment) -> Head:
    """Read the head of an index. Raises FormatError, UnknownIndex."""
    file = segment.file(HEAD)
    said = parse_object(file.text("lance:index"), file.place, "lance:index")
    type_ = TYPES.get(str(said.get("type")))
    if type_ is None:
        raise UnknownIndex(
            "L.index.vector.head.type",
            file.place,
            found=f"type {str(said.get('type'))[:40]!r}",
            wanted=f"one of {sorted(TYPES)}",
        )
    metric = _metric(str(said.get("distance_type")), file, "L.index.vector.head.metric")
    message = file.message(file.number("lance:ivf"), index_pb2.IVF)
    centroids = parse_centroids(message, file.place)
    name = "lance:hnsw" if type_.graphs else "lance:flat"
    texts = parse_texts(file.text(name), file.place, name)
    if len(texts) != len(centroids):
        raise FormatError(
            "L.index.vector.head.texts",
            file.place,
            found=f"{len(texts)} in {name}",
            wanted=f"{len(centroids)}, one for each partition",
        )
    return Head(file.place, type_, Model(metric, centroids), message, texts)


def _metric(name: str, file: IndexFile, clause: str) -> Metric:
    for metric in METRICS:
        if metric == name.lower():
            return metric
    raise FormatError(clause, file.place, found=f"metric {name[:40]!r}", wanted=f"one of {METRICS}")


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """What `auxiliary.idx` says."""

    partitions: Partitions
    quantizer: Quantizer


def read_auxiliary(segment: Segment, head: Head) -> Auxiliary:
    """Read how the vectors of an index are stored. Raises FormatError."""
    file = segment.file(AUXILIARY)
    metric = _metric(file.text("distance_type"), file, "L.index.vector.auxiliary.metric")
    if metric != head.model.metric:
        raise FormatError(
            "L.index.vector.auxiliary.metric",
            file.place,
            found=metric,
            wanted=f"{head.model.metric}, as in the head",
        )
    message = file.message(file.number("lance:ivf"), index_pb2.IVF)
    if len(message.lengths) != len(head.model.centroids):
        raise FormatError(
            "L.index.vector.auxiliary.partitions",
            file.place,
            found=f"{len(message.lengths)} partitions",
            wanted=f"{len(head.model.centroids)}, as there are centroids",
        )
    partitions = parse_partitions(message, file.num_rows, file.place)
    texts = parse_texts(file.text("storage_metadata"), file.place, "storage_metadata")
    if len(texts) != 1:
        raise FormatError(
            "L.index.vector.auxiliary.storage",
            file.place,
            found=f"{len(texts)} texts",
            wanted="one",
        )
    said = parse_object(texts[0], file.place, "storage_metadata")
    quantizer = head.type.storage.parse(said, file, head.model, file.place)
    return Auxiliary(partitions, quantizer)


def write_head(
    writer: SegmentWriter,
    type_: VectorType,
    model: Model,
    loss: float | None,
    graphs: tuple[pa.Schema, Iterable[pa.RecordBatch], Partitions, Sequence[str]] | None = None,
) -> None:
    """Write `index.idx`; `graphs` are columns, their rows, those of each partition, and texts."""
    count = len(model.centroids)
    if graphs is None:
        marker = pa.schema([pa.field(FLAT_MARKER, pa.uint64(), nullable=False)])
        graphs = marker, (), partitions_of([0] * count), [""] * count
    schema, batches, partitions, texts = graphs
    metadata = {
        "lance:index": compact({"type": type_.name, "distance_type": model.metric}),
        "lance:ivf": "1",
        "lance:hnsw" if type_.graphs else "lance:flat": compact(list(texts)),
    }
    message = ivf_message(partitions, model.centroids, loss)
    writer.write_file(HEAD, schema, batches, metadata, [message.SerializeToString()])


def write_auxiliary(
    writer: SegmentWriter,
    model: Model,
    quantizer: Quantizer,
    partitions: Partitions,
    batches: Iterable[pa.RecordBatch],
) -> None:
    """Write `auxiliary.idx`: batches of row ids and the columns of the quantizer."""
    metadata = {
        "distance_type": model.metric,
        "lance:ivf": "1",
        "storage_metadata": compact([compact(quantizer.metadata())]),
    }
    buffers = [ivf_message(partitions).SerializeToString(), *quantizer.buffers()]
    writer.write_file(AUXILIARY, storage_schema(quantizer), batches, metadata, buffers)


def storage_schema(quantizer: Quantizer) -> pa.Schema:
    """Return the columns of `auxiliary.idx`."""
    return pa.schema([pa.field(ROW_ID_COLUMN, pa.uint64()), *quantizer.fields])
