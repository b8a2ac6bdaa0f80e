"""Split-block Bloom filter, as in Parquet: which values a run of rows does not hold.

A filter is blocks of eight 32-bit words. The hash of a value chooses a block, and in each of its
words a bit; a value may be there when all eight bits are set.

    block = ((h >> 32) * blocks) >> 32,  bit j = (low 32 bits of h * SALT[j] mod 2**32) >> 27

h is XXH64, seed 0, of the value's bytes: numbers in their own width, little-endian. XXH64 of a
value shorter than 32 bytes takes eight bytes at a time, then four, then one by one; each part is
mixed into the state by multiplications with odd constants and rotations, modulo 2**64.

Clauses: L.index.bloom.size
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from lanceref.core.packed_values import bytes_of, offsets_of, value_bytes
from lanceref.index.training import BINARY, TEXT, is_any

Hashes = NDArray[np.uint64]
Blocks = NDArray[np.uint32]
"""Words of a filter: [blocks, 8]."""

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
"""The constants of XXH64."""

MOST_BYTES = 31
"""Widest value that `hash_rows` takes."""


def hash_slices(
    data: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64], seed: int = 0
) -> Hashes:
    """Return the hash of each piece of `data` (bytes,), by starts and sizes (n,): uint64 (n,)."""
    hashes = np.empty(len(starts), np.uint64)
    for size in np.flatnonzero(np.bincount(sizes[sizes <= MOST_BYTES])).tolist():
        own = np.flatnonzero(sizes == size)
        pieces = np.empty((len(own), 0), np.uint8)
        if size:
            pieces = sliding_window_view(data, size)[starts[own]]
        hashes[own] = hash_rows(pieces, seed)
    wide = np.flatnonzero(sizes > MOST_BYTES).tolist()
    if wide:
        from xxhash import xxh64_intdigest  # no other value needs it
    for number in wide:
        piece = data[starts[number] : starts[number] + sizes[number]]
        hashes[number] = xxh64_intdigest(piece.tobytes(), seed)
    return hashes


def hash_rows(values: NDArray[np.uint8], seed: int = 0) -> Hashes:
    """Return the hash of each row of bytes [values, width], width at most `MOST_BYTES`: uint64."""
    rows, width = values.shape
    assert width <= MOST_BYTES
    state: Hashes = np.full(rows, int(_P5) + width + seed, np.uint64)
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
    state = (state ^ state >> np.uint64(33)) * _P2  # spreads every bit over all of the hash
    state = (state ^ state >> np.uint64(29)) * _P3
    return state ^ state >> np.uint64(32)


def _read(values: NDArray[np.uint8], at: int, type_: str) -> Hashes:
    end = at + np.dtype(type_).itemsize
    return np.ascontiguousarray(values[:, at:end]).view(type_)[:, 0].astype(np.uint64)


def _rotated(words: Hashes, bits: int) -> Hashes:
    return words << np.uint64(bits) | words >> np.uint64(64 - bits)


WORDS, WORD_BITS = 8, 32
BLOCK_BYTES = 32
SALT = np.frombuffer(
    bytes.fromhex("47b6137b 44974d91 8824ad5b a2b7289d 705495c7 2df1424b 9efc4947 5c6bfb31"), ">u4"
).astype(np.uint32)
"""Odd multipliers of the words."""

LEAST_BITS, MOST_BITS = 5, 27
"""Logarithms of the fewest and most bytes of a filter."""

TERMS = 750
"""Terms of the Poisson sum of `false_positives`."""


def hash_values(values: pa.Array) -> Hashes:
    """Return the hash of every value that is not null, uint64 (values,)."""
    own = values.drop_null()
    type_ = own.type
    if is_any(type_, *TEXT, *BINARY):
        offsets = offsets_of(own)
        return hash_slices(bytes_of(own.buffers()[2]), offsets[:-1], np.diff(offsets))
    return hash_rows(value_bytes(own).reshape(-1, type_.byte_width))


def places_of(hashes: Hashes, blocks: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return for each hash its block, and which bit of each of its words: [hashes, 8]."""
    high, low = hashes >> np.uint64(32), hashes.astype(np.uint32)
    numbers = (high * np.uint64(blocks)) >> np.uint64(32)
    return numbers.astype(np.int64), (low[:, None] * SALT) >> np.uint32(27)


def fill(hashes: Hashes, size_bytes: int) -> Blocks:
    """Return a filter of so many bytes that holds values. `hashes` (n,), the result (blocks, 8)."""
    blocks = size_bytes // BLOCK_BYTES
    numbers, places = places_of(hashes, blocks)
    is_set = np.zeros(blocks * WORDS * WORD_BITS, np.bool_)
    bits = numbers[:, None] * (WORDS * WORD_BITS) + np.arange(WORDS) * WORD_BITS
    bits += places
    is_set[bits.reshape(-1)] = True
    return np.packbits(is_set, bitorder="little").view("<u4").reshape(blocks, WORDS)


def may_hold(filters: NDArray[np.uint32], value: np.uint64) -> NDArray[np.bool_]:
    """Return for each of some filters [filters, blocks, 8] whether it may hold a hash."""
    (number,), places = places_of(np.array([value], np.uint64), filters.shape[1])
    bits = np.uint32(1) << places
    return np.asarray(((filters[:, number] & bits) == bits).all(axis=1), np.bool_)


def holds(words: Blocks, hashes: Hashes) -> bool:
    """Return whether a filter (blocks, 8) may hold every one of some hashes (n,)."""
    numbers, places = places_of(hashes, len(words))
    bits = np.uint32(1) << places
    return bool(((words[numbers] & bits) == bits).all())


def size_for(items: int, probability: float) -> int:
    """Return the bytes of a filter for so many items, by the share of false positives."""
    sizes = range(LEAST_BITS, MOST_BITS)
    fitting = (bits for bits in sizes if false_positives(items, bits) <= probability)
    return 1 << next(fitting, MOST_BITS)  # L.index.bloom.size


def false_positives(items: int, log_bytes: int) -> float:
    """Return the share of values that a filter seems to hold, but does not."""
    bits = 8 * 2.0**log_bytes
    if items == 0:
        return 0.0
    if items / bits > 2:
        return 1.0
    mean = 8 * BLOCK_BYTES / (bits / items)
    share = 0.0
    for number in range(TERMS - 1, 0, -1):  # the least terms first; that of 0 is 0
        log_share = number * math.log(mean) - mean - math.lgamma(number + 1)
        share += math.exp(log_share + WORDS * math.log(1 - (31 / 32) ** number))
    return min(1.0, share)
