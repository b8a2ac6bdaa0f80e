"""Factors of RabitQ: what is stored of each vector besides its code.

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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lanceref.kernels.distance import Floats, Metric

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
