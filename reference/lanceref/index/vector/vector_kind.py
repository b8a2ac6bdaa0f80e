"""The kind of vector indices: all types have one, the files say which it is.

Clauses: L.index.vector.details
"""

from __future__ import annotations

from collections.abc import Sequence

from lanceref.cursor import Cursor
from lanceref.file.schema import Field
from lanceref.index.kind import Built, Kind, Parameters
from lanceref.index.segment import Moved, Segment
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.index.vector import building
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.single_file_index import open_index
from lanceref.index.vector.vector_file import type_name
from lanceref.index.vector.vectors import ELEMENTS, vector_type
from lanceref.kernels.hnsw_parameters import USUAL
from lanceref.proto import index_pb2
from lanceref.wire import parse_message

ANY_VERSION = (1 << 31) - 1
"""Entries say 1 or 2, which readers do not look at."""


def accepts(field: Field) -> bool:
    """Return whether a column holds vectors."""
    found = vector_type(leaf(field).arrow.type)
    return found is not None and found.element in ELEMENTS


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows; `vector` among the parameters says what. Raises OperationRefused."""
    given = parameters["vector"]
    assert isinstance(given, VectorParameters)
    _, quantizer = building.build(training, given, writer)
    details = given.details()
    quantizer.describe(details)
    return Built(details, given.type.storage.version)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment. Raises OperationRefused."""
    opened = [(open_index(segment), moved) for segment, moved in segments]
    building.rewrite(opened, training, writer)
    return Built(details_of(segments[0][0]), opened[0][0].head.type.storage.version)


def details_of(segment: Segment) -> index_pb2.VectorIndexDetails:
    """Return the details of an entry. Raises BadProto."""
    data = segment.entry.index_details.value
    cursor = Cursor(memoryview(data), segment.place.offset, segment.ctx)
    clause = "L.index.vector.details"
    return parse_message(cursor, index_pb2.VectorIndexDetails, "details", clause, segment.place)


def parameters_of(segment: Segment) -> Parameters:
    """Return what a segment was built with, for another to be trained. Raises FormatError."""
    index, details = open_index(segment), details_of(segment)
    graph = index.graph_text
    given = VectorParameters(
        index.head.type,
        index.head.model.metric,
        num_partitions=len(index.head.model.centroids),
        target_partition_size=details.target_partition_size or None,
        storage=index.auxiliary.quantizer.metadata(),
        graph=USUAL if graph is None else graph.parameters,
        hints=dict(details.runtime_hints),
    )
    return {"vector": given}


def describe(segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the type of a segment, and what its details say."""
    details = details_of(segment)
    storage = details.WhichOneof("compression")
    graphs = details.HasField("hnsw_index_config")
    if storage is None:  # early entries leave it to the files
        return open_index(segment).head.type.name, {}
    shown: dict[str, object] = {
        "metric_type": index_pb2.VectorMetricType.Name(details.metric_type),
        "runtime_hints": dict(details.runtime_hints),
    }
    if graphs:
        config = details.hnsw_index_config
        shown["hnsw"] = {one.name: value for one, value in config.ListFields()}
    if details.target_partition_size:
        shown["target_partition_size"] = details.target_partition_size
    return type_name(storage.upper(), graphs), shown


VECTOR = Kind(
    name="VECTOR",
    shown="Vector",
    details=index_pb2.VectorIndexDetails.DESCRIPTOR.full_name,
    version=ANY_VERSION,
    exact=(),
    inexact=(),
    accepts=accepts,
    open=open_index,
    build=build,
    rewrite=rewrite,
    parameters=parameters_of,
    describe=describe,
)
