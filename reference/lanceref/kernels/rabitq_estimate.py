"""Estimated distances of RabitQ: of a query from rows of which codes and factors are stored.

Of a query q, y is the rotated query and S the sum of its components; s is the sum of those that a
row's signs choose. With b of the signs, y.b = s - S / 2 (arXiv 2405.12497, section 3.3), and with w
of the extended codes c of e bits, y.w = 2 ** e s + y.c - (2 ** e - 1/2) S:

    distance = y.b scale + f(add),  or the same of w and its factors

    l2   f(A) = A + |q - c| ** 2
    dot  f(A) = alpha (A - 1) + 1 - y.g,  alpha = y.g / g.g

s is looked up, for every four components, in a table of 16 sums. Rows in full blocks of 32 have it
from sums rounded to whole steps between the smallest and the largest of all tables, the rows behind
these exactly: the distance depends on where a row lies in its partition.

Older indices rotate the residual of the query, y of q - c, and have

    distance = (2 s - S) / sqrt(d) scale + add + |q - c| ** 2,  for dot - c.q in place of the last

Factors of RabitQ: what is stored of each vector besides its code.

Of a vector v in the partition of centroid c, z is the rotated residual v - c, g the rotated
centroid and w what the code stands for: half of the signs, or more with extended codes. The
residual is taken for that multiple of w whose product with z is ||z|| ** 2 (arXiv 2405.12497,
section 3.2); with n2 = ||z|| ** 2, a = z.w and h = g.w:

              l2 (also of normalized vectors)   dot
    add       n2 + 2 n2 h / a                   1 - z.g + n2 h / a
    scale     -2 n2 / a                         -n2 / a
    error     2 E                               E

    E = sqrt(n2) * 1.9 * sqrt(max(n2 d / 4 / a ** 2 - 1, 0) / (d - 1))

E times the length of a query's residual bounds how far the distance by signs alone is off, with
high probability (section 3.3, where 1.9 is called epsilon_0). What would be divided by 0 is 0.

Older indices estimate the residual of a query instead: add is n2, for dot 1 - v.c + c.c, scale has
no part of the centroid, and there is no error.

Rotation of RabitQ: spreads what a vector holds over all its components.

RabitQ stores the signs of a randomly rotated residual (Gao, Long: RaBitQ, SIGMOD 2024, section
3.1). The rotation is a matrix, or one that is made of four rounds, each of which turns the signs of
some components round and mixes t of them by a Walsh-Hadamard transform, divided by sqrt(t). t is
the largest power of two in the dimension d. Where it is less than d, rounds mix the first and the
last t components in turn, and sums and differences of both halves follow; these double the length
in two rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats, Metric, products
from lanceref.kernels.product_quantizer import Pairs, Sums, looked_up, prepared
from lanceref.kernels.rabitq_codes import BLOCK_ROWS

CONFIDENCE = 1.9


@dataclass(frozen=True, slots=True)
class Factors:
    """Two numbers of each vector [n]."""

    add: Floats
    scale: Floats


def factors(
    rotated: Floats, halves: Floats, centers: Floats, squares: Floats, metric: Metric
) -> Factors:
    """Return the factors of residuals z [n, d] with w [n, d], g [n, d] and n2 [n]."""
    near = _dot(rotated, halves)
    share = _divide(squares, near)
    toward = share * _dot(centers, halves)
    if metric == "dot":
        return Factors(1 - _dot(rotated, centers) + toward, -share)
    return Factors(squares + 2 * toward, -2 * share)


def residual_factors(
    rotated: Floats, halves: Floats, centers: Floats, squares: Floats, metric: Metric
) -> Factors:
    """Return the factors that older indices have."""
    dim = rotated.shape[1]
    share = _divide(squares, 2 * _dot(rotated, halves) / np.float32(np.sqrt(dim)))
    if metric == "dot":
        return Factors(1 - _dot(rotated, centers), -share)
    return Factors(squares, -2 * share)


def error_factors(rotated: Floats, halves: Floats, squares: Floats, metric: Metric) -> Floats:
    """Return the errors of residuals z [n, d] with signs w [n, d]."""
    dim = rotated.shape[1]
    near = _dot(rotated, halves)
    excess = _divide(squares * np.float32(dim / 4), near * near) - 1
    if dim <= 1:
        return np.zeros(len(rotated), np.float32)
    spread = np.sqrt(np.maximum(excess, 0) / np.float32(dim - 1))
    errors = np.sqrt(squares) * np.float32(CONFIDENCE) * spread
    errors = np.where(near == 0, 0, errors).astype(np.float32)
    return errors if metric == "dot" else 2 * errors


def _dot(first: Floats, second: Floats) -> Floats:
    products: Floats = np.einsum("ij,ij->i", first, second)
    return products


def _divide(above: Floats, below: Floats) -> Floats:
    """Return a quotient, 0 where it would be by 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


Bytes = NDArray[np.uint8]

STEPS = 255
"""Steps between the smallest and the largest sum."""

FINE_STEPS = 65535
"""The same for queries that are to be accurate."""

BITS = np.unpackbits(np.arange(16, dtype=np.uint8)[:, None], axis=1, bitorder="little")[:, :4]
"""The four bits of each half of a byte, lowest first."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of rows as columns [d / 8, n], and those of full blocks ready for look-ups."""

    columns: Bytes
    full: Bytes | Pairs


def ready(columns: Bytes) -> Signs:
    """Return signs as they are asked."""
    return Signs(columns, prepared(columns[:, : columns.shape[1] - columns.shape[1] % BLOCK_ROWS]))


@dataclass(frozen=True, slots=True)
class Asked:
    """A query in a partition: y, S, and f as `slope` and `base`; `error` goes with the errors."""

    rotated: Floats
    total: np.float32
    slope: np.float32
    base: np.float32
    error: np.float32


def ask(rotated: Floats, center: Floats, far: np.float32, metric: Metric) -> Asked:
    """Return what a partition is asked: y [d], the rotated centroid g [d], and |q - c| ** 2."""
    total = rotated.sum(dtype=np.float32)
    one = np.float32(1)
    if metric != "dot":
        return Asked(rotated, total, one, far, np.sqrt(far))
    product = np.float32(np.dot(rotated, center))
    with np.errstate(all="ignore"):
        slope = product / np.float32(np.dot(center, center))
    slope = slope if np.isfinite(slope) else np.float32(0)
    error = np.float32(np.linalg.norm(rotated - slope * center))
    return Asked(rotated, total, slope, one - product - slope, error)


def by_signs(asked: Asked, sums: Floats, factors: Factors) -> Floats:
    """Return the distances [n] by signs alone."""
    return _scaled(asked, sums - asked.total / 2, factors)


def by_codes(asked: Asked, sums: Floats, codes: Bytes, num_bits: int, factors: Factors) -> Floats:
    """Return the distances [n] by signs and codes [n, d] of `num_bits` bits."""
    whole = np.float32(2**num_bits)
    near = products(codes, asked.rotated)
    near += whole * sums
    near -= (whole - np.float32(0.5)) * asked.total
    return _scaled(asked, near, factors)


def _scaled(asked: Asked, near: Floats, factors: Factors) -> Floats:
    """Return the distances [n] of products [n], which are written over."""
    near *= factors.scale
    last = factors.add + asked.base if asked.slope == 1 else asked.slope * factors.add + asked.base
    near += last
    return near


def by_residual(rotated: Floats, sums: Floats, factors: Factors, far: np.float32) -> Floats:
    """Return the distances [n] of older indices; y is of q - c, `far` what is last in the sum."""
    near = (2 * sums - rotated.sum(dtype=np.float32)) / np.float32(np.sqrt(len(rotated)))
    distances: Floats = near * factors.scale + (factors.add + far)
    return distances


def sign_sums(rotated: Floats, signs: Signs, steps: int = STEPS) -> Floats:
    """Return for rows of signs the sums [n] of the components [d] that they choose."""
    table = _table(rotated)
    low, high = table.min(), table.max()
    with np.errstate(all="ignore"):
        share = np.float32(steps) / (high - low)
        size = (high - low) / np.float32(steps)
    if not (np.isfinite(share) and np.isfinite(size)):
        return looked_up(_bytewise(table), signs.columns)
    whole = np.rint((table - low) * share)
    full = signs.full.shape[1]
    sums = np.empty(signs.columns.shape[1], np.float32)
    if steps * len(table) < 2**16:  # half the bytes to move
        counted = looked_up(_bytewise(whole.astype(np.uint16)), signs.full)
        np.multiply(counted, size, out=sums[:full], dtype=np.float32)
    else:
        sums[:full] = looked_up(_bytewise(whole.astype(np.int32)), signs.full)
        sums[:full] *= size
    sums[:full] += np.float32(len(table)) * low
    sums[full:] = looked_up(_bytewise(table), signs.columns[:, full:])
    return sums


def _table(rotated: Floats) -> Floats:
    """Return the sums of every four components for each choice of them [d / 4, 16].

    The last is added first, as other writers do: rounding to steps can tell the difference.
    """
    parts = rotated.reshape(-1, 1, 4) * BITS.astype(np.float32)
    sums: Floats = ((parts[:, :, 3] + parts[:, :, 2]) + parts[:, :, 1]) + parts[:, :, 0]
    return sums


def _bytewise(table: NDArray[Sums]) -> NDArray[Sums]:
    """Return the sums for whole bytes [w, 256] from those for their halves [2 w, 16]."""
    sums: NDArray[Sums] = (table[1::2, :, None] + table[0::2, None, :]).reshape(-1, 256)
    return sums


ROUNDS = 4
ROTATED_ROWS = 512
"""Vectors that are rotated together, so that they stay in the cache."""


@dataclass(frozen=True, slots=True)
class FastRotation:
    """Of each round the components that are turned round: bits, the first lowest, [4, d / 8]."""

    signs: NDArray[np.uint8]

    def rotate(self, vectors: Floats) -> Floats:
        """Return vectors [n, d] rotated, d a multiple of 8."""
        turned = np.unpackbits(self.signs, axis=1, bitorder="little").astype(np.float32)
        factors = 1 - 2 * turned[:, :, None]
        rotated = np.empty_like(vectors)
        for start in range(0, len(vectors), ROTATED_ROWS):
            columns = np.array(vectors[start : start + ROTATED_ROWS].T, np.float32, order="C")
            rotated[start : start + ROTATED_ROWS] = _four_rounds(columns, factors).T
        return rotated


@dataclass(frozen=True, slots=True)
class MatrixRotation:
    """A matrix [d, d], one row for each component of what comes out."""

    matrix: Floats

    def rotate(self, vectors: Floats) -> Floats:
        """Return vectors [n, d] rotated."""
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
        _mix(part)
        part *= share
        if mixed < dim:
            first, second = columns[:half], columns[half : 2 * half]
            total = first + second
            np.subtract(first, second, out=second)
            first[:] = total
    if mixed < dim:
        columns *= np.float32(0.25)
    return columns


def _mix(columns: Floats) -> None:
    """Replace columns [t, n] by their Walsh-Hadamard transform, t a power of two."""
    size = len(columns)
    step = 1
    while step < size:
        pairs = columns.reshape(size // (2 * step), 2, step, -1)
        first, second = pairs[:, 0], pairs[:, 1]
        total = first + second
        np.subtract(first, second, out=second)
        first[:] = total
        step *= 2
