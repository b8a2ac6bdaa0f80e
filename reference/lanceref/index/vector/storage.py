"""Storage of vectors: what a type makes of the vectors of a partition.

A type keeps of every row some columns, from which distances are computed; how it does so is a
quantizer, which is read from the metadata of a file or trained. Vectors are normalized before when
the metric is cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import Place
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
