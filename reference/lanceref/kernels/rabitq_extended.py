"""Extended codes of RabitQ: how large each component of a rotated residual is, in e bits.

With its sign a component has e + 1 bits and stands for w, an odd multiple of a half (Gao et al.:
Practical and asymptotically optimal quantization of high-dimensional vectors, arXiv 2409.09913,
section 3.2):

    |w_i| = floor(t u_i) + 1/2,  u = |z| / ||z||,  at most 2 ** e - 1/2

t is chosen so that w points as nearly as possible to where z does: it is swept over the thresholds
at which a component becomes larger by 1, from a share of the largest useful t on. Of a negative
component the bits of the code are turned round, so that sign and code are one number:

    (sign << e) + code = w + 2 ** e - 1/2
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats

Codes = NDArray[np.uint8]

SHARES = (0.0, 0.15, 0.20, 0.52, 0.59, 0.71, 0.75, 0.77, 0.81)
"""Where the sweep starts, as a share of its end, by the number of bits."""

BEYOND = 10
"""How far the sweep goes on after the largest component has the largest code."""

ROUNDED_UP = np.float32(1e-5)
"""Added before rounding down, so that a component at its threshold is above it."""

BLOCK_EVENTS = 2**20
"""Thresholds that are swept together, about."""


def extended_codes(rotated: Floats, num_bits: int) -> Codes:
    """Return the codes [n, d] of `num_bits` bits (1 to 8) of rotated residuals [n, d].

    Those of zero, and of vectors that are not finite, are 0.
    """
    codes = np.zeros(rotated.shape, np.uint8)
    lengths: Floats = np.sqrt(_last(rotated * rotated))
    sound = np.flatnonzero(np.isfinite(lengths) & (lengths > 0))
    most = np.uint8(2**num_bits - 1)
    step = max(1, BLOCK_EVENTS // (rotated.shape[1] * 2**num_bits))
    for start in range(0, len(sound), step):
        rows = sound[start : start + step]
        units = (np.abs(rotated[rows]) / lengths[rows, None]).astype(np.float32, copy=False)
        scaled = units * best_scales(units, num_bits)[:, None] + ROUNDED_UP
        sizes = np.minimum(scaled, most).astype(np.uint8)
        codes[rows] = np.where(np.signbit(rotated[rows]), most - sizes, sizes)
    return codes


def halves(signs: NDArray[np.bool_], codes: Codes, num_bits: int) -> Floats:
    """Return w [n, d] of components by their signs and codes."""
    whole = (signs.astype(np.int32) << num_bits) + codes
    return whole.astype(np.float32) - np.float32(2**num_bits - 0.5)


def best_scales(units: Floats, num_bits: int) -> Floats:
    """Return t for the sizes of components [n, d], each row of length 1.

    Of equally good ones, the smallest. Sums are of float32, one term after the other, as other
    writers have them: the same codes come out.
    """
    most = 2**num_bits - 1
    ends = np.float32(most + BEYOND) / units.max(axis=1)
    starts = ends * np.float32(SHARES[num_bits])
    now = np.clip(np.floor(starts[:, None] * units + ROUNDED_UP), 0, most).astype(np.float32)
    thresholds, places, sizes = _events(units, now, ends, most)
    gains = np.take_along_axis(units, places, axis=1)
    gains[~np.isfinite(thresholds)] = 0
    products = _running(_last((now + np.float32(0.5)) * units), gains)
    squares = _running(
        _last(now * now + now) + np.float32(units.shape[1] / 4), 2 * sizes.astype(np.float32)
    )
    quality = products / np.sqrt(squares)
    best = quality.argmax(axis=1)
    scales: Floats = np.concatenate([starts[:, None], thresholds], axis=1)
    chosen: Floats = scales[np.arange(len(best)), best]
    return chosen


def _events(
    units: Floats, now: Floats, ends: Floats, most: int
) -> tuple[Floats, NDArray[np.int64], NDArray[np.uint8]]:
    """Return when components become larger, ascending: the t, the component, its new size: [n, x].

    `now` are the sizes at the start of the sweep. Rows are filled up by infinite t of size 0.
    """
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(units > 0, units, np.float32(np.nan))
        last = np.minimum(np.ceil(ends[:, None] * units), most)
        steps = max(1, int((last - now).max()))
        sizes = now[:, :, None] + np.arange(1, steps + 1, dtype=np.float32)
        times = sizes / inverse[:, :, None]
    wanted = (sizes <= most) & (times < ends[:, None, None])
    keys = np.where(wanted, times, np.float32(np.inf)).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(units.shape[1], dtype=np.uint64)[:, None] << np.uint64(8)
    keys |= np.where(wanted, sizes, 0).astype(np.uint64)
    keys = keys.reshape(len(units), -1)
    keys.sort(axis=1)
    keys = keys[:, : int(wanted.sum(axis=(1, 2)).max())]
    thresholds = (keys >> np.uint64(32)).astype(np.uint32).view(np.float32)
    places = (keys >> np.uint64(8) & np.uint64(2**24 - 1)).astype(np.int64)
    return thresholds, places, keys.astype(np.uint8)


def _last(terms: Floats) -> Floats:
    """Return the sum of each row, term by term."""
    return np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]


def _running(first: Floats, terms: Floats) -> Floats:
    """Return the sums of a first number and 0, 1, .. terms [n, x], term by term: [n, x + 1]."""
    return np.cumsum(np.concatenate([first[:, None], terms], axis=1), axis=1, dtype=np.float32)
