"""Inserted keys: which values of the primary key an Update has inserted, as a Bloom filter.

Two merge inserts may both find that a key is not there yet. Each lists the keys it inserts, so that
the second to commit sees that it may have inserted one again.

Layout of the filter: 32 KiB, as in `index.bloom`, of the hashes of keys. A key is eight bytes of an
integer, or the bytes of a text or binary value; of several columns each with a zero byte behind it.
Keys of other types, and nulls, are not in the filter.

Clauses: L.txn.keys.listed, L.txn.keys.filter
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from pyarrow import types
from xxhash import xxh64_intdigest

from lanceref.index.bloom import Hashes, fill
from lanceref.proto.transaction_pb2 import KeyExistenceFilter

SIZE_BYTES = 1 << 15
"""Size of the filter, for any number of keys."""

NUM_ITEMS = 8192
PROBABILITY = 0.00057
"""For how many keys the filter is made, and how often it is then wrong."""

HASHED = (types.is_int32, types.is_int64, types.is_uint32, types.is_uint64)
TEXTS = (types.is_string, types.is_large_string)
BYTES = (types.is_binary, types.is_large_binary)


def list_keys(keys: pa.Table, field_ids: Iterable[int]) -> KeyExistenceFilter:
    """Return the filter of keys, whose columns are in the order of the primary key."""
    words = fill(_hashes(keys), SIZE_BYTES)
    bloom = KeyExistenceFilter.BloomFilter(
        bitmap=words.astype("<u4").tobytes(),
        num_bits=32 * words.size,
        number_of_items=NUM_ITEMS,
        probability=PROBABILITY,
    )
    return KeyExistenceFilter(field_ids=field_ids, bloom=bloom)


def _hashes(keys: pa.Table) -> Hashes:
    """Return the hashes of the keys, uint64."""
    columns = [_encoded(column) for column in keys.columns]
    if any(column is None for column in columns):
        return np.empty(0, np.uint64)
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
