"""Parameters of a vector index, and the details of its entry that keep them.

Clauses: L.index.vector.details
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import QueryRefused
from lanceref.index.index_type import Parameters
from lanceref.index.segment import Segment
from lanceref.index.vector.single_file import open_index
from lanceref.index.vector.storage import METRIC_NUMBERS, SAMPLE_RATE, Quantizer, integer
from lanceref.index.vector.vector_index import TYPES, VectorType
from lanceref.index.vector.vectors import VectorType as ColumnType
from lanceref.kernels.distance import AnyVectors, Metric
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.proto import index_pb2

MAX_ITERS = 50
"""Rounds of training at most."""

MOST_PARTITIONS = 4096
"""Partitions that an index has at most unless the caller gives a number."""

PRODUCT_ROWS = 256
"""Rows that a partition of a product quantizer has at least, on the average."""

GRAPH_PARTITION_ROWS = 1 << 20
"""About how many rows a partition with a graph has."""
PARTITION_ROWS = {"FLAT": 4096, "RQ": 4096, "SQ": 8192, "PQ": 8192}
"""About how many rows a partition without graph has, by the storage."""


@dataclass(frozen=True, slots=True)
class VectorParameters:
    """Parameters of an index; `storage` is for the storage, `graph` for graphs.

    `centroids` [partitions, dimension] are used as they are, a `quantizer` with other centroids.
    `hints` go into the details. `single_file` is the form of early releases, only of IVF_PQ.
    """

    type: VectorType
    metric: Metric
    num_partitions: int | None = None
    target_partition_size: int | None = None
    sample_rate: int = SAMPLE_RATE
    max_iters: int = MAX_ITERS
    centroids: AnyVectors | None = None
    storage: Mapping[str, object] = field(default_factory=dict)
    graph: GraphParameters = USUAL
    hints: Mapping[str, str] = field(default_factory=dict)
    single_file: bool = False
    quantizer: Quantizer | None = None

    @property
    def partition_rows(self) -> int:
        """Rows that a partition is meant to have."""
        usual = GRAPH_PARTITION_ROWS if self.type.graphs else PARTITION_ROWS[self.type.storage.name]
        return self.target_partition_size or usual

    def partitions(self, num_rows: int) -> int:
        """Return how many partitions so many rows get: at most 4096 unless a number is given.

        Those of a product quantizer have at least 256 rows on the average.
        """
        if self.centroids is not None:
            return len(self.centroids)
        if self.num_partitions is not None:
            most = num_rows // PRODUCT_ROWS if self.type.storage.name == "PQ" else num_rows
            return max(1, min(self.num_partitions, most))
        return min(max(1, num_rows // self.partition_rows), MOST_PARTITIONS)

    def details(self, quantizer: Quantizer | None = None) -> index_pb2.VectorIndexDetails:
        """Return the details of the entry, with the `quantizer` of the index if it has one."""
        details = index_pb2.VectorIndexDetails(
            metric_type=METRIC_NUMBERS[self.metric],
            target_partition_size=self.target_partition_size or 0,
            runtime_hints=self.hints,
        )
        if self.type.graphs:
            details.hnsw_index_config.max_connections = self.graph.m
            details.hnsw_index_config.construction_ef = self.graph.ef_construction
            details.hnsw_index_config.max_level = self.graph.max_level
        fields = self.storage if quantizer is None else quantizer.metadata()
        match self.type.storage.name:
            case "FLAT":
                details.flat.SetInParent()
            case "SQ":
                details.sq.num_bits = 8
            case "PQ":
                details.pq.num_bits = integer(fields, "num_bits", integer(fields, "nbits", 8))
                details.pq.num_sub_vectors = integer(fields, "num_sub_vectors", 0)
            case "RQ":
                details.rq.num_bits = integer(fields, "num_bits", 5)
                if quantizer is not None and fields["rotation_type"] == "matrix":
                    rotations = index_pb2.VectorIndexDetails.RabitQuantization
                    details.rq.rotation_type = rotations.MATRIX
        return details

    @property
    def least_vectors(self) -> int:
        """How many vectors that are not null there must be; else the index is only defined."""
        learnt = self.quantizer is not None or self.storage.get("pq_codebook") is not None
        if self.type.storage.name != "PQ" or learnt:
            return 0
        return 1 << integer(self.storage, "num_bits", 8)


def check_column(column: ColumnType, metric: Metric, type_: VectorType) -> None:
    """Check that there are such indices over a column. Raises QueryRefused."""
    is_bytes = column.element == pa.uint8()
    if is_bytes != (metric == "hamming"):
        kind = f"type {column.element} with metric {metric}"
        raise QueryRefused(f"Unsupported training sample {kind}")
    if is_bytes and type_.storage.name != "FLAT":
        raise QueryRefused(f"{type_.name} cannot store {column.element} vectors")
    if column.multivector and metric != "cosine":
        raise QueryRefused("multivector type supports only cosine distance")


def details_of(segment: Segment) -> index_pb2.VectorIndexDetails:
    """Return the details of an entry. Raises BadProto."""
    data, clause = segment.entry.index_details.value, "L.index.vector.details"
    cursor = Cursor(memoryview(data), segment.place.offset, segment.ctx)
    return parse_message(cursor, index_pb2.VectorIndexDetails, "details", clause, segment.place)


def parameters_of(segment: Segment) -> Parameters:
    """Return what a segment was built with, for another to be trained. Raises FormatError."""
    details = details_of(segment)
    storage, graph = storage_fields(details), USUAL
    if segment.built:
        index = open_index(segment)
        type_, metric = index.head.type, index.head.model.metric
        storage = {**index.auxiliary.quantizer.metadata(), **storage}
        graph = USUAL if index.graph_text is None else index.graph_text.usable
    else:
        metrics = {number: name for name, number in METRIC_NUMBERS.items()}
        type_, metric = TYPES[type_name(details)], metrics[details.metric_type]
        if details.HasField("hnsw_index_config"):
            own = details.hnsw_index_config
            sizes = {"m": own.max_connections, "ef_construction": own.construction_ef}
            graph = replace(USUAL, max_level=own.max_level, **sizes)
    target = details.target_partition_size or None
    hints = dict(details.runtime_hints)
    parameters = VectorParameters(
        type_, metric, None, target, storage=storage, graph=graph, hints=hints
    )
    return {"vector": parameters}


def storage_fields(details: index_pb2.VectorIndexDetails) -> dict[str, object]:
    """Return the fields of the storage, by name."""
    storage = details.WhichOneof("compression")
    own = [] if storage is None else getattr(details, storage).ListFields()
    return {one.name: value for one, value in own}


def type_name(details: index_pb2.VectorIndexDetails) -> str:
    """Return the name of the type of index that details are of."""
    storage = details.WhichOneof("compression") or "flat"
    return f"IVF_{'HNSW_' if details.HasField('hnsw_index_config') else ''}{storage.upper()}"
