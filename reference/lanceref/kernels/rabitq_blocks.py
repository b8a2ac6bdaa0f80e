"""Blocks of extended codes of RabitQ: the codes of 64 components in 8 e bytes.

Components behind the last are 0. In a block lie planes, each with some bits of every code:

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

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]
Places = NDArray[np.int64]

BLOCK = 64
"""Components of a block."""


def width_of(dim: int, num_bits: int) -> int:
    """Return the bytes of the codes of `dim` components."""
    return -(-dim // BLOCK) * (BLOCK // 8) * num_bits


def block_bytes(codes: Codes, num_bits: int) -> NDArray[np.uint8]:
    """Return the bytes [n, w] of codes [n, d]."""
    num_rows, dim = codes.shape
    num_blocks = -(-dim // BLOCK)
    padded = np.zeros((num_rows, num_blocks * BLOCK, 1), np.uint8)
    padded[:, :dim, 0] = codes
    bits = np.unpackbits(padded, axis=2, count=num_bits, bitorder="little")
    laid = bits.reshape(num_rows, num_blocks, BLOCK * num_bits)[:, :, bit_places(num_bits)]
    return np.packbits(laid, axis=2, bitorder="little").reshape(num_rows, width_of(dim, num_bits))


def codes_in(stored: NDArray[np.uint8], dim: int, num_bits: int) -> Codes:
    """Return the codes [n, d] of components in bytes [n, w]."""
    num_rows, num_blocks = len(stored), -(-dim // BLOCK)
    bits = np.unpackbits(stored, axis=1, bitorder="little")
    own = np.empty((num_rows, num_blocks, BLOCK * num_bits), np.uint8)
    own[:, :, bit_places(num_bits)] = bits.reshape(own.shape)
    own = own.reshape(num_rows, num_blocks * BLOCK, num_bits)
    return np.packbits(own[:, :dim], axis=2, bitorder="little")[:, :, 0]


@cache
def bit_places(num_bits: int) -> Places:
    """Return for each bit of a block which it is: component * e + bit of its code, [64 e]."""
    plane = {3: 2, 5: 4, 7: 6}.get(num_bits, num_bits)
    parts = [_wide_nibbles() if num_bits == 5 else _plane(plane)]
    if plane < num_bits:
        parts.append(_top_bits(plane))
    component, bit = np.concatenate(parts).T
    places: Places = component * num_bits + bit
    return places


def _plane(num_bits: int) -> Places:
    """Return of a plane of 1, 2, 4, 6 or 8 bits the component and bit of each bit."""
    at = np.arange(BLOCK * num_bits)
    byte, bit = at // 8, at % 8
    if num_bits in (1, 8):
        return np.stack([at // num_bits, at % num_bits], axis=1)
    if num_bits == 2:
        return np.stack([byte + 16 * (bit // 2), bit % 2], axis=1)
    if num_bits == 4:
        return np.stack([16 * (byte // 8) + byte % 8 + 8 * (bit // 4), bit % 4], axis=1)
    low = bit < 6
    component = np.where(low, byte, 48 + byte % 16)
    return np.stack([component, np.where(low, bit, 2 * (byte // 16) + bit - 6)], axis=1)


def _wide_nibbles() -> Places:
    """Return the same of the plane of 4 bits that codes of 5 have."""
    at = np.arange(BLOCK * 4)
    byte, bit = at // 8, at % 8
    return np.stack([32 * (byte // 16) + byte % 16 + 16 * (bit // 4), bit % 4], axis=1)


def _top_bits(bit: int) -> Places:
    """Return the same of the plane of top bits."""
    component = np.arange(BLOCK)
    quarter, place = component // 16, component % 16
    order = np.argsort(8 * (place % 8) + 2 * quarter + place // 8)
    return np.stack([component[order], np.full(BLOCK, bit)], axis=1)
