"""XXH64 of short values: the hash with seed 0 of many values of one width at once.

A value shorter than 32 bytes is taken eight bytes at a time, then four, then one by one; each
part is mixed into the state by multiplications with odd constants and rotations, modulo 2**64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
"""The constants, in the order in which the algorithm numbers them from 1 on."""

_P1, _P2, _P3, _P4, _P5 = (np.uint64(prime) for prime in PRIMES)

MOST_BYTES = 31
"""Widest value that is short."""


def hash_rows(values: NDArray[np.uint8]) -> Words:
    """Return the hash of each row of bytes [values, width], width at most `MOST_BYTES`: uint64."""
    rows, width = values.shape
    assert width <= MOST_BYTES
    state: Words = np.full(rows, int(_P5) + width, np.uint64)
    at = 0
    for _ in range(width // 8):
        word = _read(values, at, "<u8")
        state ^= _rotated(word * _P2, 31) * _P1
        state = _rotated(state, 27) * _P1 + _P4
        at += 8
    if width - at >= 4:
        state ^= _read(values, at, "<u4") * _P1
        state = _rotated(state, 23) * _P2 + _P3
        at += 4
    for byte in range(at, width):
        state ^= values[:, byte] * _P5
        state = _rotated(state, 11) * _P1
    return _avalanche(state)


def _read(values: NDArray[np.uint8], at: int, type_: str) -> Words:
    """Return the little-endian number at a byte of each row."""
    end = at + np.dtype(type_).itemsize
    return np.ascontiguousarray(values[:, at:end]).view(type_)[:, 0].astype(np.uint64)


def _rotated(words: Words, bits: int) -> Words:
    return words << np.uint64(bits) | words >> np.uint64(64 - bits)


def _avalanche(state: Words) -> Words:
    """Return the state with every bit of it spread over all of the hash."""
    state = (state ^ state >> np.uint64(33)) * _P2
    state = (state ^ state >> np.uint64(29)) * _P3
    return state ^ state >> np.uint64(32)
