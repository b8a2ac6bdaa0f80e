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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.byte_products import products
from lanceref.kernels.distance import Floats, Metric
from lanceref.kernels.look_up import Pairs, Sums, looked_up, prepared
from lanceref.kernels.rabitq_factors import Factors
from lanceref.kernels.rabitq_signs import BLOCK

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
    return Signs(columns, prepared(columns[:, : columns.shape[1] - columns.shape[1] % BLOCK]))


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
