"""Inserted keys: which values of the primary key an Update has inserted, as a Bloom filter.

Two merge inserts may both find that a key is not there yet. Each lists the keys it inserts, so that
the second to commit sees that it may have inserted one again.

Layout of the filter: 1024 blocks of eight u32 words. A key is hashed as 64 bits by xxHash64 with
the seed 0; the ten highest bits choose the block. In each word one bit is set: the lowest 32 bits
of the hash, times an odd number of that word's own, in 32 bits, and of that the five highest bits.
A key is eight bytes of an integer, or the bytes of a text or binary value; of several columns each
with a zero byte behind it. Keys of other types, and nulls, are not in the filter.

Clauses: L.txn.keys.listed, L.txn.keys.filter, L.txn.conflict.keys
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from pyarrow import types

from lanceref.proto.transaction_pb2 import KeyExistenceFilter, Transaction

NUM_BLOCKS = 1024
BLOCK_WORDS = 8

NUM_ITEMS = 8192
PROBABILITY = 0.00057
"""For how many keys the filter is made, and how often it is then wrong; it has the same size for
any number."""

FACTORS = np.array(
    [
        *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
        *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
    ],
    np.uint32,
)
"""The odd number of each word of a block."""

HASHED = (types.is_int32, types.is_int64, types.is_uint32, types.is_uint64)
TEXTS = (types.is_string, types.is_large_string)
BYTES = (types.is_binary, types.is_large_binary)


def list_keys(keys: pa.Table, field_ids: Iterable[int]) -> KeyExistenceFilter:
    """Return the filter of keys, whose columns are in the order of the primary key."""
    words = np.zeros((NUM_BLOCKS, BLOCK_WORDS), np.uint32)
    hashes = _hashes(keys)
    if len(hashes):
        low = hashes.astype(np.uint32)[:, None]
        bits = np.uint32(1) << ((low * FACTORS) >> np.uint32(27))
        np.bitwise_or.at(words, (hashes >> np.uint64(54)).astype(np.int64), bits)
    bloom = KeyExistenceFilter.BloomFilter(
        bitmap=words.astype("<u4").tobytes(),
        num_bits=32 * words.size,
        number_of_items=NUM_ITEMS,
        probability=PROBABILITY,
    )
    return KeyExistenceFilter(field_ids=field_ids, bloom=bloom)


def _hashes(keys: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Return the hashes of the keys, uint64."""
    columns = [_encoded(column) for column in keys.columns]
    if any(column is None for column in columns):
        return np.empty(0, np.uint64)
    from xxhash import xxh64_intdigest  # what inserts nothing has no need of it

    rows = zip(*(column for column in columns if column is not None), strict=True)
    known = (parts for parts in rows if None not in parts)
    if len(columns) == 1:
        whole = (parts[0] or b"" for parts in known)
    else:
        whole = (b"".join((part or b"") + b"\0" for part in parts) for parts in known)
    return np.fromiter(map(xxh64_intdigest, whole), np.uint64)


def _encoded(column: pa.ChunkedArray) -> Sequence[bytes | None] | None:
    """Return the values of a column as bytes; None for a type that no filter holds."""
    type_, values = column.type, column.to_pylist()
    if any(is_a(type_) for is_a in HASHED):
        mask = 2**64 - 1
        return [None if one is None else (one & mask).to_bytes(8, "little") for one in values]
    if any(is_a(type_) for is_a in TEXTS):
        return [None if one is None else one.encode() for one in values]
    return values if any(is_a(type_) for is_a in BYTES) else None


def may_insert_same(ours: Transaction, theirs: Transaction) -> bool:
    """Whether an Update that lists the keys it inserts may insert one that `theirs` inserted.

    So it may where `theirs` inserted rows and does not say which.
    """
    if not ours.update.HasField("inserted_rows"):
        return False
    if not theirs.update.HasField("inserted_rows"):
        return theirs.HasField("append") or theirs.HasField("update")
    own, other = ours.update.inserted_rows, theirs.update.inserted_rows
    if own.field_ids != other.field_ids:
        return True
    if own.HasField("exact") and other.HasField("exact"):
        return bool(set(own.exact.key_hashes) & set(other.exact.key_hashes))
    one, two = own.bloom.bitmap, other.bloom.bitmap
    if not one or len(one) != len(two):
        return True
    return any(left & right for left, right in zip(one, two, strict=True))
