"""Storage of vectors: the columns that a type of index keeps of the vectors of a partition.

A quantizer turns vectors into columns, from which distances are computed; it is read from the
metadata of `auxiliary.idx` or trained. Vectors of a cosine index are normalized first. Entries of
the metadata are JSON texts. Codebooks and centroids are tensors of two dimensions: the numbers of
one row after those of another, little-endian.

FLAT keeps the vectors themselves, in a column flat, list of fixed size of the column's type, with
the metadata {"dim":n}. The other types have modules of their own.

Clauses: L.index.vector.columns.null, L.index.vector.metadata, L.index.vector.tensor.shape,
L.index.vector.tensor.type, L.index.vector.tensor.size, L.index.vector.flat.dimension
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.core.errors import FormatError, Place
from lanceref.core.packed_values import fixed_array
from lanceref.index.index_file import IndexFile
from lanceref.kernels.distance import AnyVectors, Floats, Metric, distances, distances_from
from lanceref.proto import index_pb2

Given: TypeAlias = Mapping[str, object]
"""Entries of the metadata of a file, or parameters of a caller, by name."""

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]
"""Of each row a number [n], or several [n, w], by the name of the column."""

Selection: TypeAlias = slice | NDArray[np.int64]
"""Rows of a partition."""

Score: TypeAlias = Callable[[Selection], Floats]
"""Returns the distances of rows from one query."""

Mode = Literal["fast", "normal", "accurate"]
"""How much of the answer a type may give up for speed."""

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

T = TypeVar("T", dict[str, object], list[str])
Entry = TypeVar("Entry", int, bool)

METRIC_NUMBERS: dict[Metric, index_pb2.VectorMetricType] = {
    "l2": index_pb2.L2,
    "cosine": index_pb2.COSINE,
    "dot": index_pb2.DOT,
    "hamming": index_pb2.HAMMING,
}
"""Metrics as messages have them."""

SAME_CENTROIDS = 1e-5
"""Greatest difference between numbers of centroids that count as the same."""


def check_named(clause: str, place: Place, name: str, found: object, wanted: object) -> None:
    """Raise FormatError of a clause where what is found is not what is wanted."""
    if found != wanted:
        raise FormatError(clause, place, f"{name} {str(found)[:40]}", f"{wanted}")


@dataclass(frozen=True, slots=True)
class Model:
    """What all types know of an index: `centroids` [partitions, dimension] of the column's type."""

    metric: Metric
    centroids: AnyVectors

    @property
    def dimension(self) -> int:
        """How many numbers each vector of the index has."""
        return int(self.centroids.shape[1])

    @property
    def of_vectors(self) -> Metric:
        """The metric between stored vectors: l2 for cosine, whose vectors are normalized."""
        return "l2" if self.metric == "cosine" else self.metric

    def shares_partitions(self, other: Model) -> bool:
        """Return whether vectors are assigned alike: by one metric to the same centroids."""
        mine, theirs = self.centroids, other.centroids
        if self.metric != other.metric or mine.shape != theirs.shape:
            return False
        return np.allclose(mine, theirs, rtol=0, atol=SAME_CENTROIDS)


class PartitionRows(Protocol):
    """The rows of one partition; queries [d] are of the column's type, normalized for cosine."""

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return the function that computes the distances of rows from a query [d]."""

    def points(self) -> AnyVectors:
        """Return vectors [n, d] whose distances by `Model.of_vectors` are those between rows."""


@specified
def nearest_rows(
    rows: PartitionRows, query: AnyVectors, mode: Mode, kept: Mask, k: int
) -> tuple[Rows, Floats]:
    """Return rows, ascending, of those `kept` [n], and their distances from a query [d].

    The k nearest are among them: all of them are.
    """
    places: Rows = np.flatnonzero(kept)
    return places, rows.score(query, mode)(slice(None))[places]


@dataclass(frozen=True)
class Quantizer(ABC):
    """How a type keeps vectors; the methods with a body fit a type that learns nothing of them.

    `version` is that of the index entries.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    model: Model

    @classmethod
    @abstractmethod
    def parse(cls, given: Given, file: IndexFile, model: Model, place: Place) -> Quantizer:
        """Return the quantizer of a file by its metadata. Raises FormatError."""

    @classmethod
    def train(cls, sample: Sample, model: Model, parameters: Given) -> Quantizer:
        """Return one for vectors like those of a sample."""
        return cls(model)

    @property
    @abstractmethod
    def fields(self) -> list[pa.Field]:
        """The columns, besides that of the row ids."""

    @abstractmethod
    def metadata(self) -> Given:
        """Return what the file's metadata `storage_metadata` holds, as an object."""

    @abstractmethod
    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return columns for vectors [n, d] in partitions [n]."""

    @abstractmethod
    def open_rows(self, rows: Columns, partition: int) -> PartitionRows:
        """Return the rows of one whole partition, from their columns."""

    def buffers(self) -> list[bytes]:
        """Return the global buffers of the file from 2 on."""
        return []

    def pack(self, rows: Columns) -> Columns:
        """Return the columns of one whole partition as they are in a file."""
        return rows

    def unpack(self, stored: Columns) -> Columns:
        """Return the columns of one whole partition row by row."""
        return stored

    def fitted(self, sample: Sample) -> Quantizer:
        """Return the one to keep vectors by; another where this was trained on none."""
        return self

    def merge(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return one that can keep the rows of this one and of others. Raises OperationRefused."""
        return self

    def convert(self, other: Quantizer, rows: Columns) -> Columns:
        """Return rows of one that was merged into this one, as this one keeps them."""
        return rows


Sample: TypeAlias = Callable[[int], tuple[AnyVectors, NDArray[np.int64]]]
"""Returns up to so many of the vectors to be indexed, and the partition of each."""


SAMPLE_RATE = 256
"""Vectors for each centroid, codeword or byte value that is learnt from a sample."""


def integer(parameters: Given, name: str, usual: int) -> int:
    """Return a parameter of the storage that is a number."""
    value = parameters.get(name)
    return value if isinstance(value, int) else usual


def read_column(file: IndexFile, field: pa.Field, start: int, end: int) -> NDArray[np.generic]:
    """Return rows of a column: [n], or of lists [n, w].

    Raises FormatError when it is missing, of another type or null.
    """
    column = file.read(field.name, field.type, start, end, "L.index.vector.columns.null")
    width = field.type.list_size if pa.types.is_fixed_size_list(field.type) else None
    numbers = column if width is None else column.flatten()
    values: NDArray[np.generic] = numbers.to_numpy(zero_copy_only=False)
    return values if width is None else values.reshape(len(column), width)


def arrow_column(values: NDArray[np.generic], type_: pa.DataType) -> pa.Array:
    """Return numbers [n], or [n, w] for a type of lists, as an array."""
    return fixed_array(type_, len(values), values.reshape(-1).view(np.uint8))


def parse_json(text: str, place: Place, name: str, kind: type[T]) -> T:
    """Parse an entry of the metadata, an object or a list of texts. Raises FormatError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    texts = not isinstance(value, list) or all(isinstance(one, str) for one in value)
    if not isinstance(value, kind) or not texts:
        found, wanted = f"{name} = {text[:80]!r}", f"a {kind.__name__} as JSON"
        raise FormatError("L.index.vector.metadata", place, found, wanted)
    return value


def compact(value: Mapping[str, object] | list[str]) -> str:
    """Return an object as JSON text without blanks."""
    return json.dumps(value, separators=(",", ":"))


def entry(metadata: Given, key: str, kind: type[Entry], clause: str, place: Place) -> Entry:
    """Return a truth value, or a number that is not negative. Raises FormatError of a clause."""
    value = metadata.get(key)
    if not isinstance(value, kind) or type(value) is not kind or value < 0:
        wanted = "true or false" if kind is bool else "a whole number"
        raise FormatError(clause, place, f"{key} {str(value)[:40]}", wanted)
    return value


TENSOR_TYPES: dict[int, np.dtype[np.generic]] = {
    index_pb2.Tensor.FLOAT16: np.dtype("<f2"),
    index_pb2.Tensor.FLOAT32: np.dtype("<f4"),
    index_pb2.Tensor.FLOAT64: np.dtype("<f8"),
    index_pb2.Tensor.UINT8: np.dtype("u1"),
}
"""Types of numbers that vectors can have."""


def parse_tensor(message: index_pb2.Tensor, place: Place) -> AnyVectors:
    """Return the numbers of a tensor [rows, columns], read-only. Raises FormatError."""
    shape, dtype = [int(one) for one in message.shape], TENSOR_TYPES.get(message.data_type)
    check_named("L.index.vector.tensor.shape", place, "sizes of a tensor:", len(shape), 2)
    if dtype is None:
        found, wanted = f"type {message.data_type}", f"one of {sorted(TENSOR_TYPES)}"
        raise FormatError("L.index.vector.tensor.type", place, found, wanted)
    size = shape[0] * shape[1] * dtype.itemsize
    check_named("L.index.vector.tensor.size", place, f"bytes of {shape}:", len(message.data), size)
    return np.frombuffer(message.data, dtype).reshape(shape)


def tensor_of(values: AnyVectors) -> index_pb2.Tensor:
    """Return numbers [rows, columns] as a tensor."""
    types = {dtype: number for number, dtype in TENSOR_TYPES.items()}
    return index_pb2.Tensor(
        data_type=types[values.dtype],  # type: ignore[arg-type]
        shape=values.shape,
        data=np.ascontiguousarray(values).tobytes(),
    )


FLAT_COLUMN = "flat"


@dataclass(frozen=True, eq=False)
class FlatRows:
    """The vectors [n, d] of a partition; distances are exact in every mode."""

    vectors: AnyVectors
    metric: Metric

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        def score(rows: Selection) -> Floats:
            if isinstance(rows, slice):
                return np.asarray(distances(query[None], self.vectors[rows], self.metric)[0])
            return distances_from(query, self.vectors.take(rows, axis=0), self.metric)

        return score

    def points(self) -> AnyVectors:
        if self.metric != "cosine":
            return self.vectors
        # l2 between vectors so much shorter is the cosine distance
        return self.vectors.astype(np.float32) * np.float32(0.5**0.5)


@dataclass(frozen=True)
class Flat(Quantizer):
    """The quantizer that keeps vectors as they are."""

    name = "FLAT"

    @classmethod
    def parse(cls, given: Given, file: IndexFile, model: Model, place: Place) -> Flat:
        clause = "L.index.vector.flat.dimension"
        check_named(clause, place, "dim", given.get("dim"), model.dimension)
        return Flat(model)

    @property
    def fields(self) -> list[pa.Field]:
        """The column of the storage file: the vectors themselves."""
        element = pa.from_numpy_dtype(self.model.centroids.dtype)
        return [pa.field(FLAT_COLUMN, pa.list_(element, self.model.dimension), nullable=False)]

    def metadata(self) -> Given:
        return {"dim": self.model.dimension}

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        return {FLAT_COLUMN: vectors}

    def open_rows(self, rows: Columns, partition: int) -> FlatRows:
        return FlatRows(rows[FLAT_COLUMN], self.model.metric)  # type: ignore[arg-type]
