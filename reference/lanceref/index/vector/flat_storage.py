"""FLAT storage: the vectors themselves.

Layout: flat, list of fixed size of the column's type; of cosine they are normalized. Metadata
{"dim":n}.

Clauses: L.index.vector.flat.dimension
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import (
    Chosen,
    Columns,
    Mode,
    Model,
    Quantizer,
    Sample,
    Score,
    StorageType,
)
from lanceref.kernels.distance import (
    BLOCK_VALUES,
    AnyVectors,
    Floats,
    Metric,
    Vectors,
    distances,
    distances_from,
    estimates,
    squares_of,
)
from lanceref.kernels.top_k import Errors, Rows, nearest
from lanceref.proto import index_pb2

COLUMN = "flat"


@dataclass(frozen=True)
class FlatRows:
    """The vectors [n, d] of a partition."""

    vectors: AnyVectors
    metric: Metric

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return what computes distances from a query; they are exact in every mode."""

        def score(rows: Chosen) -> Floats:
            if isinstance(rows, slice):
                near: Floats = distances(query[None], self.vectors[rows], self.metric)[0]
                return near
            return distances_from(query, self.vectors.take(rows, axis=0), self.metric)

        return score

    def nearest(
        self, query: AnyVectors, mode: Mode, kept: NDArray[np.bool_], k: int
    ) -> tuple[Rows, Floats]:
        """Return the rows that may be nearest by an estimate, and their distances."""
        if self.metric != "l2" or self.vectors.size <= BLOCK_VALUES:
            rows: Rows = np.flatnonzero(kept)
            return rows, self.score(query, mode)(slice(None))[rows]
        seeming, error = estimates(query, self.vectors, self._squares)
        seeming[~kept] = np.inf

        def of_kept(rows: Rows) -> Floats:
            near: Floats = distances(query[None], self.vectors[rows], "l2")[0]
            near[~kept[rows]] = np.inf
            return near

        rows, near = nearest(seeming, k, of_kept, Errors(error))
        there = kept[rows]
        return rows[there], near[there]

    @cached_property
    def _squares(self) -> Vectors:
        return squares_of(self.vectors)

    def points(self) -> AnyVectors:
        """Return the vectors, for cosine so much shorter that l2 between them is that."""
        if self.metric != "cosine":
            return self.vectors
        return self.vectors.astype(np.float32) * np.float32(0.5**0.5)

    @property
    def code_bytes(self) -> int:
        """Return the bytes of a vector."""
        return int(self.vectors.shape[1]) * self.vectors.itemsize

    def decoded(self, rows: Chosen) -> AnyVectors:
        """Return vectors."""
        return self.vectors[rows]


@dataclass(frozen=True, slots=True)
class Flat:
    """Keeps vectors as they are."""

    model: Model

    @property
    def fields(self) -> list[pa.Field]:
        """The vectors."""
        element = pa.from_numpy_dtype(self.model.centroids.dtype)
        return [pa.field(COLUMN, pa.list_(element, self.model.dimension), nullable=False)]

    def metadata(self) -> Mapping[str, object]:
        """Return the dimension."""
        return {"dim": self.model.dimension}

    def statistics(self) -> Mapping[str, object]:
        """Return the same as the file says."""
        return self.metadata()

    def buffers(self) -> list[bytes]:
        """Return none."""
        return []

    def describe(self, details: index_pb2.VectorIndexDetails) -> None:
        """Say that vectors are kept as they are."""
        details.flat.SetInParent()

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return the vectors."""
        return {COLUMN: vectors}

    def packed(self, rows: Columns) -> Columns:
        """Return the columns."""
        return rows

    def unpacked(self, stored: Columns) -> Columns:
        """Return the columns."""
        return stored

    def stored(self, rows: Columns, partition: int) -> FlatRows:
        """Return the vectors of a partition."""
        vectors: AnyVectors = rows[COLUMN]  # type: ignore[assignment]
        return FlatRows(vectors, self.model.metric)

    def around(self, model: Model) -> Flat:
        """Return the same with other centroids."""
        return replace(self, model=model)

    def joined(self, others: Sequence[Quantizer]) -> Flat:
        """Return this one: vectors are vectors."""
        return self

    def adopted(self, other: Quantizer, rows: Columns) -> Columns:
        """Return the rows."""
        return rows


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Flat:
    """Return the quantizer of a file. Raises FormatError."""
    if given.get("dim") != model.dimension:
        raise FormatError(
            "L.index.vector.flat.dimension",
            place,
            found=f"dim {str(given.get('dim'))[:40]}",
            wanted=f"{model.dimension}, as the centroids have",
        )
    return Flat(model)


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Flat:
    """Return the quantizer: there is nothing to be learnt."""
    return Flat(model)


FLAT = StorageType("FLAT", 1, parse, train)
