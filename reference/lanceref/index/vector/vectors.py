"""Vectors: a column of lists of numbers, as an array, and those of it that an index has.

A vector is a list of fixed size of float16, float32, float64 or uint8. A row has one, or as many as
a list of them holds. A null in a vector is NaN, or 0 where it is a byte. An index leaves out rows
that are null, vectors that are not finite, and for cosine those of length 0.

Clauses: L.index.vector.rows.left-out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.index.row_set import Keys
from lanceref.index.training import Training
from lanceref.kernels.distance import AnyVectors, Metric, normalized

ELEMENTS: dict[pa.DataType, np.dtype[np.generic]] = {
    pa.float16(): np.dtype(np.float16),
    pa.float32(): np.dtype(np.float32),
    pa.float64(): np.dtype(np.float64),
    pa.uint8(): np.dtype(np.uint8),
}
"""Types of the numbers of a vector."""


@dataclass(frozen=True, slots=True)
class VectorType:
    """How the vectors of a column are stored."""

    element: pa.DataType
    dimension: int
    multivector: bool

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the numbers as NumPy has it."""
        return ELEMENTS[self.element]


def vector_type(type_: pa.DataType) -> VectorType | None:
    """Return what vectors an Arrow type holds, None when it holds none that can be looked for."""
    type_ = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
    multivector = pa.types.is_list(type_)
    type_ = type_.value_type if multivector else type_
    if not pa.types.is_fixed_size_list(type_):
        return None
    return VectorType(type_.value_type, type_.list_size, multivector)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors [n, d] of some rows, and the places of the rows [n], ascending."""

    values: AnyVectors
    rows: NDArray[np.int64]


def vectors_of(column: pa.Array) -> Vectors:
    """Return the vectors of a column; rows that are null have none: (vectors, dimension)."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    type_ = vector_type(column.type)
    assert type_ is not None and type_.element in ELEMENTS
    rows = np.arange(len(column))
    if type_.multivector:
        sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
        rows, column = np.repeat(rows, sizes), column.flatten()
    if column.null_count:
        rows = rows[column.is_valid().to_numpy(zero_copy_only=False)]
    numbers = column.flatten()
    if numbers.null_count:
        nothing = 0 if type_.element == pa.uint8() else float("nan")
        numbers = pc.fill_null(numbers, pa.scalar(nothing, type_.element))
    values = numbers.to_numpy(zero_copy_only=False).reshape(len(rows), type_.dimension)
    return Vectors(values, rows)


SCAN_SHARE = 4
"""A sample of more than one in so many rows is taken by reading all of them."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Vectors [n, d], normalized for cosine, and the keys [n] of their rows."""

    vectors: AnyVectors
    keys: Keys


def indexed_vectors(training: Training, metric: Metric) -> Iterator[Keyed]:
    """Yield the vectors of rows in the order of the table."""
    for run in training.runs():
        usable = _usable(vectors_of(run.values), metric)
        yield Keyed(usable.values, run.keys[usable.rows])


def sampled_vectors(
    training: Training, metric: Metric, most: int, random: np.random.Generator
) -> AnyVectors:
    """Return vectors of up to so many rows, drawn at random, in the order of the table."""
    total = sum(rows.num_rows for rows in training.fragments)
    if most * SCAN_SHARE > total:
        vectors = np.concatenate([one.vectors for one in indexed_vectors(training, metric)])
        if len(vectors) <= most:
            return vectors
        return np.asarray(vectors[np.sort(random.choice(len(vectors), most, replace=False))])
    chosen = np.sort(random.choice(total, most, replace=False))
    parts, start = [], 0
    for rows in training.fragments:
        own = chosen[(chosen >= start) & (chosen < start + rows.num_rows)] - start
        start += rows.num_rows
        (values,) = rows.take(own, (training.indexed.top,), ())
        found = vectors_of(training.indexed.unnested(values))
        parts.append(_usable(found, metric).values)
    return np.concatenate(parts)


def has_vectors(training: Training, least: int) -> bool:
    """Return whether so many vectors are not null, whatever their numbers; few more are read."""
    seen = 0
    for rows in training.fragments:
        for _, (values,) in rows.scan((training.indexed.top,), (), least, 0, rows.num_rows):
            seen += len(vectors_of(training.indexed.unnested(values)).rows)
            if seen >= least:
                return True
    return False


def _usable(vectors: Vectors, metric: Metric) -> Vectors:
    if vectors.values.dtype == np.uint8:
        return vectors
    values = normalized(vectors.values) if metric == "cosine" else vectors.values
    finite = np.isfinite(values).all(axis=1)
    if finite.all():
        return Vectors(values, vectors.rows)
    return Vectors(values[finite], vectors.rows[finite])
