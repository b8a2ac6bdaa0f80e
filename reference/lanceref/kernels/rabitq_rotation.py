"""Rotation of RabitQ: spreads what a vector holds over all its components.

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

from lanceref.kernels.distance import Floats

Bytes = NDArray[np.uint8]

ROUNDS = 4
BLOCK_ROWS = 512
"""Vectors that are rotated together, so that they stay in the cache."""


@dataclass(frozen=True, slots=True)
class FastRotation:
    """Of each round the components that are turned round: bits, the first lowest, [4, d / 8]."""

    signs: Bytes

    def rotate(self, vectors: Floats) -> Floats:
        """Return vectors [n, d] rotated, d a multiple of 8."""
        turned = np.unpackbits(self.signs, axis=1, bitorder="little").astype(np.float32)
        factors = 1 - 2 * turned[:, :, None]
        rotated = np.empty_like(vectors)
        for start in range(0, len(vectors), BLOCK_ROWS):
            columns = np.array(vectors[start : start + BLOCK_ROWS].T, np.float32, order="C")
            rotated[start : start + BLOCK_ROWS] = _four_rounds(columns, factors).T
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
