"""Distances between vectors.

Four metrics, each smaller the nearer:

    l2       sum of (x_i - q_i) ** 2, not its root
    cosine   1 - x.q / (|x| |q|)
    dot      1 - x.q
    hamming  bits that differ, of bytes

Vectors of float64 are computed in float64, all others in float32; results are float32. Differences
are squared as they are: the shorter x.x - 2 x.q + q.q loses the digits of near vectors. Narrow
numbers are widened block by block, in one place that stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified

Metric: TypeAlias = Literal["l2", "cosine", "dot", "hamming"]
METRICS: tuple[Metric, ...] = get_args(Metric)

Vectors: TypeAlias = NDArray[np.floating]
"""Rows of float16, float32 or float64: [n, d]."""

AnyVectors: TypeAlias = NDArray[np.number]
"""The same, or rows of bytes for hamming."""

Floats = NDArray[np.float32]

Number = TypeVar("Number", bound=np.floating)

BLOCK_VALUES = 2**17
"""Numbers of vectors that are processed together, so that they stay in the cache."""

MULTIPLIED_VALUES = 2**20
"""Numbers of vectors that are multiplied together: BLAS is slower for fewer than half as many."""


def blocks(rows: NDArray[np.number], num_values: int = BLOCK_VALUES) -> Iterator[slice]:
    """Yield the rows [n, d] that are processed together, `num_values` numbers at most."""
    step = max(1, num_values // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        yield slice(start, min(start + step, len(rows)))


@specified
def products(rows: NDArray[np.number], vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of rows [n, d] and a vector [d], in its type."""
    result = np.empty(len(rows), vector.dtype)
    for some in blocks(rows, MULTIPLIED_VALUES):
        np.matmul(rows[some].astype(vector.dtype, copy=False), vector, out=result[some])
    return result


def distances(queries: AnyVectors, vectors: AnyVectors, metric: Metric) -> Floats:
    """Return the distance of every query [q, d] from every vector [n, d], both of one type: [q, n].

    Not finite where the numbers are not, or for the cosine with a vector of zeros.
    """
    wide = np.dtype(np.uint8) if metric == "hamming" else accumulator(vectors)
    numbers = np.ascontiguousarray(queries, wide)
    result = np.empty((len(queries), len(vectors)), np.float32)
    with np.errstate(all="ignore"):
        for rows in blocks(vectors):
            result[:, rows] = _block(numbers, vectors[rows].astype(wide, copy=False), metric)
    return result


def distances_from(query: AnyVectors, few: AnyVectors, metric: Metric) -> Floats:
    """Return the distances [n] of few vectors [n, d] from one query [d], both of one type."""
    if metric != "l2":
        return np.asarray(distances(query[None], few, metric)[0])
    with np.errstate(all="ignore"):
        gaps = few.astype(accumulator(few), copy=False) - query
        return np.asarray(np.einsum("ij,ij->i", gaps, gaps), np.float32)


def _block(queries: AnyVectors, vectors: AnyVectors, metric: Metric) -> AnyVectors:
    """Return the distances [q, n] of few vectors in their own type."""
    if metric == "hamming":
        rows = [np.bitwise_count(vectors ^ query).sum(axis=1) for query in queries]
        return np.array(rows, np.int64).reshape(len(queries), len(vectors))
    if metric == "l2":
        near = np.empty((len(queries), len(vectors)), vectors.dtype)
        gaps = np.empty_like(vectors)
        for query, row in zip(queries, near, strict=True):
            np.subtract(vectors, query, out=gaps)
            np.einsum("ij,ij->i", gaps, gaps, out=row)
        return near
    near = queries @ vectors.T
    if metric == "cosine":
        lengths, own = (np.sqrt(np.einsum("ij,ij->i", x, x)) for x in (vectors, queries))
        near = near / lengths / own[:, None]
    return np.subtract(1, near)


def accumulator(vectors: AnyVectors) -> np.dtype[np.floating]:
    """Return the type in which distances of vectors are computed."""
    return np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)


def normalized(vectors: AnyVectors) -> Vectors:
    """Return vectors [n, d] divided by their lengths, in their own type; not finite for zeros.

    Squares are summed one after the other, as other writers do: the same bits come out.
    """
    unit: Vectors = np.empty(vectors.shape, vectors.dtype)
    with np.errstate(all="ignore"):
        for rows in blocks(vectors):
            wide = vectors[rows].astype(accumulator(vectors), copy=False)
            unit[rows] = wide / np.sqrt(np.cumsum(wide * wide, axis=1)[:, -1:])
    return unit
