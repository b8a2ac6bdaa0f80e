"""The kind of vector indices, one for all their types: the type is in the files.

Clauses: L.index.vector.details
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanceref.core.cursor import Cursor, parse_message
from lanceref.file.schema import Field
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import Training, leaf
from lanceref.index.vector import building
from lanceref.index.vector.parameters import METRICS, VectorParameters, check_column
from lanceref.index.vector.single_file import open_index
from lanceref.index.vector.vector_check import check, check_rows
from lanceref.index.vector.vector_index import TYPES
from lanceref.index.vector.vectors import ELEMENTS, has_vectors, vector_type
from lanceref.kernels.hnsw_graph import USUAL
from lanceref.proto import index_pb2

METRIC_NAMES = {number: name for name, number in METRICS.items()}
"""Metrics by the number that details have."""

ANY_VERSION = (1 << 31) - 1
"""Version of entries up to which they are read: they have 1 or 2, which means nothing."""


def accepts(field: Field) -> bool:
    """Return whether a column holds vectors, which the index needs."""
    type_ = vector_type(leaf(field).arrow.type)
    return type_ is not None and type_.element in ELEMENTS


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows, with `vector` among the parameters. Raises OperationRefused."""
    given = parameters["vector"]
    assert isinstance(given, VectorParameters)
    least, quantizer = given.least_vectors, None
    if training.num_rows and (not least or has_vectors(training, least)):
        column = vector_type(training.type)
        assert column is not None
        check_column(column, given.metric, given.type)
        quantizer = building.build(training, given, writer)
    return Built(given.details(quantizer), given.type.storage.version)


def rewrite(
    segments: Sequence[tuple[Segment, Moved]], training: Training, writer: SegmentWriter
) -> Built:
    """Write what is left of segments, and new rows, as one segment. Raises OperationRefused."""
    opened = [(open_index(segment), moved) for segment, moved in segments]
    building.rewrite(opened, training, writer)
    return Built(details_of(segments[0][0]), opened[0][0].head.type.storage.version)


def details_of(segment: Segment) -> index_pb2.VectorIndexDetails:
    """Return the details of an entry. Raises BadProto."""
    data, clause = segment.entry.index_details.value, "L.index.vector.details"
    cursor = Cursor(memoryview(data), segment.place.offset, segment.ctx)
    return parse_message(cursor, index_pb2.VectorIndexDetails, "details", clause, segment.place)


def parameters_of(segment: Segment) -> Parameters:
    """Return what a segment was built with, for another to be trained. Raises FormatError."""
    details = details_of(segment)
    storage, graph = _storage(details), USUAL
    if segment.built:
        index = open_index(segment)
        type_, metric = index.head.type, index.head.model.metric
        storage = {**index.auxiliary.quantizer.metadata(), **storage}
        graph = USUAL if index.graph_text is None else index.graph_text.usable
    else:
        type_, metric = TYPES[_type_name(details)], METRIC_NAMES[details.metric_type]
        if details.HasField("hnsw_index_config"):
            own = details.hnsw_index_config
            sizes = {"m": own.max_connections, "ef_construction": own.construction_ef}
            graph = replace(USUAL, max_level=own.max_level, **sizes)
    target = details.target_partition_size or None
    hints = dict(details.runtime_hints)
    given = VectorParameters(type_, metric, None, target, storage=storage, graph=graph, hints=hints)
    return {"vector": given}


def resize(segments: Sequence[Segment], added: Training, table: Training) -> Parameters | None:
    """Return the parameters of a rebuild that splits or gives up partitions, None: none needed."""
    given = parameters_of(segments[0])["vector"]
    assert isinstance(given, VectorParameters)
    parameters = building.rebalanced([open_index(one) for one in segments], added, table, given)
    return None if parameters is None else {"vector": parameters}


def _storage(details: index_pb2.VectorIndexDetails) -> dict[str, object]:
    """Return the fields of the storage, by name."""
    storage = details.WhichOneof("compression")
    own = [] if storage is None else getattr(details, storage).ListFields()
    return {one.name: value for one, value in own}


def _type_name(details: index_pb2.VectorIndexDetails) -> str:
    storage = details.WhichOneof("compression") or "flat"
    return f"IVF_{'HNSW_' if details.HasField('hnsw_index_config') else ''}{storage.upper()}"


def describe(segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the type of a segment, and its details by name."""
    details = details_of(segment)
    storage = details.WhichOneof("compression")
    if storage is None and segment.built:  # early entries leave it to the files
        return open_index(segment).head.type.name, {}
    shown: dict[str, object] = {
        "metric_type": index_pb2.VectorMetricType.Name(details.metric_type),
        "runtime_hints": dict(details.runtime_hints),
    }
    if details.HasField("hnsw_index_config"):
        graph = details.hnsw_index_config.ListFields()
        shown["hnsw"] = {one.name: value for one, value in graph}
    if storage not in (None, "flat"):
        shown["compression"] = compression = {"type": storage, **_storage(details)}
        if storage == "rq":
            rotations = index_pb2.VectorIndexDetails.RabitQuantization.RotationType
            compression["rotation_type"] = rotations.Name(details.rq.rotation_type).lower()
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
