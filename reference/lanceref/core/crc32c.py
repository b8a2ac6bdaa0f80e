"""CRC-32C: the remainder of bytes by the Castagnoli polynomial.

Bits are taken low first; the register begins as ones and ends inverted. Leading zeros do not change
a register of zero, and registers of parts can be put together: long data is cut into rows that are
read side by side, and each row's remainder is moved past the bytes after it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

POLYNOMIAL = 0x82F63B78
"""The polynomial, low bits first."""

ROW_BYTES = 256
"""Bytes of a row."""

LONG_BYTES = 4096
"""From so many bytes on data is cut into rows."""

_ONES = 0xFFFFFFFF


_WORDS: Words = np.arange(256, dtype=np.uint32)
for _ in range(8):  # what each octet adds to a register
    _WORDS = np.where(_WORDS & 1, _WORDS >> 1 ^ np.uint32(POLYNOMIAL), _WORDS >> 1)
_TABLE: list[int] = _WORDS.tolist()


def crc32c(data: bytes | memoryview) -> int:
    """Return the CRC-32C (Castagnoli) of some bytes."""
    return _long(data) if len(data) >= LONG_BYTES else _short(data)


def _short(data: bytes | memoryview) -> int:
    crc = _ONES
    for octet in bytes(data):
        crc = crc >> 8 ^ _TABLE[(crc ^ octet) & 0xFF]
    return crc ^ _ONES


def _long(data: bytes | memoryview) -> int:
    octets = np.zeros(-(-len(data) // ROW_BYTES) * ROW_BYTES, np.uint8)
    first = len(octets) - len(data)
    octets[first:] = np.frombuffer(data, np.uint8)
    octets[first : first + 4] ^= np.uint8(0xFF)  # a register of ones
    moved = _past_a_row()
    crc = 0
    for row in _after(np.zeros(len(octets) // ROW_BYTES, np.uint32), octets).tolist():
        before = crc.to_bytes(4, "little")
        crc = row
        for octet, part in zip(before, moved, strict=True):
            crc ^= part[octet]
    return crc ^ _ONES


def _after(registers: Words, octets: NDArray[np.uint8]) -> Words:
    """Return the register of each row after its bytes."""
    for column in np.ascontiguousarray(octets.reshape(len(registers), ROW_BYTES).T):
        registers = registers >> np.uint32(8) ^ _WORDS[registers & np.uint32(0xFF) ^ column]
    return registers


@lru_cache(1)
def _past_a_row() -> list[list[int]]:
    """Return of each octet of a register what it is after a row of zeros."""
    registers = np.arange(256, dtype=np.uint32) << np.arange(0, 32, 8, dtype=np.uint32)[:, None]
    zeros = np.zeros(registers.size * ROW_BYTES, np.uint8)
    moved: list[list[int]] = _after(registers.reshape(-1), zeros).reshape(4, 256).tolist()
    return moved
