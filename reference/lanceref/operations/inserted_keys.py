"""Inserted keys: which values of the primary key an Update has inserted, as a Bloom filter.

Two merge inserts may both find that a key is not there yet. Each lists the keys it inserts, so that
the second to commit sees that it may have inserted one again.

Layout of the filter: 32 KiB, as in `index.bloom`, of the hashes of keys. A key is eight bytes of an
integer, or the bytes of a text or binary value; those of several columns each end in a zero byte.
Keys of other types, and nulls, are not in the filter.

Clauses: L.txn.keys.listed, L.txn.keys.filter
"""

from __future__ import annotations

from collections.abc import Iterable

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

INTEGERS = (types.is_int32, types.is_int64, types.is_uint32, types.is_uint64)
TEXTS = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)


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
    """Return the hashes of the keys, uint64; none for a column of a type that no filter holds."""
    columns: list[list[bytes | None]] = []
    for column in keys.columns:
        if any(is_a(column.type) for is_a in INTEGERS):
            numbers = (one if one is None else one % 2**64 for one in column.to_pylist())
            columns.append([one if one is None else one.to_bytes(8, "little") for one in numbers])
        elif any(is_a(column.type) for is_a in TEXTS):
            texts = column.to_pylist()
            columns.append([one.encode() if isinstance(one, str) else one for one in texts])
        else:
            return np.empty(0, np.uint64)
    end = b"\0" if len(columns) > 1 else b""
    rows = (row for row in zip(*columns, strict=True) if None not in row)
    whole = (b"".join((part or b"") + end for part in row) for row in rows)
    return np.fromiter(map(xxh64_intdigest, whole), np.uint64)
