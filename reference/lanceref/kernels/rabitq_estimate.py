"""RabitQ: the rotation, the factors stored with each code, and the distances estimated from them.

Gao, Long: RaBitQ, SIGMOD 2024 (arXiv 2405.12497). Section 3.1: RabitQ stores the signs of a
randomly rotated residual. The rotation is a matrix, or four rounds, each of which negates some
components and mixes t of them by a Walsh-Hadamard transform, divided by sqrt(t). t is the largest
power of two in the dimension d. Where it is less than d, rounds mix the first and the last t
components in turn, and sums and differences of both halves follow; these double the length in two
rounds.

Factors: of a vector v in the partition of centroid c, z is the rotated residual v - c, g the
rotated centroid and w what the code represents: half of the signs, or more with extended codes. The
residual is taken for that multiple of w whose product with z is ||z|| ** 2 (section 3.2); with
n2 = ||z|| ** 2, a = z.w and h = g.w:

              l2 (also of normalized vectors)   dot
    add       n2 + 2 n2 h / a                   1 - z.g + n2 h / a
    scale     -2 n2 / a                         -n2 / a
    error     2 E                               E

    E = sqrt(n2) * 1.9 * sqrt(max(n2 d / 4 / a ** 2 - 1, 0) / (d - 1))

E times the length of a query's residual bounds how far the distance by signs alone is off, with
high probability (section 3.3, where 1.9 is called epsilon_0). Quotients by 0 are 0.

Estimate: of a query q, y is the rotated query and S the sum of its components; s is the sum of
those where a row's sign is 1. With b of the signs, y.b = s - S / 2 (section 3.3), and with w of the
extended codes c of e bits, y.w = 2 ** e s + y.c - (2 ** e - 1/2) S:

    distance = y.b scale + f(add),  or the same of w and its factors

    l2   f(A) = A + |q - c| ** 2
    dot  f(A) = alpha (A - 1) + 1 - y.g,  alpha = y.g / g.g

s is looked up, for every four components, in a table of 16 sums. Rows in full blocks of 32 have it
from sums rounded to whole steps between the smallest and the largest of all tables, the rows after
these exactly: the distance depends on where a row lies in its partition.

Older indices rotate the residual of the query, y of q - c: add is n2, for dot 1 - v.c + c.c, scale
has no part of the centroid, there is no error, and

    distance = (2 s - S) / sqrt(d) scale + add + |q - c| ** 2,  for dot - c.q in place of the last
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from lanceref.kernels.distance import Floats, Metric, products
from lanceref.kernels.product_quantizer import Bytes, bytewise, look_up
from lanceref.kernels.rabitq_codes import BLOCK_ROWS

ROUNDS, ROTATED_ROWS = 4, 512
"""Rounds of a rotation; vectors that are rotated together, so that they stay in the cache."""

CONFIDENCE = 1.9
"""epsilon_0 of section 3.3."""

STEPS, FINE_STEPS = 255, 65535
"""Steps between the smallest and the largest sum, and for queries that are to be accurate."""

BITS = np.unpackbits(np.arange(16, dtype=np.uint8)[:, None], axis=1, bitorder="little")[:, :4]
"""The four bits of each half of a byte, lowest first."""


@dataclass(frozen=True, slots=True)
class FastRotation:
    """Of each round the components that are negated: bits, the first lowest, [4, d / 8]."""

    signs: Bytes

    def rotate(self, vectors: Floats) -> Floats:
        """Return vectors [n, d] rotated, d a multiple of 8."""
        negated = np.unpackbits(self.signs, axis=1, bitorder="little").astype(np.float32)
        factors = 1 - 2 * negated[:, :, None]
        rotated = np.empty_like(vectors)
        for start in range(0, len(vectors), ROTATED_ROWS):
            columns = np.array(vectors[start : start + ROTATED_ROWS].T, np.float32, order="C")
            rotated[start : start + ROTATED_ROWS] = _four_rounds(columns, factors).T
        return rotated


@dataclass(frozen=True, slots=True)
class MatrixRotation:
    """A matrix [d, d], one row for each component of the result."""

    matrix: Floats

    def rotate(self, vectors: Floats) -> Floats:
        """Return vectors [n, d] multiplied by the rotation matrix."""
        rotated: Floats = vectors @ self.matrix.T
        return rotated


Rotation: TypeAlias = FastRotation | MatrixRotation


def draw_rotation(dim: int, random: np.random.Generator) -> FastRotation:
    """Return a rotation drawn at random, `dim` a multiple of 8."""
    return FastRotation(random.integers(0, 256, (ROUNDS, dim // 8), np.uint8))


def _four_rounds(columns: Floats, factors: Floats) -> Floats:
    """Rotate columns [d, n] in place; factors are 1 or -1, [4, d, 1]."""
    dim = len(columns)
    mixed = 1 << (dim.bit_length() - 1)
    half, share = dim // 2, np.float32(1 / np.sqrt(np.float32(mixed)))
    for number, factor in enumerate(factors):
        columns *= factor
        part = columns[:mixed] if number % 2 == 0 else columns[dim - mixed :]
        step = 1
        while step < mixed:  # Walsh-Hadamard transform
            pairs = part.reshape(mixed // (2 * step), 2, step, -1)
            _sum_and_difference(pairs[:, 0], pairs[:, 1])
            step *= 2
        part *= share
        if mixed < dim:
            _sum_and_difference(columns[:half], columns[half : 2 * half])
    if mixed < dim:
        columns *= np.float32(0.25)
    return columns


def _sum_and_difference(first: Floats, second: Floats) -> None:
    total = first + second
    np.subtract(first, second, out=second)
    first[:] = total


@dataclass(frozen=True, slots=True)
class Factors:
    """The two factors of each vector [n] that estimate its distance."""

    add: Floats
    scale: Floats


def factors(
    rotated: Floats, halves: Floats, centers: Floats, squares: Floats, metric: Metric
) -> Factors:
    """Return the factors of residuals z [n, d] with w [n, d], g [n, d] and n2 [n]."""
    share = _divide(squares, _dot(rotated, halves))
    toward = share * _dot(centers, halves)
    if metric == "dot":
        return Factors(1 - _dot(rotated, centers) + toward, -share)
    return Factors(squares + 2 * toward, -2 * share)


def residual_factors(
    rotated: Floats, halves: Floats, centers: Floats, squares: Floats, metric: Metric
) -> Factors:
    """Return the factors that older indices have. Each is float32 (rows,)."""
    share = _divide(squares, 2 * _dot(rotated, halves) / np.float32(np.sqrt(rotated.shape[1])))
    if metric == "dot":
        return Factors(1 - _dot(rotated, centers), -share)
    return Factors(squares, -2 * share)


def error_factors(rotated: Floats, halves: Floats, squares: Floats, metric: Metric) -> Floats:
    """Return the errors of residuals z [n, d] with signs w [n, d]."""
    dim = rotated.shape[1]
    if dim <= 1:
        return np.zeros(len(rotated), np.float32)
    near = _dot(rotated, halves)
    excess = _divide(squares * np.float32(dim / 4), near * near) - 1
    spread = np.sqrt(np.maximum(excess, 0) / np.float32(dim - 1))
    errors = np.sqrt(squares) * np.float32(CONFIDENCE) * spread
    errors = np.where(near == 0, 0, errors).astype(np.float32)
    return errors if metric == "dot" else 2 * errors


def _dot(first: Floats, second: Floats) -> Floats:
    sums: Floats = np.einsum("ij,ij->i", first, second)
    return sums


def _divide(above: Floats, below: Floats) -> Floats:
    """Return a quotient, 0 where it would be by 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query in a partition: y, S, and f as `slope` and `base`."""

    rotated: Floats
    total: np.float32
    slope: np.float32
    base: np.float32


def query_terms(rotated: Floats, center: Floats, far: np.float32, metric: Metric) -> QueryTerms:
    """Return the terms of y [d], the rotated centroid g [d], and |q - c| ** 2."""
    total = rotated.sum(dtype=np.float32)
    one = np.float32(1)
    if metric != "dot":
        return QueryTerms(rotated, total, one, far)
    product = np.float32(np.dot(rotated, center))
    with np.errstate(all="ignore"):
        slope = product / np.float32(np.dot(center, center))
    slope = slope if np.isfinite(slope) else np.float32(0)
    return QueryTerms(rotated, total, slope, one - product - slope)


def by_signs(query: QueryTerms, sums: Floats, factors: Factors) -> Floats:
    """Return the distances [n] by signs alone."""
    return _distances(query, sums - query.total / 2, factors)


def by_codes(
    query: QueryTerms, sums: Floats, codes: Bytes, num_bits: int, factors: Factors
) -> Floats:
    """Return the distances [n] by signs and codes [n, d] of `num_bits` bits."""
    whole = np.float32(2**num_bits)
    near = products(codes, query.rotated)
    near += whole * sums
    near -= (whole - np.float32(0.5)) * query.total
    return _distances(query, near, factors)


def _distances(query: QueryTerms, near: Floats, factors: Factors) -> Floats:
    """Return the distances [n] of products [n], which are overwritten."""
    # L.index.vector.rq.distance
    near *= factors.scale
    add = factors.add if query.slope == 1 else query.slope * factors.add
    near += add + query.base
    return near


def by_residual(rotated: Floats, sums: Floats, factors: Factors, far: np.float32) -> Floats:
    """Return the distances [n] of older indices; y is of q - c, `far` the last term of the sum."""
    near = (2 * sums - rotated.sum(dtype=np.float32)) / np.float32(np.sqrt(len(rotated)))
    distances: Floats = near * factors.scale + (factors.add + far)
    return distances


def sign_sums(rotated: Floats, signs: Bytes, steps: int = STEPS) -> Floats:
    """Return for rows the sums s [n] of the components [d] whose sign is 1.

    `signs` are columns [d / 8, n]. What each four components add is looked up by their four bits,
    of both halves of a byte at once (section 3.3.2).
    """
    # L.index.vector.rq.steps
    parts = rotated.reshape(-1, 1, 4) * BITS.astype(np.float32)
    # [d / 4, 16], the last component first, as other writers add: rounding can tell the difference
    table: Floats = ((parts[:, :, 3] + parts[:, :, 2]) + parts[:, :, 1]) + parts[:, :, 0]
    low, width = table.min(), table.max() - table.min()
    with np.errstate(all="ignore"):
        size, share = width / np.float32(steps), np.float32(steps) / width
    if not (np.isfinite(size) and np.isfinite(share)):
        return look_up(bytewise(table), signs)
    full = signs.shape[1] - signs.shape[1] % BLOCK_ROWS
    whole = bytewise(np.rint((table - low) * share).astype(np.int32))
    sums = look_up(whole, signs[:, :full]).astype(np.float32) * size + len(table) * low
    return np.concatenate([sums, look_up(bytewise(table), signs[:, full:])])
