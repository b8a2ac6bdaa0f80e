"""The kind of vector indices, one for all their types: the type is in the files.

Centroids are trained, vectors assigned to them, and written partition by partition. A segment that
takes up others, or rows that no segment has, keeps the centroids and the quantizer of these. How
many rows a graph has, and where its levels begin, follows from the number of its nodes alone: so
graphs are built and written one by one.

An update of an index splits partitions that are too large, or else gives up those that are too
small. The first of the new centroids takes the place of the old one, the others follow all. The
quantizer stays; the rows of all segments are assigned anew, and are one segment.

Clauses: L.index.vector.assignment, L.index.vector.rows.order, L.index.vector.loss,
L.index.vector.resize.split, L.index.vector.resize.join
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.core.integers import unique
from lanceref.file.schema import Field
from lanceref.index.index_type import Built, Parameters, Sources
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.segment import Segment, SegmentWriter
from lanceref.index.training import Training
from lanceref.index.vector import vectors as vector_columns
from lanceref.index.vector.graph import graph_rows, graph_text
from lanceref.index.vector.parameters import (
    VectorParameters,
    check_column,
    details_of,
    parameters_of,
)
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.single_file import open_index, single_file
from lanceref.index.vector.storage import (
    SAMPLE_RATE,
    Columns,
    Model,
    Quantizer,
    Sample,
    arrow_column,
)
from lanceref.index.vector.vector_check import check, check_rows
from lanceref.index.vector.vector_index import (
    HEAD,
    Partitions,
    VectorIndex,
    VectorType,
    partitions_of,
    storage_schema,
    write_auxiliary,
    write_head,
)
from lanceref.kernels import hnsw_build
from lanceref.kernels.distance import AnyVectors, distances
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.kernels.kmeans import Counts, assign, train
from lanceref.proto import index_pb2

ANY_VERSION = (1 << 31) - 1
"""Version of entries up to which they are read: they have 1 or 2, which means nothing."""

PREFETCH_DISTANCE = 2
"""Entry of the texts of graphs that changes no answer: how far ahead a search fetches."""
BATCH_ROWS = 1 << 14
"""Rows that are written together, at least."""

SPLIT_ABOVE = 4
"""Times the rows that a partition is meant to have, above which it is split."""

JOINED_BELOW = 4
"""The share of these rows, below which a partition is given up."""


@dataclass
class EncodedRows:
    """Encoded rows: in each of the `parts` their partitions and keys (n,), columns (n, ...)."""

    quantizer: Quantizer
    parts: list[tuple[Counts, Keys, Columns]] = field(default_factory=list)
    loss: float = 0.0

    def add_vectors(self, keyed: vector_columns.Keyed) -> None:
        """Assign vectors to partitions and encode them."""
        numbers, loss = assigned(keyed.vectors, self.quantizer.model)
        self.loss += loss
        columns = self.quantizer.encode(keyed.vectors, numbers)
        self.parts.append((numbers, keyed.keys, columns))

    def in_order(self) -> tuple[Partitions, Keys, Columns]:
        """Return the rows by partition, in each as they were added: keys (n,), columns (n, ...)."""
        numbers = np.concatenate([np.empty(0, np.int64), *(part[0] for part in self.parts)])
        order = np.argsort(numbers, kind="stable")
        keys = np.concatenate([NO_KEYS, *(part[1] for part in self.parts)])[order]
        columns = {
            one.name: np.concatenate([part[2][one.name] for part in self.parts])[order]
            for one in self.quantizer.fields
        }
        count = len(self.quantizer.model.centroids)
        return partitions_of(np.bincount(numbers, minlength=count)), keys, columns


def assigned(vectors: AnyVectors, model: Model) -> tuple[Counts, float]:
    """Return the partition of each vector [n, d], and the sum of their distances."""
    numbers = assign(vectors, model.centroids, model.of_vectors)
    loss = 0.0
    for number in unique(numbers).tolist():
        own: AnyVectors = vectors[numbers == number]
        near = distances(model.centroids[number : number + 1], own, model.of_vectors)
        loss += float(near.sum(dtype=np.float64))
    return numbers, loss


def build(training: Training, writer: SegmentWriter, parameters: Parameters) -> Built:
    """Build over rows, with `vector` among the parameters. Raises OperationRefused."""
    request = parameters["vector"]
    assert isinstance(request, VectorParameters)
    least, quantizer = request.least_vectors, None
    if training.num_rows and (not least or vector_columns.has_vectors(training, least)):
        column = vector_columns.vector_type(training.type)
        assert column is not None
        check_column(column, request.metric, request.type)
        random = np.random.default_rng()
        model = Model(request.metric, _centroids(training, request, random))
        sample = _sampling(training, model, random)
        if request.quantizer is not None:
            quantizer = replace(request.quantizer, model=model).fitted(sample)
        else:
            quantizer = request.type.storage.train(sample, model, request.storage)
        rows = EncodedRows(quantizer)
        for keyed in vector_columns.indexed_vectors(training, model.metric):
            rows.add_vectors(keyed)
        if request.single_file and isinstance(quantizer, Product):
            name = training.indexed.top.name
            writer.write_bytes(HEAD, single_file(quantizer, *rows.in_order(), rows.loss, name))
        else:
            write(rows, request.type, rows.loss, writer, request.graph)
    return Built(request.details(quantizer), request.type.storage.version)


def _sampling(training: Training, model: Model, random: np.random.Generator) -> Sample:
    """Return a function that draws vectors to be indexed, and their partitions."""

    def sample(most: int) -> tuple[AnyVectors, Counts]:
        vectors = vector_columns.sampled_vectors(training, model.metric, most, random)
        return vectors, assign(vectors, model.centroids, model.of_vectors)

    return sample


def _centroids(
    training: Training, parameters: VectorParameters, random: np.random.Generator
) -> AnyVectors:
    """Return the centroids given, or trained, in the type of the column."""
    column = vector_columns.vector_type(training.type)
    assert column is not None
    if parameters.centroids is not None:
        return np.ascontiguousarray(parameters.centroids.astype(column.dtype))
    count = parameters.partitions(training.num_rows)
    vectors = vector_columns.sampled_vectors(
        training, parameters.metric, count * parameters.sample_rate, random
    )
    if not len(vectors):
        raise IndexRefused("centroids cannot be trained without vectors")
    metric = "l2" if parameters.metric == "cosine" else parameters.metric
    centroids = train(vectors, min(count, len(vectors)), metric, random, parameters.max_iters)
    return np.ascontiguousarray(centroids.astype(vectors.dtype))


def rewrite(sources: Sources, training: Training, writer: SegmentWriter) -> Built:
    """Write what is left of segments, and new rows, as one segment. Raises OperationRefused."""
    opened = [(open_index(segment), moved) for segment, moved in sources]
    (first, _), *others = opened
    model, type_ = first.head.model, first.head.type
    for other, _ in others:
        if other.head.type != type_ or not model.shares_partitions(other.head.model):
            raise OperationRefused("segments differ in type, metric or centroids")
    quantizers = [one.auxiliary.quantizer for one, _ in opened]
    quantizer = quantizers[0].merge(quantizers[1:])
    if training.num_rows:
        quantizer = quantizer.fitted(_sampling(training, model, np.random.default_rng()))
    merged = EncodedRows(quantizer)
    for (index, moved), own in zip(opened, quantizers, strict=True):
        for number in np.flatnonzero(index.auxiliary.partitions.lengths).tolist():
            mask, keys = moved(index.keys(number))
            rows = {name: column[mask] for name, column in index.rows(number).items()}
            columns = merged.quantizer.convert(own, rows)
            merged.parts.append((np.full(len(keys), number, np.int64), keys, columns))
    for keyed in vector_columns.indexed_vectors(training, model.metric):
        merged.add_vectors(keyed)
    moved_only = not others and not training.fragments and first.head.message.HasField("loss")
    loss = first.head.message.loss if moved_only else merged.loss
    texts = [one.graph_text for one, _ in opened]
    graph = next((one.usable for one in texts if one is not None), USUAL)
    write(merged, type_, loss, writer, graph)
    return Built(details_of(sources[0][0]), type_.storage.version)


def write(
    rows: EncodedRows,
    type_: VectorType,
    loss: float,
    writer: SegmentWriter,
    parameters: GraphParameters = USUAL,
) -> None:
    """Write the files of a segment; `parameters` are those of its graphs, if it has any."""
    quantizer, (partitions, keys, columns) = rows.quantizer, rows.in_order()
    write_auxiliary(writer, quantizer, partitions, _batches(quantizer, partitions, keys, columns))
    texts = [
        graph_text(count, parameters, PREFETCH_DISTANCE) if count and type_.graphs else None
        for count in partitions.lengths.tolist()
    ]
    nodes = partitions_of([0 if one is None else one.offsets[-1] for one in texts])
    graphs = _graphs(quantizer, partitions, columns, parameters) if type_.graphs else ()
    shown = ["" if one is None else one.text for one in texts]
    write_head(writer, type_, quantizer.model, loss, nodes, shown, graphs)


def _batches(
    quantizer: Quantizer, partitions: Partitions, keys: Keys, columns: Columns
) -> Iterator[pa.RecordBatch]:
    """Yield row ids and columns as they are in the file, some whole partitions together."""
    schema, start = storage_schema(quantizer), 0
    packed: list[Columns] = []
    for number in range(len(partitions.lengths)):
        first, end = partitions.rows(number)
        if end > first:
            packed.append(quantizer.pack({n: column[first:end] for n, column in columns.items()}))
        if packed and (end - start >= BATCH_ROWS or number + 1 == len(partitions.lengths)):
            arrays = [
                arrow_column(np.concatenate([part[one.name] for part in packed]), one.type)
                for one in quantizer.fields
            ]
            yield pa.record_batch([pa.array(keys[start:end]), *arrays], schema=schema)
            start, packed = end, []


def _graphs(
    quantizer: Quantizer, partitions: Partitions, columns: Columns, parameters: GraphParameters
) -> Iterator[pa.RecordBatch]:
    """Build the graphs over all rows of an index, by partition, and yield the rows of each."""
    for number in partitions.lengths.nonzero()[0].tolist():
        start, end = partitions.rows(number)
        own = {name: column[start:end] for name, column in columns.items()}
        points = quantizer.open_rows(own, number).points()
        yield graph_rows(hnsw_build.build(points, quantizer.model.of_vectors, parameters))


def resize(segments: Sequence[Segment], added: Training, table: Training) -> Parameters | None:
    """Return the parameters to build over all rows of the table; None when all partitions may stay.

    `added` are the rows that no segment has. Segments with other centroids, codebooks or rotations
    than the first are left alone. Raises FormatError.
    """
    request = parameters_of(segments[0])["vector"]
    assert isinstance(request, VectorParameters)
    indices = [open_index(one) for one in segments]
    first, *others = indices
    model, quantizers = first.head.model, [one.auxiliary.quantizer for one in indices]
    if not table.num_rows or not all(model.shares_partitions(one.head.model) for one in others):
        return None
    try:
        quantizer = quantizers[0].merge(quantizers[1:])
    except OperationRefused:
        return None
    every = [one.auxiliary.partitions.lengths for one in indices]
    sizes: Counts = np.array(every, np.int64).sum(axis=0)
    for keyed in vector_columns.indexed_vectors(added, model.metric):
        numbers = assign(keyed.vectors, model.centroids, model.of_vectors)
        sizes += np.bincount(numbers, minlength=len(model.centroids))
    target = request.partition_rows
    large, small = sizes > SPLIT_ABOVE * target, sizes * JOINED_BELOW < target
    if large.any():
        centroids = _split(model, table, sizes, np.where(large, -(-sizes // target), 0))
    elif small.any() and len(sizes) > 1:
        if small.all():
            small[len(sizes) - 1 - int(np.argmax(sizes[::-1]))] = False  # the last of the largest
        centroids = model.centroids[~small]
    else:
        return None
    return {"vector": replace(request, centroids=centroids, quantizer=quantizer)}


def _split(model: Model, table: Training, sizes: Counts, pieces: Counts) -> AnyVectors:
    """Return centroids with as many in the place of each as there are pieces; 0 leaves it."""
    random = np.random.default_rng()
    shares = np.minimum(1, pieces * SAMPLE_RATE / np.maximum(sizes, 1))
    vectors, numbers = [], []
    for keyed in vector_columns.indexed_vectors(table, model.metric):
        near = assign(keyed.vectors, model.centroids, model.of_vectors)
        drawn = random.random(len(near)) < shares[near]
        vectors.append(keyed.vectors[drawn])
        numbers.append(near[drawn])
    sample, partitions = np.concatenate(vectors), np.concatenate(numbers)
    centroids, new = model.centroids.copy(), []
    for number in np.flatnonzero(pieces).tolist():
        own = sample[partitions == number]
        if len(own):
            trained = train(own, min(int(pieces[number]), len(own)), model.of_vectors, random)
            centroids[number] = trained[0]
            new.append(trained[1:])
    return np.concatenate([centroids, *new]).astype(centroids.dtype, copy=False)


class Vector(VectorIndex):
    """The type of indices over vectors, whatever they are stored as."""

    name, shown = "VECTOR", "Vector"
    details = index_pb2.VectorIndexDetails.DESCRIPTOR.full_name
    version = ANY_VERSION
    learns = True
    open = staticmethod(open_index)
    build = staticmethod(build)
    rewrite = staticmethod(rewrite)
    check = staticmethod(check)
    check_rows = staticmethod(check_rows)
    learnt = staticmethod(parameters_of)
    resize = staticmethod(resize)

    @staticmethod
    def accepts(field: Field, /) -> bool:
        """Return whether a field holds vectors, which the index needs."""
        type_ = vector_columns.vector_type(field.arrow.type)
        return type_ is not None and type_.element in vector_columns.ELEMENTS
