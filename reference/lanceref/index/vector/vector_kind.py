"""The kind of vector indices: all types have one, the files say which it is.

Clauses: L.index.vector.details
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanceref.core.cursor import Cursor
from lanceref.core.wire import parse_message
from lanceref.file.schema import Field
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.index.vector import building
from lanceref.index.vector.building import resized
from lanceref.index.vector.parameters import METRICS, VectorParameters, check_column
from lanceref.index.vector.single_file import open_index
from lanceref.index.vector.vector_check import check, check_rows
from lanceref.index.vector.vector_file import TYPES, type_name
from lanceref.index.vector.vectors import ELEMENTS, has_vectors, vector_type
from lanceref.kernels.hnsw_graph import USUAL
from lanceref.proto import index_pb2

METRIC_NAMES = {number: name for name, number in METRICS.items()}
"""Metrics by the number that details have."""

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
    details = given.details()
    least = given.least_vectors
    if training.num_rows and (not least or has_vectors(training, least)):
        column = vector_type(training.type)
        assert column is not None
        check_column(column, given.metric, given.type)
        _, quantizer = building.build(training, given, writer)
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
    details = details_of(segment)
    storage, graph = _described(details), USUAL
    if segment.built:
        index = open_index(segment)
        type_, metric = index.head.type, index.head.model.metric
        storage = {**index.auxiliary.quantizer.metadata(), **storage}
        graph = USUAL if index.graph_text is None else index.graph_text.usable
    else:
        type_, metric = TYPES[_type_name(details)], METRIC_NAMES[details.metric_type]
        if details.HasField("hnsw_index_config"):
            config = details.hnsw_index_config
            graph = replace(
                USUAL,
                m=config.max_connections,
                ef_construction=config.construction_ef,
                max_level=config.max_level,
            )
    target = details.target_partition_size or None
    hints = dict(details.runtime_hints)
    given = VectorParameters(type_, metric, None, target, storage=storage, graph=graph, hints=hints)
    return {"vector": given}


def resize(segments: Sequence[Segment], added: Training, table: Training) -> Parameters | None:
    """Return what to build anew where partitions are to be split or given up, None: where not."""
    given = parameters_of(segments[0])["vector"]
    assert isinstance(given, VectorParameters)
    found = resized([open_index(one) for one in segments], added, table, given)
    return None if found is None else {"vector": found}


def _described(details: index_pb2.VectorIndexDetails) -> dict[str, object]:
    """Return what details say of the storage, by name."""
    storage = details.WhichOneof("compression")
    if storage is None:
        return {}
    return {one.name: value for one, value in getattr(details, storage).ListFields()}


def _type_name(details: index_pb2.VectorIndexDetails) -> str:
    storage = details.WhichOneof("compression") or "flat"
    return type_name(storage.upper(), details.HasField("hnsw_index_config"))


def describe(segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the type of a segment, and what its details say."""
    details = details_of(segment)
    storage = details.WhichOneof("compression")
    if storage is None and segment.built:  # early entries leave it to the files
        return open_index(segment).head.type.name, {}
    shown: dict[str, object] = {
        "metric_type": index_pb2.VectorMetricType.Name(details.metric_type),
        "runtime_hints": dict(details.runtime_hints),
    }
    if details.HasField("hnsw_index_config"):
        config = details.hnsw_index_config
        shown["hnsw"] = {one.name: value for one, value in config.ListFields()}
    if storage not in (None, "flat"):
        shown["compression"] = {"type": storage, **_described(details)}
    if storage == "rq":
        rotation = index_pb2.VectorIndexDetails.RabitQuantization.RotationType
        kind = rotation.Name(details.rq.rotation_type).lower()
        shown["compression"] = {"type": storage, **_described(details), "rotation_type": kind}
    if details.target_partition_size:
        shown["target_partition_size"] = details.target_partition_size
    return _type_name(details), shown


def _check(segment: Segment) -> None:
    """Report what is wrong with a segment. Raises FormatError."""
    details_of(segment)
    check(segment)


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
    check=_check,
    check_rows=check_rows,
    parameters=parameters_of,
    resize=resize,
    describe=describe,
)
