"""Building: centroids are trained, vectors assigned to them, and written partition by partition.

A segment that takes up others, or rows that none has, keeps what these have learnt: their
centroids and quantizer.

Clauses: L.index.vector.assignment, L.index.vector.rows.order, L.index.vector.loss
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.core.integers import unique
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.segment import Moved, SegmentWriter, Stage
from lanceref.index.training import Training
from lanceref.index.vector.graph import GRAPH_SCHEMA
from lanceref.index.vector.graph_building import Graphs
from lanceref.index.vector.indexed_vectors import Keyed, indexed_vectors, sampled_vectors
from lanceref.index.vector.ivf import Partitions, partitions_of
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.single_file import single_file
from lanceref.index.vector.storage import Columns, Model, Quantizer
from lanceref.index.vector.stored_columns import arrow_column
from lanceref.index.vector.vector_file import (
    HEAD,
    VectorType,
    storage_schema,
    write_auxiliary,
    write_head,
)
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.index.vector.vectors import vector_type
from lanceref.kernels.distance import AnyVectors, distances
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.kernels.kmeans import assign, train

BATCH_ROWS = 1 << 14
"""Rows that are written together, at least."""

Numbers = NDArray[np.int64]


@dataclass
class Shelf:
    """Rows that have been encoded: of each part the partitions, the keys and the columns."""

    quantizer: Quantizer
    partitions: list[Numbers] = field(default_factory=list)
    keys: list[Keys] = field(default_factory=list)
    columns: list[Columns] = field(default_factory=list)
    loss: float = 0.0

    def add(self, numbers: Numbers, keys: Keys, columns: Columns) -> None:
        """Put rows behind those that are there."""
        self.partitions.append(numbers)
        self.keys.append(keys)
        self.columns.append(columns)

    def add_vectors(self, model: Model, keyed: Keyed) -> None:
        """Assign vectors to partitions and encode them."""
        numbers, loss = assigned(keyed.vectors, model)
        self.loss += loss
        self.add(numbers, keyed.keys, self.quantizer.encode(keyed.vectors, numbers))

    def in_order(self, count: int) -> tuple[Partitions, Keys, Columns]:
        """Return the rows by partition, those of each as they came."""
        numbers = np.concatenate([np.empty(0, np.int64), *self.partitions])
        order = np.argsort(numbers, kind="stable")
        keys = np.concatenate([NO_KEYS, *self.keys])[order]
        columns = {
            one.name: np.concatenate([part[one.name] for part in self.columns])[order]
            for one in self.quantizer.fields
        }
        return partitions_of(np.bincount(numbers, minlength=count)), keys, columns


def assigned(vectors: AnyVectors, model: Model) -> tuple[Numbers, float]:
    """Return the partition of each vector [n, d], and the sum of their distances."""
    numbers = assign(vectors, model.centroids, model.of_vectors)
    loss = 0.0
    for number in unique(numbers).tolist():
        own: AnyVectors = vectors[numbers == number]
        near = distances(model.centroids[number : number + 1], own, model.of_vectors)
        loss += float(near.sum(dtype=np.float64))
    return numbers, loss


def build(
    training: Training, parameters: VectorParameters, writer: SegmentWriter
) -> tuple[Model, Quantizer]:
    """Train and write a segment over rows. Raises OperationRefused."""
    random = np.random.default_rng()
    count = parameters.partitions(training.num_rows)
    stages = writer.stages
    with stages.stage("train_ivf", parameters.max_iters, "iterations"):
        model = Model(parameters.metric, _centroids(training, parameters, count, random))

    def sample(most: int) -> tuple[AnyVectors, Numbers]:
        vectors = sampled_vectors(training, model.metric, most, random)
        return vectors, assign(vectors, model.centroids, model.of_vectors)

    with stages.stage("train_quantizer"):
        if parameters.quantizer is not None:
            quantizer = parameters.quantizer.around(model)
        else:
            quantizer = parameters.type.storage.train(sample, model, parameters.storage)
    shelf = Shelf(quantizer)
    with stages.stage("shuffle", training.num_rows, "rows") as stage:
        for keyed in indexed_vectors(training, model.metric):
            shelf.add_vectors(model, keyed)
            stage.more(len(keyed.keys))
    if parameters.single_file and isinstance(quantizer, Product):
        _write_single(shelf, quantizer, model, writer, training.field.name)
    else:
        write(shelf, parameters.type, model, shelf.loss, writer, parameters.graph)
    return model, quantizer


def _centroids(
    training: Training, parameters: VectorParameters, count: int, random: np.random.Generator
) -> AnyVectors:
    """Return the centroids given, or trained, in the type of the column."""
    column = vector_type(training.type)
    assert column is not None
    if parameters.centroids is not None:
        return np.ascontiguousarray(parameters.centroids.astype(column.dtype))
    size = count * parameters.sample_rate
    vectors = sampled_vectors(training, parameters.metric, size, random)
    if not len(vectors):
        raise IndexRefused("centroids cannot be trained without vectors")
    count = min(count, len(vectors))
    metric = "l2" if parameters.metric == "cosine" else parameters.metric
    found = train(vectors, count, metric, random, parameters.max_iters)
    return np.ascontiguousarray(found.astype(vectors.dtype))


def rewrite(
    segments: Sequence[tuple[VectorIndex, Moved]], training: Training, writer: SegmentWriter
) -> tuple[Model, Quantizer]:
    """Write what is left of segments, and new rows, as one segment. Raises OperationRefused."""
    (first, _), *others = segments
    model, type_ = first.head.model, first.head.type
    for other, _ in others:
        if other.head.type != type_ or not model.shares_partitions(other.head.model):
            raise OperationRefused("segments differ in type, metric or centroids")
    held = [one.auxiliary.quantizer for one, _ in segments]
    shelf = Shelf(held[0].joined(held[1:]))
    for (index, moved), own in zip(segments, held, strict=True):
        for number in np.flatnonzero(index.auxiliary.partitions.lengths).tolist():
            kept, keys = moved(index.keys(number))
            rows = {name: column[kept] for name, column in index.rows(number).items()}
            columns = shelf.quantizer.adopted(own, rows)
            shelf.add(np.full(len(keys), number, np.int64), keys, columns)
    for keyed in indexed_vectors(training, model.metric):
        shelf.add_vectors(model, keyed)
    moved_only = not others and not training.fragments and first.head.message.HasField("loss")
    loss = first.head.message.loss if moved_only else shelf.loss
    texts = [one.graph_text for one, _ in segments]
    graph = next((one.usable for one in texts if one is not None), USUAL)
    write(shelf, type_, model, loss, writer, graph)
    return model, shelf.quantizer


def write(
    shelf: Shelf,
    type_: VectorType,
    model: Model,
    loss: float,
    writer: SegmentWriter,
    parameters: GraphParameters = USUAL,
) -> None:
    """Write the files of a segment, whose graphs are built with parameters if it has any."""
    partitions, keys, columns = shelf.in_order(len(model.centroids))
    with writer.stages.stage("merge_partitions", len(model.centroids), "partitions") as stage:
        batches = _batches(shelf.quantizer, partitions, keys, columns, stage)
        write_auxiliary(writer, model, shelf.quantizer, partitions, batches)
        if type_.graphs:
            graphs = Graphs(parameters, model, shelf.quantizer, partitions, columns)
            head = GRAPH_SCHEMA, graphs.batches(), graphs.rows, graphs.texts
            write_head(writer, type_, model, loss, head)
        else:
            write_head(writer, type_, model, loss)


def _write_single(
    shelf: Shelf, quantizer: Product, model: Model, writer: SegmentWriter, column: str
) -> None:
    """Write the one file of a segment as early releases did."""
    partitions, keys, columns = shelf.in_order(len(model.centroids))
    parts = []
    for number in range(len(partitions.lengths)):
        rows = slice(*partitions.rows(number))
        parts.append((keys[rows], {name: column[rows] for name, column in columns.items()}))
    data = single_file(model, quantizer, parts, shelf.loss, column)
    writer.write_bytes(HEAD, data)


def _batches(
    quantizer: Quantizer, partitions: Partitions, keys: Keys, columns: Columns, stage: Stage
) -> Iterator[pa.RecordBatch]:
    """Yield row ids and columns as they are in the file, some whole partitions together."""
    schema, start = storage_schema(quantizer), 0
    held: list[Columns] = []
    for number in range(len(partitions.lengths)):
        first, end = partitions.rows(number)
        if end > first:
            held.append(quantizer.packed({n: column[first:end] for n, column in columns.items()}))
        stage.more()
        if held and (end - start >= BATCH_ROWS or number + 1 == len(partitions.lengths)):
            arrays = [
                arrow_column(np.concatenate([part[one.name] for part in held]), one.type)
                for one in quantizer.fields
            ]
            yield pa.record_batch([pa.array(keys[start:end]), *arrays], schema=schema)
            start, held = end, []
