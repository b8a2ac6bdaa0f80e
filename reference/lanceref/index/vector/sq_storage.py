"""SQ storage: each number as a byte between two bounds.

The byte is (x - start) * 255 / (end - start) in float64 without its fraction; what is outside gets
the nearest byte, NaN 0. Distances are computed from bytes; the query is quantized too, but for dot:

    l2   sum of (c_i - q_i) ** 2 over bytes, times step ** 2
    dot  1 - sum of (start + step c_i) q_i, q the numbers of the query

Layout: __sq_code, list of fixed size of u8. Metadata
{"dim":n,"num_bits":8,"bounds":{"start":x,"end":y}}.

Clauses: L.index.vector.sq.bits, L.index.vector.sq.dimension, L.index.vector.sq.bounds,
L.index.vector.sq.code
Divergences: D.index.vector-sq-merge
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import FormatError, OperationRefused, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector import storage
from lanceref.kernels.distance import AnyVectors, Floats, blocks, products

COLUMN = "__sq_code"
NUM_BITS = 8
Codes = NDArray[np.uint8]

LEVELS = 255
EXACT_DIMENSIONS = 256
"""Sums of so many products of two bytes are whole numbers that float32 has."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the greatest number, between which bytes divide."""

    start: float
    end: float

    @property
    def step(self) -> np.float32:
        """Difference between the numbers of two neighbouring bytes."""
        return np.float32(np.float32(self.end - self.start) / np.float32(LEVELS))

    def union(self, other: Bounds) -> Bounds:
        """Return bounds that hold the numbers of both."""
        return Bounds(min(self.start, other.start), max(self.end, other.end))


NOTHING = Bounds(sys.float_info.max, -sys.float_info.max)
"""Bounds of no numbers: with any others they are those of the others."""


def bounds_of(vectors: AnyVectors) -> Bounds:
    """Return the bounds of all numbers of vectors [n, d]."""
    return Bounds(float(vectors.min()), float(vectors.max())) if vectors.size else NOTHING


def quantize(vectors: AnyVectors, bounds: Bounds) -> Codes:
    """Return the bytes of numbers [n, d]."""
    width = bounds.end - bounds.start
    if not width > 0:
        return np.zeros(vectors.shape, np.uint8)
    with np.errstate(all="ignore"):
        places = (vectors.astype(np.float64) - bounds.start) * LEVELS / width
        return np.nan_to_num(np.clip(places, 0, LEVELS), nan=0).astype(np.uint8)


def numbers_of(codes: Codes, bounds: Bounds) -> NDArray[np.float64]:
    """Return numbers [n, d] in the middle of what has these bytes."""
    return bounds.start + (codes + 0.5) * (bounds.end - bounds.start) / LEVELS


def l2_distances(
    query: Codes, codes: Codes, squares: NDArray[np.floating], bounds: Bounds
) -> Floats:
    """Return the squared distances of bytes [n, d] from a query's [d], as numbers.

    `squares` are those of `squares_of`; (c - q) ** 2 is c ** 2 - 2 c q + q ** 2 without rounding,
    since these are whole numbers below the precision of their type.
    """
    # L.index.vector.sq.code
    numbers = query.astype(squares.dtype)
    near = squares - 2 * products(codes, numbers) + numbers @ numbers
    return np.asarray(near.astype(np.float32) * (bounds.step * bounds.step), np.float32)


def squares_of(codes: Codes) -> NDArray[np.floating]:
    """Return the squared lengths [n] of bytes [n, d], in a type that has them exactly."""
    wide: np.dtype[np.floating] = np.dtype("f4" if codes.shape[1] <= EXACT_DIMENSIONS else "f8")
    squares = np.empty(len(codes), wide)
    for rows in blocks(codes):
        block = codes[rows].astype(wide)
        np.einsum("ij,ij->i", block, block, out=squares[rows])
    return squares


def dot_distances(query: AnyVectors, codes: Codes, bounds: Bounds) -> Floats:
    """Return 1 less the products of a query [d] with the numbers of bytes [n, d]."""
    numbers = query.astype(np.float32)
    near = bounds.step * products(codes, numbers)
    return np.asarray(1 - (np.float32(bounds.start) * numbers.sum() + near), np.float32)


@dataclass(frozen=True, eq=False)
class SqRows:
    """The bytes [n, d] of a partition, and their squared lengths [n]; none for dot."""

    codes: Codes
    squares: NDArray[np.floating]
    model: storage.Model
    bounds: Bounds

    def score(self, query: AnyVectors, mode: storage.Mode) -> storage.Score:
        if self.model.metric == "dot":
            return lambda rows: dot_distances(query, self.codes[rows], self.bounds)
        own, codes, squares = quantize(query[None], self.bounds)[0], self.codes, self.squares
        return lambda rows: l2_distances(own, codes[rows], squares[rows], self.bounds)

    def points(self) -> AnyVectors:
        points = self.codes * self.bounds.step
        if self.model.metric == "dot":  # of others only differences count
            points += np.float32(self.bounds.start)
        return points


@dataclass(frozen=True)
class Sq(storage.Quantizer):
    """The quantizer that stores each number as one byte."""

    name = "SQ"
    bounds: Bounds

    @classmethod
    def parse(
        cls, metadata: storage.Given, file: IndexFile, model: storage.Model, place: Place
    ) -> Sq:
        for clause, name, expected in (
            ("L.index.vector.sq.bits", "num_bits", NUM_BITS),
            ("L.index.vector.sq.dimension", "dim", model.dimension),
        ):
            storage.check_named(clause, place, name, metadata.get(name), expected)
        bounds = metadata.get("bounds")
        ends = [bounds.get(name) for name in ("start", "end")] if isinstance(bounds, dict) else []
        reals = [one for one in ends if isinstance(one, int | float) and type(one) is not bool]
        numbers = [one for one in reals if abs(one) <= sys.float_info.max]
        if len(numbers) < 2 or (file.num_rows and numbers[0] > numbers[1]):
            found, wanted = f"bounds {str(bounds)[:80]}", "two numbers, the second not the less"
            raise FormatError("L.index.vector.sq.bounds", place, found, wanted)
        return Sq(model, Bounds(float(numbers[0]), float(numbers[1])))

    @classmethod
    def train(cls, sample: storage.Sample, model: storage.Model, parameters: storage.Given) -> Sq:
        """Return the quantizer with the bounds of a sample."""
        rate = storage.integer(parameters, "sample_rate", storage.SAMPLE_RATE)
        vectors, _ = sample(rate << NUM_BITS)
        return Sq(model, bounds_of(vectors))

    @property
    def fields(self) -> list[pa.Field]:
        """The column of the storage file: one byte for each number."""
        return [pa.field(COLUMN, pa.list_(pa.uint8(), self.model.dimension))]

    def metadata(self) -> storage.Given:
        bounds = {"start": self.bounds.start, "end": self.bounds.end}
        return {"dim": self.model.dimension, "num_bits": NUM_BITS, "bounds": bounds}

    def encode(self, vectors: AnyVectors, partitions: NDArray[np.int64]) -> storage.Columns:
        return {COLUMN: quantize(vectors, self.bounds)}  # L.index.vector.sq.code

    def open_rows(self, rows: storage.Columns, partition: int) -> SqRows:
        codes = rows[COLUMN].astype(np.uint8, copy=False)
        squares = squares_of(codes[:0] if self.model.metric == "dot" else codes)
        return SqRows(codes, squares, self.model, self.bounds)

    def fitted(self, sample: storage.Sample) -> Sq:
        """Return one with the bounds of a sample where these are of nothing."""
        return self.train(sample, self.model, {}) if self.bounds.start > self.bounds.end else self

    def merge(self, others: Sequence[storage.Quantizer]) -> Sq:
        """Return one whose bounds hold those of all. Raises OperationRefused."""
        bounds = [one.bounds for one in others if isinstance(one, Sq)]
        if len(bounds) < len(others):
            raise OperationRefused("segments are not all of scalar quantizers")
        return Sq(self.model, reduce(Bounds.union, bounds, self.bounds))

    def convert(self, other: storage.Quantizer, rows: storage.Columns) -> storage.Columns:
        """Return bytes by these bounds; those by the same bounds stay as they are."""
        assert isinstance(other, Sq)
        if other.bounds == self.bounds:
            return rows
        codes = rows[COLUMN].astype(np.uint8, copy=False)
        return {COLUMN: quantize(numbers_of(codes, other.bounds), self.bounds)}
