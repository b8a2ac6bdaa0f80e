"""Sharding: which bucket of a log a value belongs to; and the details of a log, counted.

The entry `__lance_mem_wal` of the index section has no fields, fragments or files; everything is in
its details. They divide rows by values derived from columns; `bucket` is the hash of a value.

Layout: the hash is the mixing of Murmur3-x86-32, seed 0. Integers of up to 32 bits, bool, date32
and time32 are one word; wider ones two, the lower first; floats by their bits, zero without a sign,
NaN as one. Text is its words of four bytes, then each byte that is left, with its sign, as a word
of its own. At the end the number of bytes is mixed in. The bucket is the lower 31 bits modulo the
number of buckets; null is of bucket 0.

Clauses: L.index.mem-wal.bucket, L.index.mem-wal.details
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import OperationRefused
from lanceref.index.training import TEXT, is_any

Words = NDArray[np.uint32]


def buckets(values: pa.Array, count: int) -> NDArray[np.int32]:
    """Return int32 buckets (values,). Raises OperationRefused for a type without hash."""
    if is_any(values.type, *TEXT):
        texts = values.cast(pa.large_binary()).to_pylist()
        hashes = np.array([0 if one is None else hash_text(one) for one in texts], np.uint32)
    else:
        words = _as_words(values)
        hashes = _mixed(words.T, 4 * words.shape[1])
    hashes[np.asarray(pc.is_null(values))] = 0  # L.index.mem-wal.bucket
    return ((hashes & np.uint32(0x7FFFFFFF)) % np.uint32(count)).astype(np.int32)


def _as_words(values: pa.Array) -> Words:
    """Return values as words: [values, 1] or [values, 2]. Raises OperationRefused."""
    type_ = values.type
    if is_any(type_, "boolean"):
        numbers = np.asarray(pc.fill_null(values, False).cast(pa.int32()))
    elif is_any(type_, "float32", "float64"):
        numbers = np.asarray(pc.fill_null(values, 0.0))
        numbers = np.where(np.isnan(numbers), np.array(np.nan, numbers.dtype), numbers)
        numbers = np.where(numbers == 0, np.array(0, numbers.dtype), numbers)
    elif is_any(type_, "date32", "time32"):
        numbers = np.asarray(pc.fill_null(values.view(pa.int32()), 0))
    elif is_any(type_, "timestamp", "time64"):
        numbers = np.asarray(pc.fill_null(values.view(pa.int64()), 0))
    elif is_any(type_, "integer"):
        numbers = np.asarray(pc.fill_null(values, 0))
        numbers = numbers.astype(np.int32) if numbers.dtype.itemsize < 4 else numbers
    else:
        raise OperationRefused(f"Unsupported bucket sharding column type: {type_}")
    return np.ascontiguousarray(numbers).view("<u4").reshape(len(values), -1)


def hash_text(data: bytes) -> int:
    """Return the hash of a text: u32."""
    whole = len(data) // 4 * 4
    words = np.frombuffer(data[:whole], "<u4").astype(np.uint32)
    signed = np.frombuffer(data[whole:], np.int8).astype(np.int32).view(np.uint32)
    return int(_mixed(np.concatenate([words, signed])[:, None], len(data))[0])


def _mixed(words: Words, size_bytes: int) -> Words:
    """Return the hashes of values by their words, [words, values], and their size: uint32."""
    state = np.zeros(words.shape[1], np.uint32)
    for word in words:
        mixed = _rotated(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        state = _rotated(state ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state = state ^ np.uint32(size_bytes)
    state = (state ^ state >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    state = (state ^ state >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return state ^ state >> np.uint32(16)


def _rotated(words: Words, bits: int) -> Words:
    return words << np.uint32(bits) | words >> np.uint32(32 - bits)
