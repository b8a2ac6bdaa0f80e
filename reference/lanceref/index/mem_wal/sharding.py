"""Sharding: which shard of the log a row belongs to.

A spec derives values from the columns of a row; rows of equal values are of one shard. `bucket`
hashes a value, `identity` takes it as it is, `unsharded` is 0.

Layout: the hash is the mixing of Murmur3-x86-32, seed 0. Integers of up to 32 bits, bool, date32
and time32 are one word; wider ones two, the lower first; floats by their bits, zero without a sign,
NaN as one. Text is its words of four bytes, then each byte that is left, with its sign, as a word
of its own. At the end the number of bytes is mixed in. The bucket is the lower 31 bits modulo the
number of buckets; null is of bucket 0.

Clauses: L.index.mem-wal.bucket

MemWAL details: what the index section says of the log of a table.

The entry `__lance_mem_wal` of the index section has no fields, fragments or files; everything is in
its details.

Clauses: L.index.mem-wal.details
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import OperationRefused
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails

NUM_BUCKETS = "num_buckets"
MOST_BUCKETS = 1024
MASK = 0xFFFFFFFF

Words = NDArray[np.uint32]


@dataclass
class ShardingField:
    """One value of a spec: how it is derived from the fields `source_ids`."""

    field_id: str
    source_ids: list[int]
    transform: str | None = None
    expression: str | None = None
    result_type: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass
class ShardingSpec:
    """The values that shards are told apart by."""

    spec_id: int
    fields: list[ShardingField]


def derived(spec: ShardingSpec, columns: Mapping[int, pa.Array], num_rows: int) -> pa.RecordBatch:
    """Return the values of rows, given by field id. Raises OperationRefused."""
    if not spec.fields:
        raise OperationRefused("a sharding spec needs at least one field")
    values = [_values(one, columns, num_rows) for one in spec.fields]
    fields = [
        pa.field(one.field_id, array.type, nullable=array.null_count > 0)
        for one, array in zip(spec.fields, values, strict=True)
    ]
    return pa.record_batch(values, schema=pa.schema(fields))


def _values(one: ShardingField, columns: Mapping[int, pa.Array], num_rows: int) -> pa.Array:
    if one.transform == "unsharded":
        return pa.array(np.zeros(num_rows, np.int32))
    if one.transform not in ("bucket", "identity"):
        raise OperationRefused(
            f"Unsupported MemWAL sharding transform for field '{one.field_id}': {one.transform}"
        )
    source = one.source_ids[0] if one.source_ids else None
    if source is None or source not in columns:
        raise OperationRefused(
            f"MemWAL sharding field '{one.field_id}' source id {source} was not mapped to a "
            "batch column"
        )
    if one.transform == "identity":
        return columns[source]
    return pa.array(buckets(columns[source], _num_buckets(one)))


def _num_buckets(one: ShardingField) -> int:
    """Return the number of buckets of a field. Raises OperationRefused."""
    text = one.parameters.get(NUM_BUCKETS)
    if text is None:
        raise OperationRefused(f"Bucket sharding field '{one.field_id}' missing 'num_buckets'")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise OperationRefused(
            f"Bucket sharding field '{one.field_id}' has invalid num_buckets '{text[:40]}'"
        )
    if not int(text):
        raise OperationRefused(
            f"Bucket sharding field '{one.field_id}' requires positive num_buckets, got 0"
        )
    return int(text)


def buckets(values: pa.Array, count: int) -> NDArray[np.int32]:
    """Return the bucket of each value: int32. Raises OperationRefused for a type without hash."""
    type_ = values.type
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        texts = values.cast(pa.large_binary()).to_pylist()
        hashes = np.array([0 if one is None else hash_text(one) for one in texts], np.uint32)
    else:
        hashes = _hashed(_as_words(values))
    hashes[np.asarray(pc.is_null(values))] = 0  # L.index.mem-wal.bucket
    return ((hashes & np.uint32(0x7FFFFFFF)) % np.uint32(count)).astype(np.int32)


def _as_words(values: pa.Array) -> Words:
    """Return values as words: [values, 1] or [values, 2]. Raises OperationRefused."""
    type_, checks = values.type, pa.types
    if checks.is_boolean(type_):
        held = np.asarray(pc.fill_null(values, False).cast(pa.int32()))
    elif checks.is_float32(type_) or checks.is_float64(type_):
        held = np.asarray(pc.fill_null(values, 0.0)) + 0.0
        held = np.where(np.isnan(held), np.array(np.nan, held.dtype), held)
        held = np.where(held == 0, np.array(0, held.dtype), held)
    elif checks.is_date32(type_) or checks.is_time32(type_):
        held = np.asarray(pc.fill_null(values.view(pa.int32()), 0))
    elif checks.is_timestamp(type_) or checks.is_time64(type_):
        held = np.asarray(pc.fill_null(values.view(pa.int64()), 0))
    elif checks.is_integer(type_):
        held = np.asarray(pc.fill_null(values, 0))
        if held.dtype.itemsize < 4:
            held = held.astype(np.int32)
    else:
        raise OperationRefused(f"Unsupported bucket sharding column type: {type_}")
    return np.ascontiguousarray(held).view("<u4").reshape(len(values), -1)


def _hashed(words: Words) -> Words:
    """Return the hash of rows of words: uint32."""
    found = np.zeros(len(words), np.uint32)
    for word in words.T:
        mixed = _turned(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        found = _turned(found ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    return _finished(found, np.uint32(4 * words.shape[1]))


def _turned(words: Words, bits: int) -> Words:
    return words << np.uint32(bits) | words >> np.uint32(32 - bits)


def _finished(found: Words, size: np.uint32) -> Words:
    found = found ^ size
    found = (found ^ found >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    found = (found ^ found >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return found ^ found >> np.uint32(16)


def hash_text(data: bytes) -> int:
    """Return the hash of a text: u32."""
    whole = len(data) // 4 * 4
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, whole, 4)]
    words += [(byte - 256 if byte > 127 else byte) & MASK for byte in data[whole:]]
    found = 0
    for word in words:
        mixed = (word * 0xCC9E2D51) & MASK
        mixed = ((mixed << 15 | mixed >> 17) * 0x1B873593) & MASK
        found ^= mixed
        found = ((found << 13 | found >> 19) & MASK) * 5 + 0xE6546B64 & MASK
    return int(_finished(np.array([found], np.uint32), np.uint32(len(data)))[0])


def statistics(details: MemWalIndexDetails) -> dict[str, object]:
    """Return numbers of the log."""
    return {
        "num_shards": details.num_shards,
        "num_compacted_sstables": len(details.compacted_sstables),
        "num_shard_specs": len(details.sharding_specs),
        "num_maintained_indexes": len(details.maintained_indexes),
        "num_index_catchup_entries": len(details.index_catchup),
    }
