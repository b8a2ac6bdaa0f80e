"""Split-block Bloom filter, as Parquet has it: which values a run of rows does not hold.

A filter is blocks of eight 32-bit words. The hash of a value chooses a block, and in each of its
words a bit; a value may be there when all eight bits are set.

    block = ((h >> 32) * blocks) >> 32,  bit j = (low 32 bits of h * SALT[j] mod 2**32) >> 27

h is XXH64, seed 0, of the value's bytes: numbers in their own width, little-endian.

Clauses: L.index.bloom.size
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Blocks = NDArray[np.uint32]
"""Words of a filter: [blocks, 8]."""

WORDS = 8
BLOCK_BYTES = 32
SALT = np.array(
    [
        0x47B6137B,
        0x44974D91,
        0x8824AD5B,
        0xA2B7289D,
        0x705495C7,
        0x2DF1424B,
        0x9EFC4947,
        0x5C6BFB31,
    ],
    np.uint32,
)
LEAST_BITS, MOST_BITS = 5, 27
"""Logarithms of the fewest and most bytes of a filter."""

TERMS = 750
"""Terms of the Poisson sum of `false_positives`."""


def hash_values(values: pa.Array) -> Hashes:
    """Return the hash of every value that is not null, uint64."""
    own = values.drop_null()
    type_ = own.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        own = own.cast(pa.large_binary() if pa.types.is_large_string(type_) else pa.binary())
        data = [item.as_buffer() for item in own]
    elif pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        data = [item.as_buffer() for item in own]
    else:
        width = type_.byte_width
        raw = memoryview(own.buffers()[1])[own.offset * width : (own.offset + len(own)) * width]
        data = [raw[at : at + width] for at in range(0, len(raw), width)]
    return np.array([xxhash.xxh64_intdigest(one) for one in data], np.uint64)


def bits_of(hashes: Hashes, blocks: int) -> tuple[NDArray[np.int64], Blocks]:
    """Return for each hash its block, and the bit of each of its words: [hashes, 8]."""
    high, low = hashes >> np.uint64(32), hashes.astype(np.uint32)
    numbers = (high * np.uint64(blocks)) >> np.uint64(32)
    bits = np.uint32(1) << ((low[:, None] * SALT) >> np.uint32(27))
    return numbers.astype(np.int64), bits.astype(np.uint32)


def fill(hashes: Hashes, size_bytes: int) -> Blocks:
    """Return a filter of so many bytes that holds values."""
    filter_ = np.zeros((size_bytes // BLOCK_BYTES, WORDS), np.uint32)
    numbers, bits = bits_of(hashes, len(filter_))
    np.bitwise_or.at(filter_, numbers, bits)
    return filter_


def may_hold(filters: NDArray[np.uint32], value: np.uint64) -> NDArray[np.bool_]:
    """Return for each of some filters [filters, blocks, 8] whether it may hold a hash."""
    (number,), bits = bits_of(np.array([value], np.uint64), filters.shape[1])
    return np.asarray(((filters[:, number] & bits) == bits).all(axis=1), np.bool_)


def size_for(items: int, probability: float) -> int:
    """Return the bytes of a filter for so many items, by the share of false positives."""
    low, high = 0, 64
    while high - low > 1:
        middle = (low + high) // 2
        if false_positives(items, middle) <= probability:
            high = middle
        else:
            low = middle
    return int(2 ** min(max(high, LEAST_BITS), MOST_BITS))  # L.index.bloom.size


def false_positives(items: int, log_bytes: int) -> float:
    """Return the share of values that are held by mistake."""
    bits = 8 * 2.0**log_bytes
    if items == 0:
        return 0.0
    if items / bits > 2:
        return 1.0
    mean = 8 * BLOCK_BYTES / (bits / items)
    found = 0.0
    for number in range(TERMS - 1, -1, -1):
        log_share = number * math.log(mean) - mean - math.lgamma(number + 1)
        found += math.exp(log_share + WORDS * math.log(1 - (31 / 32) ** number)) if number else 0
    return min(1.0, found)
