"""FLAT storage: the vectors themselves.

Layout: flat, list of fixed size of the column's type; of cosine they are normalized. Metadata
{"dim":n}.

Clauses: L.index.vector.flat.dimension
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import (
    Columns,
    Mode,
    Model,
    Quantizer,
    Sample,
    Score,
    Selection,
    StorageType,
    expect,
)
from lanceref.kernels.distance import AnyVectors, Floats, Metric, distances, distances_from

COLUMN = "flat"


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

    @property
    def fields(self) -> list[pa.Field]:
        """The column of the storage file: the vectors themselves."""
        element = pa.from_numpy_dtype(self.model.centroids.dtype)
        return [pa.field(COLUMN, pa.list_(element, self.model.dimension), nullable=False)]

    def metadata(self) -> Mapping[str, object]:
        return {"dim": self.model.dimension}

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        return {COLUMN: vectors}

    def open_rows(self, rows: Columns, partition: int) -> FlatRows:
        return FlatRows(rows[COLUMN], self.model.metric)  # type: ignore[arg-type]


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Flat:
    """Return the quantizer of a file. Raises FormatError."""
    expect("L.index.vector.flat.dimension", place, "dim", given.get("dim"), model.dimension)
    return Flat(model)


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Flat:
    """Return the quantizer of plain vectors, which learns nothing from the sample."""
    return Flat(model)


FLAT = StorageType("FLAT", 1, parse, train)
