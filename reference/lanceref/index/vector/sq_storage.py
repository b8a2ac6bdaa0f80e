"""SQ storage: each number as a byte between two bounds.

Layout: __sq_code, list of fixed size of u8. Metadata
{"dim":n,"num_bits":8,"bounds":{"start":x,"end":y}}.

Clauses: L.index.vector.sq.bits, L.index.vector.sq.dimension, L.index.vector.sq.bounds,
L.index.vector.sq.code
Divergences: D.index.vector-sq-merge
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OperationRefused, Place
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
from lanceref.kernels.distance import AnyVectors, Floats
from lanceref.kernels.scalar_quantizer import (
    Bounds,
    Codes,
    bounds_of,
    dot_distances,
    l2_distances,
    numbers_of,
    quantize,
    squares_of,
)
from lanceref.kernels.top_k import Rows, nearest
from lanceref.proto import index_pb2

COLUMN = "__sq_code"
NUM_BITS = 8
MOST = sys.float_info.max
SAMPLE_RATE = 256
"""Vectors for each byte value that the bounds are taken from."""


@dataclass(frozen=True)
class SqRows:
    """The bytes [n, d] of a partition, and their squared lengths [n]; none for dot."""

    codes: Codes
    squares: NDArray[np.floating]
    model: Model
    bounds: Bounds

    def score(self, query: AnyVectors, mode: Mode) -> Score:
        """Return what computes distances from a query; they are the same in every mode."""
        asked = quantize(query[None], self.bounds)[0]

        def l2(rows: Chosen) -> Floats:
            return l2_distances(asked, self.codes[rows], self.squares[rows], self.bounds)

        def dot(rows: Chosen) -> Floats:
            return dot_distances(query, self.codes[rows], self.bounds)

        return dot if self.model.metric == "dot" else l2

    def nearest(
        self, query: AnyVectors, mode: Mode, kept: NDArray[np.bool_], k: int
    ) -> tuple[Rows, Floats]:
        """Return the rows that may be nearest by half of their bytes, and their distances."""
        score = self.score(query, mode)
        if self.model.metric == "dot":
            rows: Rows = np.flatnonzero(kept)
            return rows, score(slice(None))[rows]
        codes, squares = self._halves
        asked = quantize(query[None, : codes.shape[1]], self.bounds)[0]
        bounds = l2_distances(asked, codes, squares, self.bounds)
        bounds[~kept] = np.inf

        def of_kept(rows: Rows) -> Floats:
            near = score(rows)
            near[~kept[rows]] = np.inf
            return near

        rows, near = nearest(bounds, k, of_kept)
        there = kept[rows]
        return rows[there], near[there]

    @cached_property
    def _halves(self) -> tuple[Codes, NDArray[np.floating]]:
        """The first half of the bytes of all rows, and their squared lengths."""
        codes = np.ascontiguousarray(self.codes[:, : self.codes.shape[1] // 2])
        return codes, squares_of(codes)

    def points(self) -> AnyVectors:
        """Return the numbers that bytes stand for; where only differences count, from 0 on."""
        points = self.codes * self.bounds.step
        if self.model.metric == "dot":
            points += np.float32(self.bounds.start)
        return points

    @property
    def code_bytes(self) -> int:
        """Return the number of bytes, with those of their sum and squared length."""
        return int(self.codes.shape[1]) + 8 * (1 if self.model.metric == "dot" else 2)

    def decoded(self, rows: Chosen) -> AnyVectors:
        """Return the numbers that bytes stand for."""
        return self.bounds.start + self.codes[rows] * np.float64(self.bounds.step)


@dataclass(frozen=True, slots=True)
class Sq:
    """Keeps numbers as bytes."""

    model: Model
    bounds: Bounds

    @property
    def fields(self) -> list[pa.Field]:
        """The bytes."""
        return [pa.field(COLUMN, pa.list_(pa.uint8(), self.model.dimension))]

    def metadata(self) -> Mapping[str, object]:
        """Return the dimension and the bounds."""
        bounds = {"start": self.bounds.start, "end": self.bounds.end}
        return {"dim": self.model.dimension, "num_bits": NUM_BITS, "bounds": bounds}

    def statistics(self) -> Mapping[str, object]:
        """Return the same as the file says."""
        return self.metadata()

    def buffers(self) -> list[bytes]:
        """Return none."""
        return []

    def describe(self, details: index_pb2.VectorIndexDetails) -> None:
        """Say how many bits numbers have."""
        details.sq.num_bits = NUM_BITS

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> Columns:
        """Return the bytes."""
        return {COLUMN: quantize(vectors, self.bounds)}  # L.index.vector.sq.code

    def packed(self, rows: Columns) -> Columns:
        """Return the columns."""
        return rows

    def unpacked(self, stored: Columns) -> Columns:
        """Return the columns."""
        return stored

    def stored(self, rows: Columns, partition: int) -> SqRows:
        """Return the bytes of a partition."""
        codes = rows[COLUMN].astype(np.uint8, copy=False)
        squares = squares_of(codes[:0] if self.model.metric == "dot" else codes)
        return SqRows(codes, squares, self.model, self.bounds)

    def around(self, model: Model) -> Sq:
        """Return the same with other centroids."""
        return replace(self, model=model)

    def joined(self, others: Sequence[Quantizer]) -> Sq:
        """Return one whose bounds hold those of all."""
        held = [one for one in others if isinstance(one, Sq)]
        if len(held) < len(others):
            raise OperationRefused("segments are not all of scalar quantizers")
        return Sq(self.model, reduce(Bounds.union, [one.bounds for one in held], self.bounds))

    def adopted(self, other: Quantizer, rows: Columns) -> Columns:
        """Return bytes by these bounds; by the same they stay as they are."""
        assert isinstance(other, Sq)
        if other.bounds == self.bounds:
            return rows
        codes = rows[COLUMN].astype(np.uint8, copy=False)
        return {COLUMN: quantize(numbers_of(codes, other.bounds), self.bounds)}


def parse(given: Mapping[str, object], file: IndexFile, model: Model, place: Place) -> Sq:
    """Return the quantizer of a file. Raises FormatError."""
    for name, clause, wanted in (
        ("num_bits", "L.index.vector.sq.bits", NUM_BITS),
        ("dim", "L.index.vector.sq.dimension", model.dimension),
    ):
        if given.get(name) != wanted:
            found = f"{name} {str(given.get(name))[:40]}"
            raise FormatError(clause, place, found=found, wanted=f"{wanted}")
    bounds = given.get("bounds")
    ends = [bounds.get(name) for name in ("start", "end")] if isinstance(bounds, dict) else []
    numbers = [one for one in ends if isinstance(one, float) or type(one) is int]
    if len(numbers) < 2 or not all(map(_usable, numbers)) or numbers[0] > numbers[1]:
        raise FormatError(
            "L.index.vector.sq.bounds",
            place,
            found=f"bounds {str(bounds)[:80]}",
            wanted="two numbers, the second not less than the first",
        )
    return Sq(model, Bounds(float(numbers[0]), float(numbers[1])))


def _usable(bound: float) -> bool:
    """Return whether a number is one that vectors can have."""
    return abs(bound) <= MOST


def train(sample: Sample, model: Model, parameters: Mapping[str, object]) -> Sq:
    """Return the quantizer with the bounds of a sample."""
    rate = parameters.get("sample_rate", SAMPLE_RATE)
    assert isinstance(rate, int)
    vectors, _ = sample(rate << NUM_BITS)
    return Sq(model, bounds_of(vectors))


SQ = StorageType("SQ", 1, parse, train)
