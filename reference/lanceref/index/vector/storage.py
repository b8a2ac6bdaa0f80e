"""Storage of vectors: what a type makes of the vectors of a partition.

A type keeps of every row some columns, from which distances are computed; how it does so is a
quantizer, which is read from the metadata of a file or trained. Vectors are normalized before when
the metric is cosine.

Columns of `auxiliary.idx`, as arrays: a number for each row [n], or so many [n, w].

Clauses: L.index.vector.columns.null

Quantizer metadata: numbers and flags in what a file says of how vectors are stored.

Metadata of vector index files: JSON texts within the metadata of a schema.

Clauses: L.index.vector.metadata

Tensors: tables of numbers within messages.

Every tensor of a vector index has two dimensions; its numbers lie row by row, little-endian.

Clauses: L.index.vector.tensor.shape, L.index.vector.tensor.type, L.index.vector.tensor.size
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, FormatError, Place
from lanceref.index.index_file import IndexFile
from lanceref.kernels.distance import AnyVectors, Floats, Metric
from lanceref.proto import index_pb2

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]
"""Of each row a number [n], or several [n, w], by the name of the column."""

Chosen: TypeAlias = slice | NDArray[np.int64]
"""Rows of a partition."""

Score: TypeAlias = Callable[[Chosen], Floats]
"""Returns the distances of rows from one query."""

Mode = Literal["fast", "normal", "accurate"]
"""How much a type may save at the cost of the answer."""


SAME_CENTROIDS = 1e-5
"""How far numbers of centroids may be apart that count as the same."""


@dataclass(frozen=True, slots=True)
class Model:
    """What all types know of an index: `centroids` [partitions, dimension] of the column's type."""

    metric: Metric
    centroids: AnyVectors

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.centroids.shape[1])

    @property
    def of_vectors(self) -> Metric:
        """The metric between vectors as they are kept: normalized ones are as far as by l2."""
        return "l2" if self.metric == "cosine" else self.metric

    def shares_partitions(self, other: Model) -> bool:
        """Return whether vectors are assigned alike: by one metric to the same centroids."""
        mine, theirs = self.centroids, other.centroids
        if self.metric != other.metric or mine.shape != theirs.shape:
            return False
        return np.allclose(mine, theirs, rtol=0, atol=SAME_CENTROIDS)


class Stored(Protocol):
    """The rows of one partition."""

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return what computes the distances from a query [d] of the column's type.

        The query is normalized when the metric is cosine.
        """

    def points(self) -> AnyVectors:
        """Return vectors [n, d] whose distances by `Model.of_vectors` are those between rows."""

    def decoded(self, rows: Chosen) -> AnyVectors:
        """Return what rows stand for: vectors [m, d], in float64 where they are computed.

        They may all be turned alike, which changes no distance.
        """

    @property
    def code_bytes(self) -> int:
        """Bytes of what readers keep of a row to compare it with others: codes and numbers."""


@runtime_checkable
class Bounded(Protocol):
    """The same, where not all distances have to be computed to find the least."""

    def nearest(
        self, query: AnyVectors, mode: Mode, kept: NDArray[np.bool_], k: int
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return rows, in order, of those that are `kept` [n], and their distances.

        The k nearest are among them.
        """


class Quantizer(Protocol):
    """How a type keeps vectors."""

    @property
    def fields(self) -> list[pa.Field]:
        """The columns, besides that of the row ids."""

    def metadata(self) -> Mapping[str, object]:
        """Return what the file says of the quantizer."""

    def statistics(self) -> Mapping[str, object]:
        """Return what users are told of the quantizer."""

    def buffers(self) -> list[bytes]:
        """Return the global buffers of the file from 2 on."""

    def describe(self, details: index_pb2.VectorIndexDetails) -> None:
        """Say in the details of the index what it is."""

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return columns for vectors [n, d] in partitions [n]."""

    def packed(self, rows: Columns) -> Columns:
        """Return the columns of one whole partition as they are in a file."""

    def unpacked(self, stored: Columns) -> Columns:
        """Return the columns of one whole partition row by row."""

    def stored(self, rows: Columns, partition: int) -> Stored:
        """Return what computes distances from the columns of one whole partition."""

    def around(self, model: Model) -> Quantizer:
        """Return the same with other centroids."""

    def joined(self, others: Sequence[Quantizer]) -> Quantizer:
        """Return one that can keep the rows of this one and of others. Raises OperationRefused."""

    def adopted(self, other: Quantizer, rows: Columns) -> Columns:
        """Return rows of one that was joined as this one keeps them."""


Sample: TypeAlias = Callable[[int], tuple[AnyVectors, NDArray[np.int64]]]
"""Returns up to so many vectors of those to be indexed, and the partition of each."""


@dataclass(frozen=True, slots=True)
class StorageType:
    """A type of storage.

    `version` is that of the index entries. `parse` makes a quantizer of what a file says of it, and
    raises FormatError; `train` makes one of vectors, as parameters by name say.
    """

    name: str
    version: int
    parse: Callable[[Mapping[str, object], IndexFile, Model, Place], Quantizer]
    train: Callable[[Sample, Model, Mapping[str, object]], Quantizer]


def read_column(file: IndexFile, field: pa.Field, start: int, end: int) -> NDArray[np.generic]:
    """Return rows of a column. Raises FormatError when it is missing, of another type or null."""
    column = file.read(field.name, field.type, start, end)
    width = field.type.list_size if pa.types.is_fixed_size_list(field.type) else None
    numbers = column if width is None else column.flatten()
    if column.null_count or numbers.null_count:
        raise CorruptPage(
            "L.index.vector.columns.null",
            file.place,
            found=f"null in {field.name!r}",
            wanted="a value in every row",
        )
    values: NDArray[np.generic] = numbers.to_numpy(zero_copy_only=False)
    return values if width is None else values.reshape(len(column), width)


def arrow_column(values: NDArray[np.generic], type_: pa.DataType) -> pa.Array:
    """Return an array of a type."""
    if not pa.types.is_fixed_size_list(type_):
        return pa.array(values, type_)
    numbers = pa.array(np.ascontiguousarray(values).reshape(-1), type_.value_type)
    return pa.FixedSizeListArray.from_arrays(numbers, type=type_)


def number(given: Mapping[str, object], key: str, clause: str, place: Place) -> int:
    """Return a number that is not negative. Raises FormatError of a clause when there is none."""
    found = given.get(key)
    if type(found) is not int or found < 0:
        raise FormatError(clause, place, found=f"{key} {str(found)[:40]}", wanted="a whole number")
    return found


def flag(given: Mapping[str, object], key: str, clause: str, place: Place) -> bool:
    """Return a truth value. Raises FormatError of a clause when there is none."""
    found = given.get(key)
    if type(found) is not bool:
        raise FormatError(clause, place, found=f"{key} {str(found)[:40]}", wanted="true or false")
    return found


Json = dict[str, object] | list[object] | str | int | float | bool | None


def parse_json(text: str, place: Place, name: str) -> Json:
    """Parse a text of the metadata. Raises FormatError."""
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "L.index.vector.metadata", place, found=f"{name} = {text[:80]!r}", wanted="JSON"
        ) from error
    return found


def parse_object(text: str, place: Place, name: str) -> dict[str, object]:
    """Parse a text that holds an object. Raises FormatError."""
    found = parse_json(text, place, name)
    if not isinstance(found, dict):
        raise FormatError(
            "L.index.vector.metadata", place, found=f"{name} = {text[:80]!r}", wanted="an object"
        )
    return found


def parse_texts(text: str, place: Place, name: str) -> list[str]:
    """Parse a text that holds a list of texts. Raises FormatError."""
    found = parse_json(text, place, name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FormatError(
            "L.index.vector.metadata",
            place,
            found=f"{name} = {text[:80]!r}",
            wanted="a list of texts",
        )
    return [str(one) for one in found]


def compact(found: Mapping[str, object] | list[str]) -> str:
    """Return JSON without blanks."""
    return json.dumps(found, separators=(",", ":"))


TENSOR_TYPES: dict[int, np.dtype[np.generic]] = {
    index_pb2.Tensor.FLOAT16: np.dtype("<f2"),
    index_pb2.Tensor.FLOAT32: np.dtype("<f4"),
    index_pb2.Tensor.FLOAT64: np.dtype("<f8"),
    index_pb2.Tensor.UINT8: np.dtype("u1"),
}
"""Types of numbers that vectors can have."""


def parse_tensor(message: index_pb2.Tensor, place: Place) -> AnyVectors:
    """Return the numbers of a tensor [rows, columns], read-only. Raises FormatError."""
    shape = [int(one) for one in message.shape]
    if len(shape) != 2:
        raise FormatError(
            "L.index.vector.tensor.shape", place, found=f"shape {shape[:8]}", wanted="two sizes"
        )
    dtype = TENSOR_TYPES.get(message.data_type)
    if dtype is None:
        raise FormatError(
            "L.index.vector.tensor.type",
            place,
            found=f"type {message.data_type}",
            wanted=f"one of {sorted(TENSOR_TYPES)}",
        )
    size = shape[0] * shape[1] * dtype.itemsize
    if size != len(message.data):
        raise FormatError(
            "L.index.vector.tensor.size",
            place,
            found=f"{len(message.data)} bytes",
            wanted=f"{size}, for {shape} of {dtype.itemsize} bytes each",
        )
    return np.frombuffer(message.data, dtype).reshape(shape)


def tensor_of(values: AnyVectors) -> index_pb2.Tensor:
    """Return numbers [rows, columns] as a tensor."""
    types = {dtype: number for number, dtype in TENSOR_TYPES.items()}
    return index_pb2.Tensor(
        data_type=types[values.dtype],  # type: ignore[arg-type]
        shape=values.shape,
        data=np.ascontiguousarray(values).tobytes(),
    )
