"""Codes of RabitQ: the sign and the size, in e bits, of each component of a rotated residual.

A sign is 1 where the component is not negative; -0 is. With its sign a component has e + 1 bits and
represents w, an odd multiple of a half (Gao et al.: Practical and asymptotically optimal
quantization of high-dimensional vectors, arXiv 2409.09913, section 3.2):

    |w_i| = floor(t u_i) + 1/2,  u = |z| / ||z||,  at most 2 ** e - 1/2

t is chosen so that w points as nearly as possible to where z does: it is swept over the thresholds
at which a component becomes larger by 1, from a share of the largest useful t on. Of a negative
component the bits of the code are inverted, so that sign and code are one number:

    (sign << e) + code = w + 2 ** e - 1/2

Layout of signs: that of component i is bit i % 8 of byte i // 8. The bytes of a partition of n rows
are stored one row after the other, or packed: full blocks of 32 rows, in each of these for every
byte of a row 32 bytes of halves of it, so that one shuffle looks up 16 rows.

    byte j,      j < 16   low half of rows ORDER[j] and ORDER[j] + 16 in the low and high half
    byte j + 16, j < 16   high halves of the same rows

The n % 32 rows after the blocks are transposed. Columns here are bytes of rows, [d / 8, n].

Layout of codes: blocks of 64 components in 8 e bytes; components after the last are 0. In a block
lie planes, each with some bits of every code:

    e   planes: bits of the codes, and in which of their bytes they lie
    1   one bit:    component 8 b + j is bit j of byte b
    2   two bits:   component b + 16 j is bits 2 j, 2 j + 1 of byte b (< 16)
    4   four bits:  component 16 j + b is the low half of byte 8 j + b, 16 j + 8 + b its high half
    6   six bits:   component 16 k + b is the low bits of byte 16 k + b (k < 3); of component
                    48 + b, bits 2 k, 2 k + 1 are its high bits
    8   a byte each
    3, 7  as 2 and 6, then the top bits
    5   four bits: components b, b + 16 in byte b, then 32 + b, 48 + b in byte 16 + b; the top bits

    top bits: that of component 16 k + b is bit 8 (b % 8) + 2 k + b // 8 of 64
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.distance import Floats

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

COMPONENTS, BLOCK_ROWS = 64, 32
"""Components of a block of codes; rows of a block of signs."""

ORDER = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])
"""Rows of a block of signs in whose order their halves lie."""

FOUR, LOW = np.uint8(4), np.uint8(15)

SHARES, BEYOND = (0.0, 0.15, 0.20, 0.52, 0.59, 0.71, 0.75, 0.77, 0.81), 10
"""Start of the sweep by the number of bits, as a share of its end; largest code to the end."""

ROUNDED_UP = np.float32(1e-5)
"""Added before rounding down, so that a component at its threshold is above it."""

BLOCK_EVENTS = 2**20
"""Thresholds that are swept together, about."""


def sign_columns(rotated: Floats) -> Bytes:
    """Return the signs of rotated residuals [n, d] as columns, d a multiple of 8."""
    return np.packbits(~np.signbit(rotated.T), axis=0, bitorder="little")


def signs_in(columns: Bytes) -> NDArray[np.bool_]:
    """Return which components are not negative, [n, d]."""
    bits = np.unpackbits(columns, axis=0, bitorder="little")
    return np.ascontiguousarray(bits.T).view(np.bool_)


def columns_of(stored: Bytes, *, packed: bool) -> Bytes:
    """Return the columns [w, n] of a partition whose rows are stored as [n, w]."""
    if not packed:
        return np.ascontiguousarray(stored.T)
    num_rows, width = stored.shape
    full = num_rows - num_rows % BLOCK_ROWS
    groups = stored[:full].reshape(-1, width, 2, len(ORDER))
    blocks = np.empty((len(groups), width, BLOCK_ROWS), np.uint8)
    blocks[:, :, ORDER] = groups[:, :, 0] & LOW | groups[:, :, 1] << FOUR
    blocks[:, :, ORDER + 16] = groups[:, :, 0] >> FOUR | groups[:, :, 1] & ~LOW
    columns = np.empty((width, num_rows), np.uint8)
    columns[:, :full] = blocks.transpose(1, 0, 2).reshape(width, full)
    columns[:, full:] = stored[full:].reshape(width, num_rows - full)
    return columns


def stored_from(columns: Bytes, *, packed: bool) -> Bytes:
    """Return the stored bytes [n, w] of a partition with these columns [w, n]."""
    if not packed:
        return np.ascontiguousarray(columns.T)
    width, num_rows = columns.shape
    full = num_rows - num_rows % BLOCK_ROWS
    blocks = columns[:, :full].reshape(width, -1, BLOCK_ROWS).transpose(1, 0, 2)
    first, second = blocks[:, :, ORDER], blocks[:, :, ORDER + 16]
    groups = np.stack([first & LOW | second << FOUR, first >> FOUR | second & ~LOW], axis=2)
    stored = np.empty((num_rows, width), np.uint8)
    stored[:full] = groups.reshape(full, width)
    stored[full:] = columns[:, full:].reshape(num_rows - full, width)
    return stored


def extended_codes(rotated: Floats, num_bits: int) -> Bytes:
    """Return the codes [n, d] of `num_bits` bits (1 to 8) of rotated residuals [n, d].

    Those of zero, and of vectors that are not finite, are 0.
    """
    codes = np.zeros(rotated.shape, np.uint8)
    lengths: Floats = np.sqrt(_sum_in_order(rotated * rotated))
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


def halves(signs: NDArray[np.bool_], codes: Bytes | int = 0, num_bits: int = 0) -> Floats:
    """Return w [n, d] of components by their signs and codes [n, d], or by their signs alone."""
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
    products = _running(_sum_in_order((now + np.float32(0.5)) * units), gains)
    squares = _running(
        _sum_in_order(now * now + now) + np.float32(units.shape[1] / 4),
        2 * sizes.astype(np.float32),
    )
    best = (products / np.sqrt(squares)).argmax(axis=1)
    scales: Floats = np.concatenate([starts[:, None], thresholds], axis=1)
    chosen: Floats = scales[np.arange(len(best)), best]
    return chosen


def _events(
    units: Floats, now: Floats, ends: Floats, most: int
) -> tuple[Floats, NDArray[np.int64], Bytes]:
    """Return when components become larger, ascending: the t, the component, its new size: [n, x].

    `now` are the sizes at the start of the sweep. Rows are filled up by infinite t of size 0.
    """
    # A component with unit u has size s from t = s / u on.
    with np.errstate(divide="ignore", over="ignore"):
        inverse = np.where(units > 0, units, np.float32(np.nan))
        last = np.minimum(np.ceil(ends[:, None] * units), most)
        steps = max(1, int((last - now).max()))
        sizes = now[:, :, None] + np.arange(1, steps + 1, dtype=np.float32)
        times = sizes / inverse[:, :, None]
    wanted = (sizes <= most) & (times < ends[:, None, None])
    # Times are not negative, so their bits order as they do: time, component and size of an event
    # are sorted as one word of 64 bits.
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


def _sum_in_order(terms: Floats) -> Floats:
    """Return the sum of each row, term by term."""
    return np.cumsum(terms, axis=1, dtype=np.float32)[:, -1]


def _running(first: Floats, more: Floats) -> Floats:
    """Return `first` and its sums with what comes after, term by term: [n, 1 + x]."""
    return np.cumsum(np.concatenate([first[:, None], more], axis=1), axis=1, dtype=np.float32)


def width_of(dim: int, num_bits: int) -> int:
    """Return the bytes of the codes of `dim` components."""
    return -(-dim // COMPONENTS) * (COMPONENTS // 8) * num_bits


def block_bytes(codes: Bytes, num_bits: int) -> Bytes:
    """Return the bytes [n, w] of codes [n, d]."""
    num_rows, dim = codes.shape
    padded = np.zeros((num_rows, -(-dim // COMPONENTS) * COMPONENTS), np.uint8)
    padded[:, :dim] = codes
    component, bit = np.divmod(bit_places(num_bits).reshape(-1, 8).T, num_bits)
    laid = _gather_bits(padded.reshape(-1, COMPONENTS), component, bit)
    return laid.reshape(num_rows, width_of(dim, num_bits))


def codes_in(stored: Bytes, dim: int, num_bits: int) -> Bytes:
    """Return the codes [n, d] of components in bytes [n, w]."""
    places = np.argsort(bit_places(num_bits)).reshape(COMPONENTS, num_bits).T
    codes = _gather_bits(stored.reshape(-1, num_bits * COMPONENTS // 8), *np.divmod(places, 8))
    codes = codes.reshape(len(stored), -(-dim // COMPONENTS) * COMPONENTS)
    return np.ascontiguousarray(codes[:, :dim])


def _gather_bits(rows: Bytes, columns: Places, bits: Places) -> Bytes:
    """Return numbers [n, x]; bit i of each is bit bits[i] of a byte in columns[i], both [b, x].

    Neighbouring bits of one byte that stay neighbours are moved together.
    """
    numbers = np.zeros((len(rows), columns.shape[1]), np.uint8)
    goes_on = (columns[1:] == columns[:-1]) & (bits[1:] == bits[:-1] + 1)
    cuts = [0, *(np.flatnonzero(~goes_on.all(axis=1)) + 1).tolist(), len(bits)]
    for place, end in pairwise(cuts):
        mask, bit = np.uint8(2 ** (end - place) - 1), bits[place].astype(np.uint8)
        numbers |= (rows.take(columns[place], axis=1) >> bit & mask) << np.uint8(place)
    return numbers


@cache
def bit_places(num_bits: int) -> Places:
    """Return for each bit of a block which it is: component * e + bit of its code, [64 e]."""
    # Codes of 3, 5 and 7 bits have the top bits of all components after the others.
    plane = {3: 2, 5: 4, 7: 6}.get(num_bits, num_bits)
    at = np.arange(COMPONENTS * plane)
    byte, bit = at // 8, at % 8
    match num_bits:
        case 1 | 8:
            component, bit = at // num_bits, at % num_bits
        case 2 | 3:
            component, bit = byte + 16 * (bit // 2), bit % 2
        case 4:
            component, bit = 16 * (byte // 8) + byte % 8 + 8 * (bit // 4), bit % 4
        case 5:
            component, bit = 32 * (byte // 16) + byte % 16 + 16 * (bit // 4), bit % 4
        case _:
            low = bit < 6
            component = np.where(low, byte, 48 + byte % 16)
            bit = np.where(low, bit, 2 * (byte // 16) + bit - 6)
    places: Places = component * num_bits + bit
    if plane < num_bits:  # the top bits
        one = np.arange(COMPONENTS)
        order = np.argsort(8 * (one % 8) + 2 * (one // 16) + one % 16 // 8)
        places = np.append(places, order * num_bits + plane)
    return places
