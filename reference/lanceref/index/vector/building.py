"""Building: centroids are trained, vectors assigned to them, and written partition by partition.

A segment that takes up others, or rows that none has, keeps what these have learnt: their
centroids and quantizer.

Clauses: L.index.vector.assignment, L.index.vector.rows.order, L.index.vector.loss

Graph building: the graphs of an index, over its vectors as they are stored.

How many rows a graph has, and where its levels begin, follows from the number of its nodes alone:
so that is known before a graph is built, and graphs are written one by one.

Resizing: partitions that have grown too large are split, or those that are too small given up.

Both happen when an index is brought up to date. Its centroids change then and its quantizer does
not; the rows of all its segments are assigned anew, and are one segment.

Of the rows that a partition is meant to have, one with more than four times as many is split, into
as many as make them have no more on the average. Where none is, those with less than a quarter are
given up, but for the largest when all are. The first of the new centroids stands in the place of
the old one, the others behind all.

Clauses: L.index.vector.resize.split, L.index.vector.resize.join
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.core.integers import unique
from lanceref.index.row_set import NO_KEYS, Keys
from lanceref.index.segment import Moved, SegmentWriter, Stage
from lanceref.index.training import Training
from lanceref.index.vector.graph import GRAPH_SCHEMA, GraphText, graph_rows, graph_text
from lanceref.index.vector.parameters import SAMPLE_RATE, VectorParameters
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.single_file import single_file
from lanceref.index.vector.storage import Columns, Model, Quantizer, arrow_column
from lanceref.index.vector.vector_file import (
    HEAD,
    Partitions,
    VectorType,
    partitions_of,
    storage_schema,
    write_auxiliary,
    write_head,
)
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.index.vector.vectors import Keyed, indexed_vectors, sampled_vectors, vector_type
from lanceref.kernels import hnsw_build
from lanceref.kernels.distance import AnyVectors, distances
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.kernels.kmeans import Counts, assign, train

PREFETCH_DISTANCE = 2
"""What texts say of how far ahead a search fetches; it changes no answer."""


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs over the rows of an index, `columns` of all of them, by partition."""

    parameters: GraphParameters
    model: Model
    quantizer: Quantizer
    partitions: Partitions
    columns: Columns

    def _said(self, number: int) -> GraphText | None:
        count = int(self.partitions.lengths[number])
        return graph_text(count, self.parameters, PREFETCH_DISTANCE) if count else None

    @property
    def texts(self) -> list[str]:
        """What is said of the graph of each partition."""
        said = map(self._said, range(len(self.partitions.lengths)))
        return ["" if one is None else one.text for one in said]

    @property
    def rows(self) -> Partitions:
        """The rows of the graph of each partition."""
        said = map(self._said, range(len(self.partitions.lengths)))
        return partitions_of([0 if one is None else one.offsets[-1] for one in said])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Build the graphs, and yield the rows of each."""
        for number in self.partitions.lengths.nonzero()[0].tolist():
            start, end = self.partitions.rows(number)
            own = {name: column[start:end] for name, column in self.columns.items()}
            points = self.quantizer.stored(own, number).points()
            yield graph_rows(hnsw_build.build(points, self.model.of_vectors, self.parameters))


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


SPLIT_ABOVE = 4
"""Times the rows that a partition is meant to have, above which it is split."""

JOINED_BELOW = 4
"""The share of these rows, below which a partition is given up."""


def resized(
    indices: Sequence[VectorIndex], added: Training, table: Training, given: VectorParameters
) -> VectorParameters | None:
    """Return what to build over all rows of the table; None when all partitions may stay.

    `indices` are the segments, `added` the rows that none has, `given` what they were built with.
    Segments that do not share their centroids or what else they have learnt are left alone. Raises
    FormatError.
    """
    first, *others = indices
    model, held = first.head.model, [one.auxiliary.quantizer for one in indices]
    if not table.num_rows or not all(model.shares_partitions(one.head.model) for one in others):
        return None
    try:
        quantizer = held[0].joined(held[1:])
    except OperationRefused:
        return None
    sizes = sum((one.auxiliary.partitions.lengths for one in indices), _added(added, model))
    target = given.partition_rows
    large, small = sizes > SPLIT_ABOVE * target, sizes * JOINED_BELOW < target
    if large.any():
        centroids = _split(model, table, sizes, np.where(large, -(-sizes // target), 0))
    elif small.any() and len(sizes) > 1:
        centroids = _without(model, sizes, small)
    else:
        return None
    return replace(given, centroids=centroids, quantizer=quantizer)


def _added(added: Training, model: Model) -> Counts:
    """Return how many new vectors each partition would get."""
    counts = np.zeros(len(model.centroids), np.int64)
    for keyed in indexed_vectors(added, model.metric):
        numbers = assign(keyed.vectors, model.centroids, model.of_vectors)
        counts += np.bincount(numbers, minlength=len(counts))
    return counts


def _without(model: Model, sizes: Counts, small: NDArray[np.bool_]) -> AnyVectors:
    """Return the centroids of partitions that are not small; the last of the largest stays."""
    kept = ~small
    if not kept.any():
        kept[len(sizes) - 1 - int(np.argmax(sizes[::-1]))] = True
    return model.centroids[kept]


def _split(model: Model, table: Training, sizes: Counts, pieces: Counts) -> AnyVectors:
    """Return centroids with as many in the place of each as there are pieces; 0 leaves it."""
    random = np.random.default_rng()
    shares = np.minimum(1, pieces * SAMPLE_RATE / np.maximum(sizes, 1))
    vectors, numbers = [], []
    for keyed in indexed_vectors(table, model.metric):
        near = assign(keyed.vectors, model.centroids, model.of_vectors)
        drawn = random.random(len(near)) < shares[near]
        vectors.append(keyed.vectors[drawn])
        numbers.append(near[drawn])
    sample, of = np.concatenate(vectors), np.concatenate(numbers)
    centroids, behind = model.centroids.copy(), []
    for number in np.flatnonzero(pieces).tolist():
        own = sample[of == number]
        if len(own):
            count = min(int(pieces[number]), len(own))
            found = train(own, count, model.of_vectors, random)
            centroids[number] = found[0]
            behind.append(found[1:])
    return np.concatenate([centroids, *behind]).astype(centroids.dtype, copy=False)
