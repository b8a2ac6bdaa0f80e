"""Distances between vectors.

Four metrics, each smaller the nearer:

    l2       sum of (x_i - q_i) ** 2, not its root
    cosine   1 - x.q / (|x| |q|)
    dot      1 - x.q
    hamming  bits that differ, of bytes

Vectors of float64 are computed in float64, all others in float32; what is returned is float32.
Differences are squared as they are: the shorter x.x - 2 x.q + q.q loses the digits of near vectors.

Byte products: a vector times rows of bytes, or of other numbers.

What is shorter than the numbers of the vector becomes such block by block, in one place that stays
in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.floating)

BLOCK_BYTES = 2**17
"""Bytes that are multiplied together."""


def blocks(rows: NDArray[np.number]) -> Iterator[slice]:
    """Yield the rows [n, d] that are looked at together."""
    step = max(1, BLOCK_BYTES // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        yield slice(start, min(start + step, len(rows)))


def products(rows: NDArray[np.number], vector: NDArray[Number]) -> NDArray[Number]:
    """Return the products [n] of rows [n, d] and a vector [d], in its type."""
    if rows.dtype == vector.dtype or rows.size <= BLOCK_BYTES:
        at_once: NDArray[Number] = rows.astype(vector.dtype, copy=False) @ vector
        return at_once
    result = np.empty(len(rows), vector.dtype)
    wide = np.empty((0, 0), vector.dtype)
    for some in blocks(rows):
        block = rows[some]
        if not len(wide):
            wide = np.empty(block.shape, vector.dtype)
        numbers = wide[: len(block)]
        np.copyto(numbers, block)
        np.matmul(numbers, vector, out=result[some])
    return result


Metric: TypeAlias = Literal["l2", "cosine", "dot", "hamming"]
METRICS: tuple[Metric, ...] = get_args(Metric)

TINY = np.finfo(np.float32).tiny
"""Least float32 that has all its digits."""

Vectors: TypeAlias = NDArray[np.floating]
"""Rows of float16, float32 or float64: [n, d]."""

AnyVectors: TypeAlias = NDArray[np.number]
"""The same, or rows of bytes for hamming."""

Floats = NDArray[np.float32]

BLOCK_VALUES = 2**17
"""Numbers of the vectors that are looked at together, so that they stay in the cache."""


def distances(queries: AnyVectors, vectors: AnyVectors, metric: Metric) -> Floats:
    """Return the distance of every query [q, d] from every vector [n, d], both of one type: [q, n].

    Not finite where the numbers are not, or for the cosine with a vector of zeros.
    """
    measure = _MEASURES[metric]
    wide = np.dtype(np.uint8) if metric == "hamming" else accumulator(vectors)
    asked = np.ascontiguousarray(queries, wide)
    result = np.empty((len(queries), len(vectors)), np.float32)
    step = max(1, BLOCK_VALUES // max(1, vectors.shape[1]))
    with np.errstate(all="ignore"):
        for start in range(0, len(vectors), step):
            block = vectors[start : start + step].astype(wide, copy=False)
            result[:, start : start + step] = measure(asked, block)
    return result


def distances_from(query: AnyVectors, few: AnyVectors, metric: Metric) -> Floats:
    """Return the distances [n] of few vectors [n, d] from one query [d], both of one type."""
    wide = np.dtype(np.uint8) if metric == "hamming" else accumulator(few)
    few = few.astype(wide, copy=False)
    with np.errstate(all="ignore"):
        if metric == "l2":
            gaps = few - query
            return np.asarray(np.einsum("ij,ij->i", gaps, gaps), np.float32)
        near = _MEASURES[metric](query[None].astype(wide, copy=False), few)
        return np.asarray(near[0], np.float32)


def estimates(
    query: AnyVectors, vectors: AnyVectors, squares: Vectors
) -> tuple[Floats, np.float32]:
    """Return about how far by l2 vectors [n, d] are from a query [d], and how much that is off.

    By x.x - 2 x.q + q.q with the `squares` x.x [n]: that takes a third of the time. Each sum is off
    by d roundings of what is summed at most; there are four, the true distance's among them. What
    is less than the least number of full precision may be lost.
    """
    asked: Vectors = query.astype(squares.dtype)
    square = asked @ asked
    with np.errstate(all="ignore"):
        near = products(vectors, asked)
        near *= -2
        near += squares
        near += square
        digits = np.finfo(np.float32).eps + (4 * len(asked) + 8) * np.finfo(squares.dtype).eps
        error = np.float32(digits * (squares.max(initial=0) + square)) + TINY
        return near.astype(np.float32, copy=False), error


def squares_of(vectors: AnyVectors) -> Vectors:
    """Return x.x of vectors [n, d]: [n]."""
    squares: Vectors = np.empty(len(vectors), accumulator(vectors))
    with np.errstate(all="ignore"):
        for rows in blocks(vectors):
            block = vectors[rows].astype(squares.dtype, copy=False)
            np.einsum("ij,ij->i", block, block, out=squares[rows])
    return squares


def accumulator(vectors: AnyVectors) -> np.dtype[np.floating]:
    """Return the type in which distances of vectors are computed."""
    return np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)


def normalized(vectors: AnyVectors) -> Vectors:
    """Return vectors [n, d] divided by their lengths, in their own type; not finite for zeros.

    Squares are summed one after the other, as other writers do: the same bits come out.
    """
    unit: Vectors = np.empty(vectors.shape, vectors.dtype)
    step = max(1, BLOCK_VALUES // max(1, vectors.shape[1]))
    with np.errstate(all="ignore"):
        for start in range(0, len(vectors), step):
            wide = vectors[start : start + step].astype(accumulator(vectors), copy=False)
            squares = np.cumsum(wide * wide, axis=1)[:, -1:]
            unit[start : start + step] = wide / np.sqrt(squares)
    return unit


def _lengths(vectors: AnyVectors) -> Vectors:
    """Return the length of each vector [n, d]: [n]."""
    lengths: Vectors = np.sqrt(np.einsum("ij,ij->i", vectors, vectors), dtype=vectors.dtype)
    return lengths


def _l2(queries: Vectors, vectors: Vectors) -> Vectors:
    rows = np.empty((len(queries), len(vectors)), vectors.dtype)
    gap = np.empty_like(vectors)
    for query, row in zip(queries, rows, strict=True):
        np.subtract(vectors, query, out=gap)
        np.einsum("ij,ij->i", gap, gap, out=row)
    return rows


def _dot(queries: Vectors, vectors: Vectors) -> Vectors:
    near: Vectors = 1 - queries @ vectors.T
    return near


def _cosine(queries: Vectors, vectors: Vectors) -> Vectors:
    products = queries @ vectors.T
    near: Vectors = 1 - products / _lengths(vectors) / _lengths(queries)[:, None]
    return near


def _hamming(queries: NDArray[np.uint8], vectors: NDArray[np.uint8]) -> NDArray[np.int64]:
    rows = [np.bitwise_count(vectors ^ query).sum(axis=1, dtype=np.int64) for query in queries]
    return np.array(rows, np.int64).reshape(len(queries), len(vectors))


_MEASURES: dict[Metric, Callable[..., NDArray[Any]]] = {
    "l2": _l2,
    "cosine": _cosine,
    "dot": _dot,
    "hamming": _hamming,
}
